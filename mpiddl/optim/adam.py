"""Adam: each entry is divided by the size that its gradients have had.

Source  Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015, Algorithm 1.
        arXiv:1412.6980
Paper   m <- beta1 m + (1 - beta1) g;   v <- beta2 v + (1 - beta2) g^2
        x <- x - gam_k (m / (1 - beta1^k)) / (sqrt(v / (1 - beta2^k)) + eps)      k = 1, 2, ..
Letters g `direction` | m, v `m`, `v` (b,) | k `count`, the updates so far | gam_k `rate` at t
Cost    m, v and one scratch vector (b,)
Quality the step does not change when all gradients are multiplied by one number (eps aside)
Differs from the paper: k counts this optimizer's updates, which is what the correction is about; t,
the step or clock, only chooses the step size. There is no weight decay: an L2 term belongs to the
problem. Entries whose gradients were all zero do not move, as eps is above 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from mpiddl.arrays import Array, namespace
from mpiddl.optim import optimizers
from mpiddl.optim.options import Stepping

__all__ = ["Adam", "Adaptive", "Moments"]

TINY = 1e-30  # what float32 still holds


@dataclass(frozen=True)
class Adaptive(Stepping):
    """What Adam and its kin are given.

    Parameters
    ----------
    rate : float or Rate
        Step size gam.
    beta1, beta2 : float
        Share that the mean of g and of g^2 keep at each step, in [0, 1).
    eps : float
        Added to the root of the mean square; at least 1e-30, so that float32 holds it.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("beta1", 0, 1)
        self.require("beta2", 0, 1)
        self.require("eps", TINY)


@optimizers.register("adam")
@dataclass(frozen=True)
class Adam(Adaptive):
    """Adam with bias correction."""

    def open(self, like: Array, layers: tuple[slice, ...]) -> _Adam:
        """Return the live optimizer for vectors like `like` (b,), with m = v = 0."""
        return _Adam(self, like)


class Moments:
    """The means of g and g^2 of one vector (b,), and the direction that they give."""

    def __init__(self, rule: Adaptive, like: Array) -> None:
        self.rule, self.xp, self.count = rule, namespace(like), 0
        self.m, self.v = self.xp.zeros_like(like), self.xp.zeros_like(like)

    def direction(self, g: Array, out: Array) -> None:
        """Take in `g` (b,); write the corrected m / (sqrt(v) + eps) into `out` (b,)."""
        beta1, beta2, multiply = self.rule.beta1, self.rule.beta2, self.xp.multiply
        self.count += 1
        self.m *= beta1
        multiply(g, 1 - beta1, out=out)
        self.m += out
        self.v *= beta2
        multiply(g, g, out=out)
        out *= 1 - beta2
        self.v += out
        self.xp.sqrt(self.v, out=out)
        out /= sqrt(1 - beta2**self.count)
        out += self.rule.eps
        self.xp.divide(self.m, out, out=out)
        out /= 1 - beta1**self.count


class _Adam:
    def __init__(self, rule: Adam, like: Array) -> None:
        self.rule, self.moments = rule, Moments(rule, like)
        self.scratch = namespace(like).empty_like(like)

    def apply(self, x: Array, direction: Array, t: int) -> None:
        self.moments.direction(direction, out=self.scratch)
        self.scratch *= self.rule.at(t)
        x -= self.scratch
