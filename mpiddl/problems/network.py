"""Dense layers, tanh between them, and cross-entropy at the end; backpropagation layer by layer.

    z_1 = a,  z_{j+1} = tanh(z_j W_j + c_j)  but for the last j, which has no tanh
    l_k = log sum_c exp(z_c) - z_y           e = softmax(z) - onehot(y), its slope in z
    grad W_j = z_j' e_j,  grad c_j = sum e_j,  e_{j-1} = (e_j W_j') (1 - z_j^2)

A model without hidden layers is softmax regression. Weights and biases are layers of their own:
large messages and tiny ones, so it shows what fusing them is good for. Going ahead, a layer of x is
asked for just before it is read, so a model may still arrive while the first layers compute; going
back, the last layers are ready, and may travel, while the first ones are still computed. tanh, not
a kinked unit: f is smooth, so descent behaves as the theorems say, with an L that is unknown.

Letters a, y the row's first columns and its last | e `errors` (b, C) | z_j `inputs` (b, width)
Exact   the variance of a row's gradient: |e_j|^2 (|z_j|^2 + 1), summed over j, is |grad l_k|^2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.layout import Layout
from mpiddl.problems import NEED, READY, Event
from mpiddl.problems.base import QUIET
from mpiddl.problems.finite_sum import FiniteSum
from mpiddl.problems.penalty import Ridge
from mpiddl.problems.sampling import Batch

__all__ = ["Network", "softmax"]


def softmax(z: Array) -> Array:
    """Turn rows of `z` (b, C) into probabilities, in place; return it."""
    z -= z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return z


class Network(FiniteSum):
    """The mean cross-entropy of a network, plus (lam/2) |x|^2.

    Parameters
    ----------
    name, workers, seed
        As in `Base`.
    rows, held_out : float64 (m, p + 1)
        Features with the class 0 .. C-1 in the last column, to learn from and to test with.
    widths : sequence of int
        p, the sizes of hidden layers, C.
    lam : float
        Weight of the penalty, at least 0.
    **options
        sharding, batch, sort, zeta2 and dtype, see `Sampled`.

    Raises
    ------
    ConfigurationError
        If an option is out of range or two do not fit; the message names them.
    """

    def __init__(
        self,
        name: str,
        workers: int,
        seed: int,
        rows: Array,
        held_out: Array,
        widths: Sequence[int],
        lam: float,
        **options: Any,
    ) -> None:
        self._levels = range(len(widths) - 1)
        names: list[str] = []
        shapes: list[tuple[int, ...]] = []
        for j in self._levels:
            number = str(j + 1) if len(self._levels) > 1 else ""
            names += [f"weights{number}", f"bias{number}"]
            shapes += [(widths[j], widths[j + 1]), (widths[j + 1],)]
        layout = Layout(tuple(names), tuple(shapes))
        super().__init__(name, workers, seed, layout, rows, Ridge(lam), **options)
        self._held_out = held_out

    def start(self) -> Array:
        """Return x0 (d,): weights N(0, 1/inputs), the scale at which tanh keeps it; biases 0.

        Without hidden layers f is convex, and x0 = 0.
        """
        x = np.zeros(self.layout.size)
        for level in self._levels if len(self._levels) > 1 else ():
            shape = self.layout.shapes[2 * level]
            draws = stream(self.seed, Purpose.START, level).standard_normal(shape)
            self._weights(x, level)[...] = draws / np.sqrt(shape[0])
        return x.astype(self.dtype)

    def _weights(self, x: Array, level: int) -> Array:
        return x[self._spans[2 * level]].reshape(self.layout.shapes[2 * level])

    @QUIET
    def _ahead(self, x: Array, inputs: Array, level: int) -> Array:
        """Return what comes out of a level, (b, width)."""
        z: Array = inputs @ self._weights(x, level)
        z += x[self._spans[2 * level + 1]]
        return z if level == self._levels[-1] else np.tanh(z, out=z)

    def _outputs(self, v: Array, x: Array) -> Array:
        z = v[:, :-1]
        for level in self._levels:
            z = self._ahead(x, z, level)
        return z

    @QUIET
    def _errors(self, v: Array, z: Array) -> Array:
        """Turn outputs `z` (b, C) into the slopes of the loss in them, in place."""
        softmax(z)[np.arange(len(z)), v[:, -1].astype(np.intp)] -= 1.0
        return z

    @QUIET
    def _behind(self, x: Array, inputs: Array, errors: Array, level: int) -> Array:
        """Return the errors of the level before, whose outputs are `inputs`."""
        e: Array = errors @ self._weights(x, level).T
        e *= 1.0 - inputs * inputs
        return e

    def _announced(
        self, v: Array, batch: Batch, x: Array, out: Array
    ) -> Iterator[tuple[Event, int]]:
        inputs = [v[:, :-1]]
        for level in self._levels:
            yield NEED, 2 * level
            yield NEED, 2 * level + 1
            inputs.append(self._ahead(x, inputs[-1], level))
        errors = self._errors(v, inputs.pop())
        errors *= batch.scale
        for level in reversed(self._levels):
            bias, weights = 2 * level + 1, 2 * level
            np.sum(errors, axis=0, out=out[self._spans[bias]])
            self._finish(x, batch, out, bias)
            yield READY, bias
            np.matmul(inputs[level].T, errors, out=self._weights(out, level))
            if level:
                errors = self._behind(x, inputs[level], errors, level)
            self._finish(x, batch, out, weights)
            yield READY, weights

    @QUIET
    def _finish(self, x: Array, batch: Batch, out: Array, layer: int) -> None:
        span = self._spans[layer]
        out[span] += self._penalty.slope(x[span])
        out[span] += batch.shift

    def _value(self, v: Array, x: Array) -> float:
        z = self._outputs(v, x)
        top = z.max(axis=1)
        right = z[np.arange(len(z)), v[:, -1].astype(np.intp)]
        z -= top[:, np.newaxis]
        losses = np.log(np.exp(z, out=z).sum(axis=1)) - (right - top)
        return float(losses.sum()) / max(len(v), 1)

    def _variance(self, v: Array, x: Array) -> float:
        inputs = [v[:, :-1]]
        for level in self._levels:
            inputs.append(self._ahead(x, inputs[-1], level))
        errors, squares, mean2 = self._errors(v, inputs.pop()), 0.0, 0.0
        for level in reversed(self._levels):
            z, count = inputs[level], max(len(v), 1)
            squares += float((errors**2).sum(axis=1) @ ((z**2).sum(axis=1) + 1.0)) / count
            weights, bias = z.T @ errors / count, errors.sum(axis=0) / count
            mean2 += float(np.vdot(weights, weights) + bias @ bias)
            if level:
                errors = self._behind(x, z, errors, level)
        return max(squares - mean2, 0.0)

    @QUIET
    def test_accuracy(self, x: Array) -> float:
        """Return the share of held-out rows whose largest output is that of their class."""
        z = self._outputs(self._held_out, np.asarray(x, dtype=np.float64))
        return float(np.mean(z.argmax(axis=1) == self._held_out[:, -1]))
