"""What `cells --out DIR` leaves: cells.json, cells.svg, and report.html made again if there is one.

The picture has a panel per architecture; its colours follow the reader's light or dark theme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bench.files import write, write_text
from bench.html import NAME, write_report
from bench.html.cells import panels
from bench.html.pictures import can_draw
from bench.html.records import CellRecord, build

__all__ = ["save"]

WIDTH, HEIGHT, LINE = 360, 260, 18  # of a panel, and of a line of words, in pixels
STYLE = (Path(__file__).parents[1] / "html" / "style.css").read_text("utf-8")


def save(folder: Path, objects: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the objects of cells.json and their picture; return the names of the files."""
    write(folder / "cells.json", list(objects))
    names = ["cells.json"]
    if can_draw():
        records = [build(CellRecord, one, "cells.json") for one in objects]
        write_text(folder / "cells.svg", picture(records))
        names.append("cells.svg")
    if (folder / NAME).exists():
        write_report(folder)
        names.append(NAME)
    return names


def picture(cells: Sequence[CellRecord]) -> str:
    """Return the panels side by side, with their legends, as an SVG file."""
    parts, most = [], 0
    for column, (title, drawn, strokes) in enumerate(panels(cells)):
        left, named = 10 + column * (WIDTH + 10), [one for one in strokes if one.number]
        parts.append(_words(left, 20, title, "font-weight='bold'"))
        inner = str(drawn).replace("<svg ", f"<svg x='{left}' y='28' width='{WIDTH}' ", 1)
        parts.append(inner.replace("width=", f"height='{HEIGHT}' width=", 1))
        for row, one in enumerate(named, 1):
            at, words = 28 + HEIGHT + row * LINE, f"{one.number}  {one.label}"
            parts.append(_words(left, at, words, f"style='fill:var(--{one.colour})'"))
        most = max(most, len(named))
    size = 3 * (WIDTH + 10) + 10, 28 + HEIGHT + (most + 2) * LINE
    themes = STYLE[: STYLE.index("* {")]  # the colours, light and dark
    setting = _words(10, size[1] - 10, cells[0].setting.replace("\n", "; "), "font-size='10'")
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {size[0]} {size[1]}' "
        f"width='{size[0]}' height='{size[1]}' font-family='sans-serif' font-size='12'>"
        f"<style>{themes} text {{ fill: var(--ink) }}</style>"
        "<rect width='100%' height='100%' style='fill:var(--paper)'/>"
        f"{''.join(parts)}{setting}</svg>\n"
    )


def _words(x: int, y: int, text: str, how: str) -> str:
    return f"<text x='{x}' y='{y}' {how}>{escape(text)}</text>"
