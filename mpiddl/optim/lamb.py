"""LAMB: Adam's direction, and each layer goes a distance in proportion to its weights.

Source  You et al., "Large batch optimization for deep learning: training BERT in 76 minutes", ICLR
        2020, Algorithm 2.  arXiv:1904.00962
Paper   r = (m / (1 - beta1^k)) / (sqrt(v / (1 - beta2^k)) + eps)      m, v as in Adam
        for each layer w:   w <- w - gam_t |w| / |r + decay w| (r + decay w)
Letters w a layer of `x` | m, v, k as in adam.py | |w| / |..| the ratio in trust.py | gam_t `rate`
Cost    m, v and two scratch vectors (b,); two numbers a layer
Quality a layer ten times as large takes ten times as large steps (eps aside, decay 0)
Differs from the paper: phi, which may bound |w|, is the identity, as in its experiments. The ratio
is 1 where w or r + decay w is zero. All layers are treated alike, biases too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.optim import optimizers
from mpiddl.optim.adam import Adaptive, Moments
from mpiddl.optim.trust import Trust

__all__ = ["LAMB"]


@optimizers.register("lamb")
@dataclass(frozen=True)
class LAMB(Adaptive):
    """Adam with a step size for each layer.

    Parameters
    ----------
    rate, beta1, beta2, eps
        As in Adam; `eps` is 1e-6 unless given.
    decay : float
        Weight decay, at least 0; it enters before the ratio.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    eps: float = 1e-6
    decay: float = 0.0

    whole_layers: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("decay", 0)

    def open(self, like: Array, layers: tuple[slice, ...]) -> _LAMB:
        """Return the live optimizer for vectors like `like` (b,) that hold whole `layers`."""
        return _LAMB(self, like, layers)


class _LAMB:
    def __init__(self, rule: LAMB, like: Array, layers: tuple[slice, ...]) -> None:
        xp = namespace(like)
        self.rule, self.moments, self.trust = rule, Moments(rule, like), Trust(like, layers)
        self.multiply, self.step = xp.multiply, xp.empty_like(like)

    def apply(self, x: Array, direction: Array, t: int) -> None:
        rule, trust = self.rule, self.trust
        self.moments.direction(direction, out=self.step)
        self.multiply(x, rule.decay, out=trust.scratch)
        self.step += trust.scratch
        trust.norms(x, out=trust.weights)
        trust.norms(self.step, out=trust.updates)
        trust.scale(self.step, rule.at(t))
        x -= self.step
