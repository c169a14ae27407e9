"""A trial, and what is broken in it on purpose: numbers and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.mixing import lam
from theory.testbed import Floats, NonConvex, Quadratic, problem

if TYPE_CHECKING:
    from theory.stages import Stage

__all__ = ["Control", "Trial"]


@dataclass(frozen=True)
class Control:
    """One broken promise.

    Parameters
    ----------
    what : str
        What is broken, in words.
    fails : str
        The stage that must fail.
    run : mapping
        Fields of the trial that the real run replaces; empty if the claim itself is at fault.
    """

    what: str
    fails: str
    run: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """One run and the theorem that is claimed for it.

    Parameters
    ----------
    theorem : str
        Name in the catalogue.
    problem, options : str, mapping
        Test problem and its keywords.
    n, T, H : int
        Workers, steps, steps between two exchanges; H divides T.
    gam : float
        Step size.
    offset : float or None
        a of the decreasing step 1 / (mu (t + a)), which then replaces gam.
    topology : str
        Mixing matrix of an exchange; complete: all agree on the mean.
    compressor, k : str, int
        identity, topk (k entries) or sign (scaled); not identity: error feedback SGD.
    memory : bool
        Whether what was not sent is kept (error feedback).
    noise : str
        own: every worker draws its own; shared: all draw the same; frozen: every step does.
    start : str
        common: all at x0; apart: every worker somewhere else, no gradients (pure gossip).
    seeds : int
        Independent repetitions, seeds 0 .. seeds - 1.
    control : Control or None
        What is broken on purpose.
    """

    theorem: str
    problem: str
    n: int
    T: int
    gam: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)
    H: int = 1
    offset: float | None = None
    topology: str = "complete"
    compressor: str = "identity"
    k: int = 0
    memory: bool = True
    noise: str = "own"
    start: str = "common"
    seeds: int = 12
    control: Control | None = None

    def real(self) -> Trial:
        """Return what really runs."""
        broken = self.control.run if self.control else {}
        return replace(self, control=None, **broken)

    def oracle(self) -> Quadratic | NonConvex:
        """Return the test problem."""
        return problem(self.problem, self.n, **self.options)

    def as_promised(self, stages: Sequence[Stage]) -> bool:
        """Whether every stage is kept, or, for a control, the stage that must fail has failed."""
        if self.control is None:
            return all(stage.ok for stage in stages)
        return any(stage.name == self.control.fails and not stage.ok for stage in stages)

    def steps(self) -> Floats:
        """Return the step sizes (T,)."""
        if self.offset is None:
            return np.full(self.T, self.gam)
        steps: Floats = 1 / (self.oracle().values["mu"] * (np.arange(self.T) + self.offset))
        return steps

    def values(self) -> dict[str, float]:
        """Return the claimed numbers by the names of the theorems."""
        oracle = self.oracle()
        values = oracle.values | {"T": self.T, "H": self.H, "d": oracle.d}
        values |= {"gam": self.gam} if self.offset is None else {"a": self.offset}
        values["lam"] = lam(self.topology, self.n)
        values["delta"] = {"identity": 1.0, "topk": self.k / oracle.d, "sign": 1 / oracle.d}[
            self.compressor
        ]
        return values
