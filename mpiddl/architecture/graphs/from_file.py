"""A graph that a user wrote down: an edge list, or the mixing matrix itself.

    graph.npy       the matrix W (n, n), as numpy.save writes it
    anything else   text; # begins a comment
        i j         two whole numbers a line: an edge between ranks i and j, both ways, with
                    Metropolis weights
        i > j       an edge one way, rank j hears i: with one of them in the file, every rank shares
                    out equally what it has, so that columns add up to 1, for `push_sum`
        w w ... w   n numbers on n lines: the matrix W

Two whole numbers a line are always edges: a matrix of two ranks is written with decimal points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, metropolis
from mpiddl.architecture.weights import shares
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
        if all(map(_is_edge, (words for _, words in rows))):
            return self._from_edges(rows, n)
        return self._whole([self._numbers(at, words, n) for at, words in rows], n)

    def _from_edges(self, rows: list[tuple[int, list[str]]], n: int) -> Matrix:
        linked = np.zeros((n, n), bool)
        lines: dict[tuple[int, int], int] = {}
        for at, words in rows:
            i, j = int(words[0]), int(words[-1])
            where = f"{self.path}, line {at}: the edge {' '.join(words)}"
            if min(i, j) < 0 or max(i, j) >= n:
                raise ConfigurationError(
                    f"{where} leaves the graph: the {n} ranks are numbered 0 .. {n - 1}"
                )
            if i == j:
                raise ConfigurationError(
                    f"{where} links a rank with itself: take it out, every rank hears itself anyway"
                )
            for way in ((i, j), (j, i))[: 1 if ">" in words else 2]:
                if way in lines:
                    raise ConfigurationError(
                        f"{where} is there twice, first on line {lines[way]}: take one out, an "
                        "edge without > is heard both ways"
                    )
                lines[way] = at
                linked[way[::-1]] = True  # the second hears the first
        return shares(linked) if any(">" in words for _, words in rows) else metropolis(linked)

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


def _is_edge(words: list[str]) -> bool:
    i, *way, j = words if len(words) > 1 else ("", "")
    ranks = (word.removeprefix("-").isdecimal() for word in (i, j))
    return all(ranks) and way in ([], [">"])
