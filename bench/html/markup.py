"""HTML as nested calls: what is text is escaped, what is markup already is not."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

__all__ = ["Markup", "Piece", "element", "join"]


class Markup(str):
    """A piece of HTML that needs no escaping."""

    __slots__ = ()


Piece: TypeAlias = str | None
VOID = frozenset({"br", "link", "meta"})  # elements that have no end


def join(pieces: Iterable[Piece]) -> Markup:
    """Return `pieces` one after another: text escaped, None left out."""
    return Markup(
        "".join(piece if isinstance(piece, Markup) else escape(piece) for piece in pieces if piece)
    )


def element(name: str, /, *content: Piece, **attributes: str | float | bool | None) -> Markup:
    """Return the element `name` around `content`.

    Attributes are written as Python allows: `class_` is class, `aria_label` is aria-label. True is
    an attribute without a value; None and False leave it out.
    """
    start = name
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        start += " " + key.rstrip("_").replace("_", "-")
        if value is not True:
            start += f'="{escape(str(value))}"'
    return Markup(f"<{start}>" if name in VOID else f"<{start}>{join(content)}</{name}>")
