"""LARS: each layer goes a distance in proportion to the size of its weights.

Source  You, Gitman & Ginsburg, "Large batch training of convolutional networks", 2017,
        Algorithm 1.  arXiv:1708.03888
Paper   for each layer w:   lam = |w| / (|g| + decay |w|)
        v <- beta v + gam_t lam (g + decay w);   w <- w - v
Letters w a layer of `x` | g `direction` | v `v` (b,) | lam the ratio in trust.py | gam_t `rate`
Cost    v and two scratch vectors (b,); two numbers a layer
Quality a step does not change when g is multiplied by a number (decay 0)
Differs from the paper: its trust coefficient eta (0.001 there) is a factor of the step size here,
and any rate may be used. The ratio is 1 where w or what it is divided by is zero. All layers are
treated alike, biases too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.optim import optimizers
from mpiddl.optim.options import Stepping
from mpiddl.optim.trust import Trust

__all__ = ["LARS"]


@optimizers.register("lars")
@dataclass(frozen=True)
class LARS(Stepping):
    """Momentum with a step size for each layer.

    Parameters
    ----------
    rate : float or Rate
        Step size gam, the paper's eta times gamma_0.
    beta : float
        Share of v that stays at each step, in [0, 1).
    decay : float
        Weight decay, at least 0; it enters before the ratio.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    beta: float = 0.9
    decay: float = 0.0

    whole_layers: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("beta", 0, 1)
        self.require("decay", 0)

    def open(self, like: Array, layers: tuple[slice, ...]) -> _LARS:
        """Return the live optimizer for vectors like `like` (b,) that hold whole `layers`."""
        return _LARS(self, like, layers)


class _LARS:
    def __init__(self, rule: LARS, like: Array, layers: tuple[slice, ...]) -> None:
        xp = namespace(like)
        self.rule, self.multiply, self.trust = rule, xp.multiply, Trust(like, layers)
        self.v, self.step = xp.zeros_like(like), xp.empty_like(like)
        self.pull = xp.zeros(len(layers), like.dtype)

    def apply(self, x: Array, direction: Array, t: int) -> None:
        rule, trust = self.rule, self.trust
        trust.norms(x, out=trust.weights)
        trust.norms(direction, out=trust.updates)
        self.multiply(trust.weights, rule.decay, out=self.pull)
        trust.updates += self.pull  # |g| + decay |w|
        self.multiply(x, rule.decay, out=self.step)
        self.step += direction
        trust.scale(self.step, rule.at(t))
        self.v *= rule.beta
        self.v += self.step
        x -= self.v
