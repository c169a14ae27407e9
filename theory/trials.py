"""What is tried: for each theorem, runs on which its bound says something, and runs that break it.

A trial is numbers and names only, so that the same run can be built from matrices (`recursions`)
or from real processes. Its fields are the claim. A control breaks one promise: what really runs
is `real()`, the claim stays, and the stage `control.fails` must say so ("conditions": the theorem
itself must refuse the numbers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.mixing import lam
from theory.testbed import Floats, NonConvex, Quadratic, problem

if TYPE_CHECKING:
    from theory.stages import Stage

__all__ = ["TRIALS", "Control", "Trial"]

FLAT = tuple(np.geomspace(0.1, 1, 10))  # curvatures over one decade: kappa = 10


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
        identity, top_k (k entries) or sign (scaled); not identity: error feedback SGD.
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
        values["delta"] = {"identity": 1.0, "top_k": self.k / oracle.d, "sign": 1 / oracle.d}[
            self.compressor
        ]
        return values


_SHARED = Control("all workers draw the same noise", "noise", {"noise": "shared"})
_FROZEN = Control("every step draws the same noise", "unbiased", {"noise": "frozen"})
_ALONE = Control("workers never average", "perturbation", {"H": 200})
_LOPSIDED = Control("rows of W add up to 1, columns do not", "identity", {"topology": "lopsided"})
_SLOW = Control("a ring runs, a hypercube is claimed", "perturbation", {"topology": "ring"})
_FORGETS = Control("what was not sent is forgotten", "identity", {"memory": False})
_COARSE = Control("top-1 runs, top-5 is claimed", "contraction", {"k": 1})
_CONSTANT = Control(
    "a constant step runs, a decreasing one is claimed", "identity", {"offset": None, "gam": 0.1}
)
_LONG = Control(
    "gradients are 3% too long, without noise", "noise", {"options": {"sigma2": 0.0, "L": 1.03}}
)
_TOO_FAR = Control("the step is above the condition", "conditions")


def _with(trial: Trial, *controls: Control, **changes: Any) -> list[Trial]:
    """Return the trial and one broken twin per control."""
    return [trial, *(replace(trial, control=control, **changes) for control in controls)]


def _bsp() -> list[Trial]:
    iso = Trial("bsp-nonconvex", "iso", n=8, T=200, gam=0.2)
    nc = Trial("bsp-nonconvex", "nc", n=4, T=200, gam=0.2)
    exact = replace(nc, options={"sigma2": 0.0}, seeds=2)  # no noise: gradients to rounding
    const = Trial("bsp-sc-const", "iso", n=8, T=200, gam=0.3)
    spec = replace(const, problem="spec", options={"spectrum": FLAT}, gam=0.5)
    mean = Trial("bsp-sc-decreasing", "iso", n=8, T=200, offset=1.0)
    fast = replace(mean, problem="spec", options={"spectrum": FLAT}, offset=5.5)
    convex = Trial("bsp-convex", "spec", n=8, T=200, gam=0.5)
    return [
        *_with(iso, _SHARED),
        *_with(replace(iso, options={"d": 100}), _FROZEN)[1:],
        *_with(iso, _TOO_FAR, gam=2.5)[1:],
        nc,
        *_with(exact, _LONG),
        *_with(const, _SHARED),
        *_with(const, _TOO_FAR, gam=2.5)[1:],
        spec,
        *_with(mean, _SHARED, _CONSTANT),
        fast,
        *_with(convex, _SHARED),
        *_with(convex, _TOO_FAR, gam=1.5)[1:],
        replace(convex, problem="iso", options={}, gam=0.9),
    ]


def _local() -> list[Trial]:
    sc = Trial("local-sgd-sc-iid", "iso", 8, 200, 0.1, {"radius": 0.2}, H=4)
    flat = replace(sc, problem="spec", options={"spectrum": FLAT, "radius": 0.3})
    iid = Trial("local-sgd-nonconvex-iid", "nc", n=8, T=200, gam=0.05, H=4)
    het = replace(iid, theorem="local-sgd-nonconvex", options={"zeta2": 1.0})
    return [
        *_with(sc, _ALONE, _SHARED),
        flat,
        *_with(iid, _ALONE, _SHARED),
        *_with(replace(iid, options={"d": 100}), _FROZEN)[1:],
        *_with(het, _ALONE, _SHARED),
        replace(het, options={"zeta2": 0.1}, H=10, gam=0.02),
    ]


def _gossip() -> list[Trial]:
    pure = Trial("gossip-consensus", "iso", n=8, T=24, topology="ring", start="apart", seeds=8)
    cube = replace(pure, topology="hypercube")
    ring = Trial("dpsgd-nonconvex-atc", "het", n=8, T=200, gam=0.05, topology="ring")
    ring = replace(ring, options={"zeta2": 0.1})
    cubes = replace(ring, topology="hypercube")
    nc = replace(ring, problem="nc", options={"zeta2": 1.0}, n=4, gam=0.1)
    return [
        *_with(pure, _LOPSIDED),
        *_with(cube, _SLOW)[1:],
        *_with(ring, _LOPSIDED, _SHARED),
        *_with(cubes, _SLOW)[1:],
        nc,
        replace(ring, options={"zeta2": 0.1, "sigma2": 0.0}, seeds=2),
    ]


def _feedback() -> list[Trial]:
    top = Trial("ef-sgd-nonconvex", "nc", n=4, T=200, gam=0.1, compressor="top_k", k=5)
    het = replace(top, options={"zeta2": 0.5}, gam=0.05)
    sign = replace(top, problem="iso", compressor="sign", k=0, gam=0.02)
    wide = replace(top, options={"d": 100}, k=50)
    broken = (*_with(wide, _FROZEN)[1:], *_with(sign, _FORGETS))
    return [*_with(top, _FORGETS, _COARSE, _SHARED), het, *broken]


TRIALS: tuple[Trial, ...] = (*_bsp(), *_local(), *_gossip(), *_feedback())
"""Every trial, controls next to the trial they break."""
