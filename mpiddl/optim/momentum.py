"""Heavy-ball momentum: directions add up and fade.

Source  Polyak, "Some methods of speeding up the convergence of iteration methods", USSR Comput.
        Math. Math. Phys., 1964;  nesterov=yes: Sutskever et al., "On the importance of
        initialization and momentum in deep learning", ICML 2013
Paper   m <- beta m + g;   x <- x - gam_t m        nesterov:  x <- x - gam_t (g + beta m)
Letters g `direction` | gam_t `rate` | m `m` (b,) | beta `beta`
Cost    m and one scratch vector (b,)
Quality a step gam moves x as far as a step gam / (1 - beta) of plain SGD
Differs from the paper: Polyak's m is x_t - x_{t-1}, so his includes gam; with a constant step the
two are the same. In the inner seat every worker keeps its own m, which agreements do not touch.
Only optimizers keep a momentum: it counts twice only where both seats are given one, as in
momentum:0.1>momentum:1, which is SlowMo (Wang et al. 2020, arXiv:1910.00643) and shows in the text.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.arrays import Array, namespace
from mpiddl.errors import ConfigurationError
from mpiddl.optim import optimizers
from mpiddl.optim.options import Stepping

__all__ = ["Momentum"]


@optimizers.register("momentum")
@dataclass(frozen=True)
class Momentum(Stepping):
    """SGD with a running sum of what came before.

    Parameters
    ----------
    rate : float or Rate
        Step size gam.
    beta : float
        Share of m that stays at each step, in [0, 1).
    nesterov : bool
        Whether to step along g + beta m, where m will be, instead of m; ``nesterov=yes`` in texts.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    beta: float = 0.9
    nesterov: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("beta", 0, 1)
        if not isinstance(self.nesterov, bool):
            raise ConfigurationError(
                f"momentum is nesterov=yes or nesterov=no, found {self.nesterov!r}"
            )

    def open(self, like: Array, layers: tuple[slice, ...]) -> _Momentum:
        """Return the live optimizer for vectors like `like` (b,), with m = 0."""
        return _Momentum(self, like)


class _Momentum:
    def __init__(self, rule: Momentum, like: Array) -> None:
        xp = namespace(like)
        self.rule, self.multiply = rule, xp.multiply
        self.m, self.scratch = xp.zeros_like(like), xp.empty_like(like)

    def apply(self, x: Array, direction: Array, t: int) -> None:
        rule, step = self.rule, self.scratch
        self.m *= rule.beta
        self.m += direction
        if rule.nesterov:
            self.multiply(self.m, rule.beta, out=step)
            step += direction
            step *= rule.at(t)
        else:
            self.multiply(self.m, rule.at(t), out=step)
        x -= step
