"""Algorithms by the names of their papers, each as the line that the rooms compose.

    recipes["choco_sgd"](rate=0.05)     or     recipes.parse("choco_sgd:0.05,graph=complete")

A recipe returns a `Variant` and has a default for everything; the first line of its docstring says
what it does, the next where it is from. `rate` is a number or a text such as "0.1@warmup:20".
Where a recipe differs from its paper is said in the files that its line names. Reading order:
exact.py, late.py, served.py, neighbours.py, compressed.py.
"""

from __future__ import annotations

from collections.abc import Callable

from mpiddl.registry import Registry
from mpiddl.variant import Variant

__all__ = ["meaning", "recipes"]

recipes: Registry[Callable[..., Variant]] = Registry("mpiddl.recipes", "recipe")


def meaning(name: str) -> str:
    """Return what the recipe `name` does, in one line."""
    return (recipes[name].__doc__ or "").partition("\n")[0]
