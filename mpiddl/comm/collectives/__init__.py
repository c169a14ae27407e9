"""Sums and exchanges over all ranks, written out: one algorithm a file, the cost in its header.

Letters: n ranks | b entries | w bytes per entry | m = b w | al, be, ga seconds per message, byte
sent, byte added | k = floor(log2 n) | r = n - 2^k ranks too many for a power of two | g ranks of a
group, which is a node or a row; N = n / g groups.

| all-reduce           | time                               | good for                            |
|----------------------|------------------------------------|-------------------------------------|
| `naive`              | 2 (n-1)(al + be m) + (n-1) ga m    | reading; sums in order of ranks     |
| `tree`               | log n (2 al + (2 be + ga) m)       | few messages in all                 |
| `recursive_doubling` | log n (al + be m + ga m)           | short vectors                       |
| `ring`               | 2 (n-1) al + 2 be m + ga m         | long vectors, few ranks             |
| `halving_doubling`   | 2 log n al + 2 be m + ga m         | long vectors, many ranks; near      |
|                      |                                    | ranks first: suits nodes of 2^j     |
| `torus:G`            | 2 (g + N - 2) al + 2 be m + ga m   | long vectors, rows of G             |
| `hierarchical:G`     | 2 (g-1 + log N) al + 2 be m + ga m | nodes of any G ranks, slow between  |
| `double_tree`        | 4 (P + log n)(al + be s) + ..      | 2 P pieces of s bytes: very long    |
|                      |                                    | vectors, very many ranks            |
| `native`             | MPI's own; not simulated           | reference                           |

| all-gather           | time                               | good for                            |
|----------------------|------------------------------------|-------------------------------------|
| `bruck`              | log n al + (n-1) be (m + 4)        | short payloads, many ranks          |
| `ring`               | (n-1) al + (n-1) be m              | long payloads: copies nothing       |

These are leading terms; the headers are exact. All are generators over isend and irecv: any n >= 1
and any b >= 0, in place, the same bits on every rank, a step sends its message even where its
block is empty. Scratch is one array per call.

Read naive.py first, then ring.py; blocks.py and trees.py hold what several share, barrier.py sums
nothing. Sums over some of the ranks are the same sums: `among`.
"""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any, Protocol, cast

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.engine import Task
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Registry

__all__ = ["Allgather", "Allreduce", "allgathers", "allreduces", "collective"]


class Allreduce(Protocol):
    """A sum over all ranks."""

    def __call__(self, comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
        """Replace x (b,), float32 or float64, by the sum over all ranks; called by all of them.

        Raises
        ------
        BufferMismatch
            If x is not one-dimensional, C-contiguous and writable.
        """


class Allgather(Protocol):
    """An exchange that brings every rank's payload to every rank."""

    def __call__(
        self, comm: Communicator, mine: Array, out: Array, tag: int = 0
    ) -> Task[list[int]]:
        """Fill `out` with everybody's payload; called by all ranks. Only used bytes travel.

        Parameters
        ----------
        comm : Communicator
            The ranks.
        mine : array of uint8, (used,)
            This rank's payload; `used` may differ between ranks and may be 0.
        out : array of uint8, (n, capacity)
            Row i receives the payload of rank i; what lies behind it in the row is left alone.
            The same capacity on every rank.
        tag : int
            Tag of the messages.

        Returns
        -------
        list of int
            Bytes in use per row.

        Raises
        ------
        BufferMismatch
            If `out` has not n rows, or a payload does not fit into one.
        """


allreduces: Registry[Allreduce] = Registry("mpiddl.comm.collectives", "all-reduce")
allgathers: Registry[Allgather] = Registry("mpiddl.comm.collectives", "all-gather")


def collective(text: str, size: int | None = None) -> Allreduce:
    """Return the all-reduce called NAME, or NAME:G where groups of G ranks are formed.

    Parameters
    ----------
    text : str
        As in a variant: ``ring``, ``hierarchical``, ``hierarchical:4``.
    size : int, optional
        Ranks that it is for, if they are known.

    Raises
    ------
    ConfigurationError
        If there is none of that name, it forms no groups, or `size` ranks do not divide into them.
    """
    name, colon, number = text.partition(":")
    found = allreduces[name.strip()]
    if not colon:
        return partial(_at_once_or, found, name.strip())
    if "group" not in signature(found).parameters:
        raise ConfigurationError(f"all-reduce {name} forms no groups: leave out {number!r}")
    if not number.strip().isdecimal() or int(number) < 1:
        raise ConfigurationError(f"a group has at least 1 rank, found {text!r}: write {name}:4")
    if size is not None:
        from mpiddl.comm.collectives.blocks import require_groups  # the room knows its files late

        require_groups(size, int(number))
    return cast(Allreduce, partial(cast(Any, found), group=int(number)))


def _at_once_or(
    found: Allreduce, name: str, comm: Communicator, x: Array, tag: int = 0
) -> Task[None]:
    """Let a simulated world of very many ranks make the sum at once; else send messages."""
    together = getattr(comm, "together", None)
    joined = together and together(name, x, tag)
    if joined:
        yield joined
    else:
        yield from found(comm, x, tag)
