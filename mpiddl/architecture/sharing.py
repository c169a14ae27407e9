"""What matrices P must be whose columns are shares, and what is said to others; see push_sum.py.

- columns add up to 1, else the sum of all models drifts;
- over a turn everyone hears of everyone, else part of what a rank says never arrives somewhere;
- the diagonal is positive, else what is shared may go round for ever without mixing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpiddl.architecture.topology import Matrix
from mpiddl.errors import ConfigurationError

__all__ = ["check_sharing"]

ROUNDING = 1e-12


def check_sharing(matrices: Sequence[Matrix], name: str) -> None:
    """Refuse matrices that push-sum cannot use.

    Parameters
    ----------
    matrices : sequence of float64 array (n, n)
        Used in turn. Column j holds the shares of what rank j has: [i, j] goes to rank i.
    name : str
        What the graph is called, for messages.

    Raises
    ------
    ConfigurationError
        If columns do not add up to 1, a rank keeps nothing, or not everyone hears of everyone.
    """
    where = f"topology {name} on {len(matrices[0])} ranks"
    for p in matrices:
        _check_shares(p, where)
    heard = sum(matrices[1:], matrices[0]) > 0
    for _ in range(len(heard).bit_length()):  # of ranks 2, 4, 8 .. links away
        heard = heard.astype(float) @ heard > 0
    if not heard.all():
        i, j = np.argwhere(~heard)[0]
        raise ConfigurationError(
            f"{where} is not strongly connected: rank {i} never hears of rank {j}; add links one "
            f"way from {j} towards {i}"
        )


def _check_shares(p: Matrix, where: str) -> None:
    if not (p >= 0).all():
        i, j = np.argwhere(~(p >= 0))[0]
        raise ConfigurationError(
            f"{where} has the share {p[i, j]:.6g} in row {i}, column {j}: shares are at least 0"
        )
    wrong = np.flatnonzero(np.abs(p.sum(axis=0) - 1) > ROUNDING)
    if wrong.size:
        only_rows = bool((np.abs(p.sum(axis=1) - 1) <= ROUNDING).all())
        raise ConfigurationError(
            f"{where} has a column {wrong[0]} that adds up to {p[:, wrong[0]].sum():.13g}, so the "
            f"sum of all models would drift; "
            + (
                "only its rows add up to 1, as weights of an average do: push-sum shares out, use "
                "the transpose if it is meant so, or an edge list"
                if only_rows
                else "column j holds the shares of rank j: use an edge list, which gets equal ones"
            )
        )
    if not (np.diagonal(p) > 0).all():
        raise ConfigurationError(
            f"{where} has a rank {int(np.argmin(np.diagonal(p)))} that keeps nothing of its own, "
            "so what is shared may go round without mixing: put a share on the diagonal, or use "
            "weights=metropolis"
        )
