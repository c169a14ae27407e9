"""The inequalities of each proof, in measured quantities: left and right side of every stage.

One family of theorems is one file, named as in `theory.catalogue`; a file is found by its
`ENTRIES`. What they share is in `common`.
"""

from __future__ import annotations

import importlib
import pkgutil

from theory.descents.common import Entry, Sides, Values

__all__ = ["ENTRIES", "Entry", "Sides", "Values"]

ENTRIES: dict[str, Entry] = {
    name: entry
    for module in pkgutil.iter_modules(__path__)
    if module.name != "common"
    for name, entry in importlib.import_module(f"{__name__}.{module.name}").ENTRIES.items()
}
"""How each theorem is checked."""
