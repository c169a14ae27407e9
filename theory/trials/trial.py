"""A trial, and what is broken in it on purpose: numbers and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from theory import ends, remembering, sharing
from theory.compressed import qualities
from theory.meetings import nu
from theory.mixing import matrix
from theory.testbed import Base, Floats, Heta, problem
from theory.turns import qualities as graph_qualities

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
    falling : float or None
        First of the steps falling / sqrt(t + 1), which then replace gam.
    mom : float
        Momentum of every worker, which exchanges leave alone.
    after : int
        Steps that all average before workers step alone; H divides the others.
    late : int
        A gradient is taken at the models of so many steps before.
    topology : str
        Mixing matrix of an exchange, or a turn of them; complete: all agree on the mean.
    order : str
        atc: adapt, then combine (step, then exchange); cta: gossip and step at once; pairs: one
        worker steps, then two neighbours average, both drawn (pace first: worker 0); d2 and
        tracking: what workers differ by is taken off; share: push-sum, over links one way.
    compressor, k : str, int
        identity, topk and randk (k entries), sign (scaled), qsgd (k levels), loud (broken topk).
    memory : bool
        Whether what was not sent is kept (error feedback), if there is a compressor.
    refers : bool
        Whether workers say how they differ from what is believed of them (EF21); needs no memory.
    masks : str
        own: every worker draws its own randk; shared: all draw the same.
    noise : str
        own: every worker draws its own; shared: all draw the same; frozen: every step does.
    start : str
        common: all at x0; apart: every worker somewhere else, no gradients (pure gossip).
    staleness, pace : float or None, str
        None: all exchange at once. Else a server takes in one gradient a step, T in all, each
        applied with step size gam; no worker is more clocks ahead (infinite: nobody waits). How
        fast workers are is in `theory.events.PACES`. With `falling` steps workers read what they
        see of a model; pace oldest: of others only what they must (`theory.views`).
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
    falling: float | None = None
    mom: float = 0.0
    after: int = 0
    late: int = 0
    topology: str = "complete"
    order: str = "atc"
    compressor: str = "identity"
    k: int = 0
    memory: bool = True
    refers: bool = False
    masks: str = "own"
    noise: str = "own"
    start: str = "common"
    staleness: float | None = None
    pace: str = "random"
    seeds: int = 12
    control: Control | None = None

    def real(self) -> Trial:
        """Return what really runs."""
        broken = self.control.run if self.control else {}
        return replace(self, control=None, **broken)

    def oracle(self) -> Base:
        """Return the test problem; a server sees one gradient, of one f, at a time."""
        return problem(self.problem, self.n if self.staleness is None else 1, **self.options)

    def as_promised(self, stages: Sequence[Stage]) -> bool:
        """Whether every stage is kept, or, for a control, the stage that must fail has failed."""
        if self.control is None:
            return all(stage.ok for stage in stages)
        return any(stage.name == self.control.fails and not stage.ok for stage in stages)

    def steps(self) -> Floats:
        """Return the step sizes (T,)."""
        if self.falling is not None:
            return np.asarray(self.falling / np.sqrt(np.arange(self.T) + 1))
        if self.offset is None:
            return np.full(self.T, self.gam)
        steps: Floats = 1 / (self.oracle().values["mu"] * (np.arange(self.T) + self.offset))
        return steps

    def values(self) -> dict[str, float]:
        """Return the claimed numbers by the names of the theorems."""
        oracle = self.oracle()
        values = oracle.values | {"T": self.T, "H": self.H, "d": oracle.d}
        values |= {"gam": self.gam} if self.offset is None else {"a": self.offset}
        values |= {"mom": self.mom, "Tp": self.after, "tau": self.late}
        values |= self._graph()
        if isinstance(oracle, Heta) and self.order == "atc":
            w = matrix(self.topology, self.n)
            values |= ends.distances(oracle, ends.models(oracle, self.gam, self.H, w))
        values |= qualities(self.compressor, self.k, oracle.d)
        if self.refers:  # all f_i have one Hessian; the first messages differ from C(g_i) by
            first = oracle.gradients(np.broadcast_to(oracle.x0, (self.n, oracle.d)))
            left = 1 - values["delta"]
            values |= {"Ltil": oracle.L, "G0": left * float((first**2).sum() / self.n)}
        values |= self._delays()
        if self.falling is not None:  # so far the run may go for this to be the step
            worst = 2 * values["G2"] * (values["s"] + 1) * values["Pw"]
            values["Fd"] = self.falling * float(np.sqrt(worst))
        return values

    def _graph(self) -> dict[str, float]:
        """Return what is claimed of the graph, in the letters of what is done on it."""
        if self.order == "share":
            return sharing.qualities(self.topology, self.n)
        found = graph_qualities(self.topology, self.n)
        if self.order == "pairs":
            found |= {"nu": nu(self.topology, self.n)}
        if self.order in remembering.ORDERS:
            found |= {"neg": remembering.negative(self.topology, self.n)}
        return found

    def _delays(self) -> dict[str, float]:
        """Return what is claimed of delays: what the gate allows, or all that T allows.

        Every other worker has one gradient under way. Even workers without a gate take turns.
        """
        if self.staleness is None:
            return {}
        others, s = self.n - 1, self.staleness
        claimed = {"Pw": float(self.n), "tauC": others, "tauavg": others}
        if np.isfinite(s):
            longest = (2 * s + 1) * others
            return claimed | {"s": s, "taumax": longest, "tau": longest}
        longest = others if self.pace == "even" else self.T - 1
        return claimed | {"taumax": longest, "tau": longest}
