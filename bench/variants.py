"""What bench runs by default: variants by name, and the step sizes they are tried with.

A variant of four parts, without an optimizer, is tried with every step size of the grid; a full
line of five parts is run as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.errors import ConfigurationError
from mpiddl.problems import Problem
from mpiddl.variant import Variant

__all__ = ["NAMED", "QUICK", "Entry", "entry", "grid_of"]

NAMED = {
    "bsp": "bsp / allreduce / identity / whole",
    "bsp-ring-layerwise": "bsp / allreduce:ring / identity / layerwise",
    "local-4": "local:4 / allreduce / identity / whole",
    "local-16": "local:16 / allreduce / identity / whole",
    "ef-top-k": "bsp / allreduce / ef+topk:0.1 / whole",
    "top-k": "bsp / allreduce / topk:0.1 / whole",
    "ef-sign": "bsp / allreduce / ef+sign / whole",
    "sign": "bsp / allreduce / sign / whole",
    "local-4-ef-sign": "local:4 / allreduce / ef+sign / whole",
    "gossip-ring": "bsp / gossip:ring / identity / whole",
    "gossip-complete": "bsp / gossip:complete / identity / whole",
}
QUICK = [name for name in NAMED if name not in ("local-16", "local-4-ef-sign", "gossip-complete")]
GRIDS = {"breast_cancer": (0.3, 1.0, 3.0, 10.0)}  # step sizes; the optimum belongs inside
RELATIVE = (0.01, 0.03, 0.1, 0.3, 1.0)  # for other problems, in units of 1/L


@dataclass(frozen=True)
class Entry:
    """One row of the table.

    Parameters
    ----------
    line : str
        Four parts of a variant, or five.
    """

    line: str

    @property
    def fixed(self) -> bool:
        """Whether the line names its own step size."""
        return self.line.count("/") > 3

    @property
    def label(self) -> str:
        """The line for a narrow column: what every variant has goes without saying."""
        return self.line.replace(" / identity", "").replace(" / whole", "")

    @property
    def compressed(self) -> bool:
        """Whether payloads are not the vectors themselves."""
        return self.line.split("/")[2].strip() != "identity"

    def variant(self, gam: float | None) -> Variant:
        """Return the variant with step size `gam`; None is for lines that have their own."""
        return Variant.parse(self.line if gam is None else f"{self.line} / sgd:{gam!r}")

    def steps(self, grid: tuple[float, ...]) -> tuple[float | None, ...]:
        """Return the step sizes to try."""
        return (None,) if self.fixed else grid


def entry(text: str) -> Entry:
    """Return the entry of a name in `NAMED`, or of a variant's line.

    Raises
    ------
    ConfigurationError
        If no variant has that name, or the line does not parse.
    """
    if text not in NAMED and "/" not in text:
        raise ConfigurationError(
            f"no variant is called {text!r}; there are: {', '.join(NAMED)}, or write a line such "
            f"as {NAMED['ef-top-k']!r}"
        )
    if NAMED.get(text, text).count("/") not in (3, 4):
        raise ConfigurationError(
            f"a line has four parts, tried with every step size, or five; found "
            f"{text.count('/') + 1} in {text!r}: write a line such as {NAMED['ef-top-k']!r}"
        )
    found = Entry(" / ".join(part.strip() for part in NAMED.get(text, text).split("/")))
    found.variant(None if found.fixed else 1.0)
    return found


def grid_of(problem: Problem) -> tuple[float, ...]:
    """Return the step sizes that every variant of a table on `problem` is tried with."""
    scale = problem.constants.L or 1.0
    return GRIDS.get(problem.name, tuple(float(f"{step / scale:.2g}") for step in RELATIVE))
