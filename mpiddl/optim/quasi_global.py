"""Quasi-global momentum: a worker's momentum is where agreements have led, not its own gradients.

Source  Lin, Karimireddy, Stich & Jaggi, "Quasi-global momentum: accelerating decentralized deep
        learning on heterogeneous data", ICML 2021, Algorithm 1 (QG-DSGDm).  arXiv:2102.04761
Paper   at a step:       x <- x - gam (g + beta m)
        at an agreement: m <- beta m + (1 - beta) (x_old - x) / (gam H)
Letters g, x_old - x `direction` | m `m` (b,), one for both seats | gam H `gone`: all step sizes
        since the last agreement, added up
Cost    m and one scratch vector (b,)
Quality workers whose gradients pull apart keep momenta that do not; alone, this is quasi-hyperbolic
        momentum
Differs from the paper: its factor mu for m at an agreement is beta; with several steps or a rate
that changes, the way is divided by the step sizes that made it, and where they were all 0, m stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.optim import Optimizer, optimizers
from mpiddl.optim.options import Stepping

__all__ = ["QuasiGlobal"]


@optimizers.register("quasi_global")
@dataclass(frozen=True)
class QuasiGlobal(Stepping):
    """A momentum of what was agreed; takes both seats.

    Parameters
    ----------
    rate : float or Rate
        Step size gam, of steps.
    beta : float
        Share of m that a step is given, and that stays at each agreement, in [0, 1).

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    beta: float = 0.9

    as_it_is: ClassVar[bool] = True  # the outer seat goes where the exchange says

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("beta", 0, 1)

    def pair(self, like: Array) -> tuple[Optimizer, Optimizer]:
        """Return the live optimizers of both seats for vectors like `like` (b,), with m = 0."""
        shared = _Shared(self, like)
        return _Inner(shared), _Outer(shared)

    def open(self, like: Array, layers: tuple[slice, ...]) -> Optimizer:
        """Return the live optimizer of a worker that agrees with itself after each step."""
        return _Alone(*self.pair(like), like)


class _Shared:
    def __init__(self, rule: QuasiGlobal, like: Array) -> None:
        self.rule, self.gone = rule, 0.0
        self.m, self.scratch = namespace(like).zeros_like(like), namespace(like).empty_like(like)


class _Inner:
    def __init__(self, shared: _Shared) -> None:
        self.shared = shared

    def apply(self, x: Array, direction: Array, t: int) -> None:
        both, rate = self.shared, self.shared.rule.at(t)
        namespace(x).multiply(both.m, both.rule.beta, out=both.scratch)
        both.scratch += direction
        both.scratch *= rate
        x -= both.scratch
        both.gone += rate


class _Outer:
    def __init__(self, shared: _Shared) -> None:
        self.shared = shared

    def apply(self, x: Array, direction: Array, t: int) -> None:
        both, beta = self.shared, self.shared.rule.beta
        x -= direction
        if both.gone:
            namespace(x).multiply(direction, (1 - beta) / both.gone, out=both.scratch)
            both.m *= beta
            both.m += both.scratch
            both.gone = 0.0


class _Alone:
    def __init__(self, inner: Optimizer, outer: Optimizer, like: Array) -> None:
        self.inner, self.outer, self.way = inner, outer, namespace(like).empty_like(like)

    def apply(self, x: Array, direction: Array, t: int) -> None:
        self.way[...] = x
        self.inner.apply(x, direction, t)
        self.way -= x
        x += self.way
        self.outer.apply(x, self.way, t)
