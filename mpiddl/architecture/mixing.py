"""What a mixing matrix W must be, and what is said to one that is not.

- doubly stochastic, else the mean of the models drifts;
- connected, else parts of the ranks never hear of each other;
- normal, W W^T = W^T W, else the bounds, which look at one mixing, do not speak of many;
- aperiodic, |W - J|_2 < 1 with J = 11^T / n, else models are swapped, not mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from hashlib import sha256

import numpy as np

from mpiddl.architecture.topology import Matrix, contraction
from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError

__all__ = ["check_mixing", "components", "digest"]

ROUNDING = 1e-12


def check_mixing(matrices: Sequence[Matrix], name: str) -> None:
    """Refuse matrices that gossip cannot use.

    Parameters
    ----------
    matrices : sequence of float64 array (n, n)
        Used in turn. Row i holds the weights with which rank i averages.
    name : str
        What the graph is called, for messages.

    Raises
    ------
    ConfigurationError
        If one of them is not doubly stochastic and normal, or all together do not connect or do not
        shrink: says which and a remedy.
    """
    where = f"topology {name} on {len(matrices[0])} ranks"
    for w in matrices:
        _check_weights(w, where)
        if np.abs(w @ w.T - w.T @ w).max() > ROUNDING:
            raise ConfigurationError(
                f"{where} has weights that are neither symmetric nor normal (W W^T is not W^T W): "
                "several mixings may then shrink less than one promises; use (W + W^T) / 2, or an "
                "edge list"
            )
    pieces = components(sum(matrices[1:], matrices[0]))
    if len(pieces) > 1:
        listed = ", ".join(_listed(piece) for piece in pieces[:4])
        raise ConfigurationError(
            f"{where} is disconnected: nothing links {listed}{', ...' if len(pieces) > 4 else ''}; "
            "add an edge between them"
        )
    if contraction(reduce(np.matmul, matrices)) > 1 - ROUNDING:
        raise ConfigurationError(
            f"{where} is periodic: an eigenvalue of W other than the first has modulus 1, so "
            "models are swapped, not mixed; put weight on the diagonal, as in (I + W) / 2"
        )


def _check_weights(w: Matrix, where: str) -> None:
    if not (w >= 0).all():
        i, j = np.argwhere(~(w >= 0))[0]
        raise ConfigurationError(
            f"{where} has the weight {w[i, j]:.6g} in row {i}, column {j}: weights are shares of "
            "an average, at least 0"
        )
    for axis, sums in (("row", w.sum(axis=1)), ("column", w.sum(axis=0))):
        wrong = np.flatnonzero(np.abs(sums - 1) > ROUNDING)
        if wrong.size:
            raise ConfigurationError(
                f"{where} is not doubly stochastic: {axis} {wrong[0]} adds up to "
                f"{sums[wrong[0]]:.13g}, so the mean of the models would drift; use Metropolis "
                "weights (an edge list gets them, and weights=metropolis), or push_sum where "
                "columns add up to 1"
            )


def components(w: Array) -> list[list[int]]:
    """Return the ranks of each connected component of the graph of W (n, n), or of its links."""
    left, pieces = set(range(len(w))), []
    while left:
        piece, border = set(), {min(left)}
        while border:
            piece |= border
            touched = (w[sorted(border)] != 0).any(axis=0) | (w[:, sorted(border)] != 0).any(axis=1)
            border = set(np.flatnonzero(touched).tolist()) - piece
        pieces.append(sorted(piece))
        left -= piece
    return pieces


def digest(matrices: Callable[[int], Sequence[Matrix]], size: int) -> str:
    """Return what tells these matrices from others, or why there are none.

    Ranks agree on it before they run, as two of them may read different files.
    """
    try:
        weights = b"".join(w.tobytes() for w in matrices(size))
        return f"weights {sha256(weights).hexdigest()[:16]}"
    except ConfigurationError as refusal:
        return str(refusal)


def _listed(piece: list[int]) -> str:
    return "{" + ", ".join(map(str, piece[:6])) + (", ..." if len(piece) > 6 else "") + "}"
