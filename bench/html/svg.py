"""SVG as part of a page: no ids that clash, colours and fonts of the page, numbers that are short.

Colours are names of CSS variables, so one picture serves a light and a dark page. Text stays text,
in the reader's own font.
"""

from __future__ import annotations

import re
from html import escape
from io import StringIO
from itertools import count
from typing import TYPE_CHECKING, Any

from bench.html.markup import Markup, element, join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.html.pictures import Stroke

__all__ = ["COLOURS", "embed", "legend", "paint", "swatch"]

COLOURS = ("ink", "muted", "rule", "paper", "blue", "green", "orange", "purple", "red")
_serial = count(1)


def paint(colour: str) -> str:
    """Return what matplotlib is told in place of one of COLOURS; `embed` finds it again."""
    return f"#0c0c{COLOURS.index(colour):02x}"


def embed(figure: Any, alt: str) -> Markup:
    """Return `figure` as an SVG element that shares no id with another one on the page."""
    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    own, used = f"f{next(_serial)}-", set(re.findall(r"#([\w-]+)[\")]", text))
    text = re.sub(
        r' id="([^"]*)"', lambda found: f' id="{own}{found[1]}"' if found[1] in used else "", text
    )
    text = re.sub(r'(xlink:href="|url\()#', rf"\1#{own}", text).replace("xlink:href", "href")
    text = re.sub(r"(\.\d\d)\d+", r"\1", text)
    text = re.sub(r"#0c0c(\d\d)", lambda found: f"var(--{COLOURS[int(found[1])]})", text)
    text = re.sub(r"font-family: [^;\"]*", "font-family: var(--font)", text)
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", text)
    box = re.search(r'viewBox="([^"]*)"', text)
    inner = text[text.index(">") + 1 :].replace("</svg>", "").strip()
    inner = re.sub(r"\n\s*", "\n", inner)
    start = Markup(f'<svg role="img" viewBox="{box[1] if box else ""}"')
    label = element("title", alt)
    return join([start, Markup(f' aria-label="{escape(alt)}">'), label, Markup(f"{inner}</svg>")])


def swatch(colour: str, dash: str) -> Markup:
    """Return a short sample of a line."""
    line = element(
        "line", x1=1, y1=5, x2=27, y2=5, stroke=f"var(--{colour})", stroke_width=2.5,
        stroke_dasharray=" ".join(str(2 * float(part)) for part in dash.split()) or None,
    )  # fmt: skip
    return element("svg", line, viewBox="0 0 28 10", class_="swatch", aria_hidden="true")


def legend(strokes: Sequence[Stroke], *more: str) -> Markup:
    """Return numbers, samples and names of the lines, then `more`.

    Lines without a number share an entry with those that look alike, and names; nameless ones have
    none.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    entries = []
    for stroke in strokes:
        if stroke.number is not None:
            disc = element("b", str(stroke.number), style=f"background:var(--{stroke.colour})")
            sample = swatch(stroke.colour, stroke.dash)
            entries.append(element("li", disc, sample, element("span", stroke.label)))
        elif stroke.label:
            alike.setdefault((stroke.colour, stroke.dash), []).append(stroke.label)
    entries += [
        element("li", swatch(*look), element("span", ", ".join(dict.fromkeys(labels))))
        for look, labels in alike.items()
    ]
    return element("ul", *entries, *(element("li", text) for text in more), class_="legend")
