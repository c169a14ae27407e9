"""A graph that a user wrote down: an edge list, or the mixing matrix itself.

    graph.npy       the matrix W (n, n), as numpy.save writes it
    anything else   text; # begins a comment
        i j         two whole numbers a line: an edge between ranks i and j, both ways, with
                    Metropolis weights
        w w ... w   n numbers on n lines: the matrix W

Two whole numbers a line are always edges: a matrix of two ranks is written with decimal points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, metropolis
from mpiddl.errors import ConfigurationError

__all__ = ["FromFile"]


@dataclass(frozen=True)
class FromFile:
    """The graph in the file at `path`; read whenever the matrix is asked for."""

    path: str

    def __str__(self) -> str:
        return self.path

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n).

        Raises
        ------
        ConfigurationError
            If the file cannot be read, or does not describe a graph of `n` ranks.
        """
        try:
            if self.path.endswith(".npy"):
                return self._whole(np.load(self.path, allow_pickle=False), n)
            with open(self.path, encoding="utf-8") as file:
                rows = [(at, line.partition("#")[0].split()) for at, line in enumerate(file, 1)]
        except (OSError, TypeError, ValueError, EOFError) as error:
            raise ConfigurationError(
                f"the graph {self.path} cannot be read: {error}; every rank reads it, so it must "
                "lie at that path on every host"
            ) from error
        rows = [(at, words) for at, words in rows if words]
        if all(len(words) == 2 and all(map(_is_whole, words)) for _, words in rows):
            return self._from_edges([(at, int(i), int(j)) for at, (i, j) in rows], n)
        return self._whole([self._numbers(at, words, n) for at, words in rows], n)

    def _from_edges(self, found: list[tuple[int, int, int]], n: int) -> Matrix:
        linked = np.zeros((n, n), bool)
        lines: dict[tuple[int, int], int] = {}
        for at, i, j in found:
            edge = min(i, j), max(i, j)
            where = f"{self.path}, line {at}: the edge {i} {j}"
            if edge[0] < 0 or edge[1] >= n:
                raise ConfigurationError(
                    f"{where} leaves the graph: the {n} ranks are numbered 0 .. {n - 1}"
                )
            if i == j:
                raise ConfigurationError(
                    f"{where} links a rank with itself: take it out, every rank hears itself anyway"
                )
            if edge in lines:
                raise ConfigurationError(
                    f"{where} is there twice, first on line {lines[edge]}: take one out, an edge "
                    "is heard both ways"
                )
            lines[edge] = at
            linked[i, j] = linked[j, i] = True
        return metropolis(linked)

    def _numbers(self, at: int, words: list[str], n: int) -> list[float]:
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != n:
            raise ConfigurationError(
                f"{self.path}, line {at}: expected the {n} weights of one rank (or an edge, two "
                f"whole numbers, in a file of edges), found {' '.join(words)[:40]!r}"
            )
        return numbers

    def _whole(self, rows: object, n: int) -> Matrix:
        w = np.asarray(rows).astype(np.float64, casting="same_kind")
        if w.shape != (n, n):
            raise ConfigurationError(
                f"{self.path} holds a matrix of shape {w.shape}, but {n} ranks need ({n}, {n}): "
                f"start as many ranks as it has rows"
            )
        return w


def _is_whole(word: str) -> bool:
    return word.removeprefix("-").isdecimal()
