"""Graphs that change from step to step: a cycle of mixing matrices, used in turn."""

from __future__ import annotations

from theory.mixing import lam, matrix, one_peer
from theory.testbed import Floats

__all__ = ["TURNS", "cycle", "qualities"]

TURNS = ("one_peer_exponential",)


def cycle(topology: str, n: int) -> tuple[Floats, ...]:
    """Return the matrices W (n, n) of one turn; mostly there is one, that of `theory.mixing`.

    one_peer_exponential: in the j-th of m mixings, m = log2 n rounded up, everyone averages with
    the worker 2^j before it. For n = 2^m any m in a row average exactly (identity of that name).
    """
    return one_peer(n) if topology in TURNS else (matrix(topology, n),)


def qualities(topology: str, n: int) -> dict[str, float]:
    """Return what is promised of a graph: lam if it stays, and m = log2 n, rounded up."""
    m: dict[str, float] = {"m": (n - 1).bit_length()}
    return m if topology in TURNS else m | {"lam": lam(topology, n)}
