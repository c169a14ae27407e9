"""What bench runs by default: variants by name, where they run, and the step sizes to try.

A variant of four parts, without an optimizer, is tried with every step size of the grid; a full
line of five parts is run as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.errors import ConfigurationError
from mpiddl.problems import Problem
from mpiddl.registry import unknown
from mpiddl.variant import Variant, split

__all__ = ["DEFAULT", "NAMED", "SEEDS", "STEPS", "Entry", "entries_of", "entry", "grid_of"]

NAMED = {
    # everyone waits for the mean gradient
    "bsp": "bsp / allreduce / identity / whole",
    "layerwise": "bsp / allreduce / identity / layerwise",
    # fewer words, and what was lost by them
    "fp16": "bsp / allreduce / fp16 / whole",
    "qsgd": "bsp / allreduce / qsgd:4 / whole",
    "top-k": "bsp / allreduce / topk:0.1 / whole",
    "ef-top-k": "bsp / allreduce / ef+topk:0.1 / whole",
    "sign": "bsp / allreduce / sign / whole",
    "ef-sign": "bsp / allreduce / ef+sign / whole",
    "ef-rand-k": "bsp / allreduce / ef+randk:0.25,mask=shared / whole",
    "ef21": "bsp / allreduce / diff+topk:0.1 / whole",
    # fewer agreements
    "local-4": "local:4 / allreduce / identity / whole",
    "local-16": "local:16 / allreduce / identity / whole",
    "post-local-4": "post_local:4,after=8 / allreduce / identity / whole",
    "local-4-ef-top-k": "local:4 / allreduce / ef+topk:0.1 / whole",
    # means that come late, or of those who are there
    "pipe-1": "ssp:1 / allreduce / identity / whole",
    "eager-3": "ssp:3 / allreduce:quorum=majority / identity / whole",
    "eager-solo": "asp / allreduce:quorum=solo / identity / whole",
    # servers hold the model
    "ps-2": "bsp / ps:servers=2 / identity / whole",
    "ps-2-ef-sign": "bsp / ps:servers=2 / ef+sign / whole",
    "local-4-ps": "local:4 / ps / identity / whole",
    "ps-2-backup": "bsp / ps:servers=2,backup=2 / identity / whole",
    "easgd-4": "local:4 / easgd:servers=2 / identity / whole",
    "ssp-3": "ssp:3 / ps:servers=2 / identity / whole",
    "asp": "asp / ps:servers=2 / identity / whole",
    "asp-qsgd": "asp / ps:servers=2 / qsgd:4 / whole",
    # neighbours only
    "gossip-ring": "bsp / gossip:ring / identity / whole",
    "gossip-exponential": "bsp / gossip:exponential / identity / whole",
    "d2": "bsp / d2:ring / identity / whole",
    "tracking": "bsp / tracking:exponential / identity / whole",
    "sgp": "bsp / push_sum:one_peer_exponential / identity / whole",
    "stale-gossip-3": "ssp:3 / gossip:exponential / identity / whole",
    "async-gossip": "asp / gossip:exponential / identity / whole",
    "ad-psgd": "asp / pairwise:complete / identity / whole",
    "choco": "bsp / gossip:exponential,gamma=0.3 / diff+topk:0.1 / whole",
    "local-4-gossip-ring": "local:4 / gossip:ring / identity / whole",
}
DEFAULT = ("breast_cancer", "digits_mlp")
TELLING = {  # of the default problems: the variants that --quick runs, and those of the default
    "breast_cancer": (
        "bsp ef-top-k local-4 pipe-1 ps-2 asp gossip-ring stale-gossip-3 ad-psgd",
        "bsp qsgd top-k ef-top-k sign ef-sign ef-rand-k ef21 local-4 local-16 post-local-4 "
        "local-4-ef-top-k pipe-1 eager-3 eager-solo ps-2 ps-2-ef-sign local-4-ps ps-2-backup "
        "easgd-4 ssp-3 asp gossip-ring gossip-exponential d2 tracking sgp stale-gossip-3 "
        "async-gossip ad-psgd choco local-4-gossip-ring",
    ),
    "digits_mlp": (
        "bsp ef-top-k local-4 asp gossip-exponential",
        "bsp layerwise fp16 ef-top-k ef-sign local-4 local-4-ef-top-k pipe-1 ps-2 ssp-3 asp "
        "asp-qsgd gossip-exponential ad-psgd choco",
    ),
}
GRIDS = {  # step sizes; the optimum belongs inside
    "breast_cancer": (0.3, 1.0, 3.0, 10.0),
    "digits_mlp": (1.0, 3.0, 10.0, 30.0),
}
RELATIVE = (0.01, 0.03, 0.1, 0.3, 1.0)  # for other problems, in units of 1/L
STEPS = 32, 12  # gradients per worker, by default and in a hurry
SEEDS = 4, 3  # of which the intervals of a table are made, the same


@dataclass(frozen=True)
class Entry:
    """One row of a table.

    Parameters
    ----------
    line : str
        Four parts of a variant, or five.
    """

    line: str

    @property
    def fixed(self) -> bool:
        """Whether the line names its own step size."""
        return len(split(self.line)) > 4

    @property
    def name(self) -> str:
        """The name in `NAMED`, or the line without what goes without saying."""
        names = {line: name for name, line in NAMED.items()}
        short = self.line.replace(" / identity / whole", "").replace(" / whole", "")
        return names.get(self.line, short)

    @property
    def compressed(self) -> bool:
        """Whether payloads are not the vectors themselves."""
        return split(self.line)[2].strip() != "identity"

    @property
    def plain(self) -> Variant:
        """The variant with whatever step size."""
        return self.variant(None if self.fixed else 1.0)

    def variant(self, gam: float | None) -> Variant:
        """Return the variant with step size `gam`; None is for lines that have their own."""
        if gam is None:
            return Variant.parse(self.line)
        return Variant.parse(f"{self.line} / sgd:{repr(gam).removesuffix('.0')}")

    def steps(self, grid: tuple[float, ...]) -> tuple[float | None, ...]:
        """Return the step sizes to try."""
        return (None,) if self.fixed else grid


def entry(text: str) -> Entry:
    """Return the entry of a name in `NAMED`, of a recipe, or of a variant's line.

    Raises
    ------
    ConfigurationError
        If nothing has that name, or the line does not parse.
    """
    if text in NAMED or "/" in text:
        line = NAMED.get(text, text)
    else:
        from mpiddl.recipes import recipes  # only here: they are many

        name = text.partition(":")[0].strip()
        if name not in recipes:
            known = [*NAMED, *recipes]
            raise ConfigurationError(
                f"{unknown('variant', text, known)}; or write a line such as {NAMED['ef-top-k']!r}"
            )
        line = str(recipes.parse(text))
    parts = [part.strip() for part in split(line)]
    if len(parts) not in (4, 5):
        raise ConfigurationError(
            f"a line has four parts, tried with every step size, or five; found {len(parts)} in "
            f"{line!r}: write a line such as {NAMED['ef-top-k']!r}"
        )
    found = Entry(" / ".join(parts))
    found.plain  # noqa: B018  # refuses what does not parse
    return found


def entries_of(problem: str, quick: bool) -> tuple[Entry, ...]:
    """Return the variants of the table of `problem` by default."""
    names = TELLING.get(problem, TELLING[DEFAULT[0]])[0 if quick else 1].split()
    return tuple(Entry(NAMED[name]) for name in names)


def grid_of(problem: Problem, quick: bool = False) -> tuple[float, ...]:
    """Return the step sizes that every variant of a table on `problem` is tried with."""
    scale = problem.constants.L or 1.0
    relative = tuple(float(f"{step / scale:.2g}") for step in RELATIVE)
    grid = GRIDS.get(problem.name, relative)
    return grid[:-1] if quick else grid
