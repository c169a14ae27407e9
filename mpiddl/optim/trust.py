"""Norms layer by layer, and the trust ratio of LARS and LAMB: how far a layer may go.

A layer whose weights or whose update is zero has nothing to be compared with: its ratio is 1, so
that a layer that starts at zero can leave it, and no number becomes NaN.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace

__all__ = ["Trust"]


class Trust:
    """Buffers for vectors like `like` (b,); `layers` must cover it.

    Raises
    ------
    ValueError
        If `layers` do not cover the vector.
    """

    def __init__(self, like: Array, layers: tuple[slice, ...]) -> None:
        if sum(layer.stop - layer.start for layer in layers) != like.size:
            raise ValueError(f"layers {layers} do not cover a vector of {like.size} entries")
        xp = namespace(like)
        self.xp, self.layers, self.scratch = xp, layers, xp.empty_like(like)
        self.weights, self.updates = (xp.zeros(len(layers), like.dtype) for _ in range(2))

    def norms(self, v: Array, out: Array) -> None:
        """Write the 2-norm of each layer of `v` (b,) into `out` (layers,)."""
        self.xp.multiply(v, v, out=self.scratch)
        for index, layer in enumerate(self.layers):
            cell = out[index : index + 1]
            self.xp.sum(self.scratch[layer], axis=0, keepdims=True, out=cell)
        self.xp.sqrt(out, out=out)

    def scale(self, u: Array, factor: float) -> None:
        """Multiply each layer of `u` (b,) by `factor` times weights / updates, or times 1."""
        alone = (self.weights == 0) | (self.updates == 0)
        self.weights[alone] = 1
        self.updates[alone] = 1
        self.weights /= self.updates
        self.weights *= factor
        for index, layer in enumerate(self.layers):
            part = u[layer]
            part *= self.weights[index : index + 1]
