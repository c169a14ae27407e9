"""All-gathers, the barrier, the parameter server; means of some, or now and then.

Letters L = ceil(log2 n) | s servers | e = ceil(b/s), entries of the longest shard
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import nan

import sympy as sp

from theory.cost.forms import Cost, Evaluated, al, b, be, ceil_log2, n, smaller, w

__all__ = ["ALLGATHER", "BARRIER", "backup_workers", "dynamic", "eager", "gathered"]
__all__ += ["parameter_server", "served"]

HEADER = 4  # bytes in which Bruck's records say how long they are
COUNT = 8  # bytes in which a call says how many clocks of one rank are in
VERDICT = 8  # bytes in which a server says which round is over, and whether a push was in it
m = b * w

ALLGATHER: dict[str, Cost] = {
    "ring": Cost(n * (n - 1), n * (n - 1) * m, (n - 1) * (al + be * m)),
    "bruck": Cost(
        n * ceil_log2(n),
        n * (n - 1) * (m + HEADER),
        ceil_log2(n) * al + (n - 1) * be * (m + HEADER),
    ),
}
"""Everybody's payload of b w bytes on every rank; of different lengths: see `gathered`."""

BARRIER = Cost(n * ceil_log2(n), sp.Integer(0), ceil_log2(n) * al)
"""Dissemination: in round j rank i tells rank i + 2^j; empty messages."""


def gathered(name: str, sizes: Sequence[int], al: float = 0.0, be: float = 0.0) -> Evaluated:
    """Return the cost of an all-gather of payloads of the recorded lengths, exactly.

    Messages and bytes are the closed forms at the mean length. The time is a recurrence: a
    transfer starts when both its ends have ended the step before.

    Parameters
    ----------
    name : str
        "ring" or "bruck".
    sizes : sequence of int
        Bytes of the payload of every rank.
    al, be : float
        Seconds per message and per byte sent.
    """
    ranks = len(sizes)
    ready, latency, slope = [Fraction(0)] * ranks, Fraction(al), Fraction(be)
    messages = total = 0
    for distance, sent in (_ring_steps if name == "ring" else _bruck_steps)(sizes):
        after = list(ready)
        for source in range(ranks):
            dest = (source + distance) % ranks
            until = max(ready[source], ready[dest]) + latency + slope * sent[source]
            after[source], after[dest] = max(after[source], until), max(after[dest], until)
        ready, messages, total = after, messages + ranks, total + sum(sent)
    return Evaluated(messages, total, float(max(ready)))


def _ring_steps(sizes: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield, step by step, how far messages go and the bytes that every rank sends."""
    for step in range(len(sizes) - 1):
        yield 1, [sizes[rank - step] for rank in range(len(sizes))]


def _bruck_steps(sizes: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    ranks, known = len(sizes), 1
    while known < ranks:
        handed = range(min(known, ranks - known))
        yield (
            -known,
            [sum(sizes[(rank + k) % ranks] + HEADER for k in handed) for rank in range(ranks)],
        )
        known *= 2


def parameter_server(servers: int | sp.Expr | None = None) -> Cost:
    """Push every shard to its server, be answered with its model: n workers, one clock, no wait.

    A vector is cut into s shards, ceil first; empty shards send nothing. Worker i visits the
    servers in rotation from server i on. All pushes arrive before the first answer leaves, and
    additions are not in the time: a server adds while it receives.

    Time 2 n (al + be e w) with dedicated servers, 2 (n-1)(al + be e w) where the workers serve.
    Exact with one server; with several, if s divides n and b, or where workers serve if n divides
    b: every port is busy all the time. Else it is the least time of the server with the longest
    shard, and so a lower bound: workers in step then meet at servers, and wait.

    Parameters
    ----------
    servers : int or sympy.Expr, optional
        Dedicated servers. None: every worker serves one shard, its own without a message.
    """
    speakers, shards = (n - 1, n) if servers is None else (n, sp.sympify(servers))
    shard = sp.ceiling(b / shards) * w
    time = smaller(1, b) * 2 * speakers * (al + be * shard)
    return Cost(2 * speakers * smaller(shards, b), 2 * speakers * m, time)


def served(
    servers: int | None, n: int, b: int, up: Callable[[int], int], down: Callable[[int], int]
) -> Evaluated:
    """Return the cost of one clock of a parameter server that is spoken to in shorter words.

    Who speaks to whom is as in `parameter_server`. Words round lengths up, so that a vector costs
    what its shards do, one by one. How long who waits only a run tells: no time is known here.

    Parameters
    ----------
    servers : int, optional
        Dedicated servers; None: every worker serves one shard, its own without a message.
    n, b : int
        Workers, and entries of the vector.
    up, down : callable
        Bytes in which so many entries are pushed, and answered.
    """
    shards, speakers = (n, n - 1) if servers is None else (servers, n)
    floor, longer = divmod(b, shards)
    sizes = [(floor + 1, longer), (floor, shards - longer if floor else 0)]
    each = sum(many * (up(size) + down(size)) for size, many in sizes if many)
    messages = 2 * speakers * sum(many for _, many in sizes)
    return Evaluated(messages, speakers * each, nan)


def backup_workers(pushes: int | sp.Expr, servers: int | sp.Expr = 1) -> Cost:
    """Each of s dedicated servers hears that many pushes, in time or not, and answers each.

    A clock whose round n - backup workers close while the others are silent is so many pushes. Its
    time is exact where that of `parameter_server` is. What late workers say in a clock is not in
    it: how often they speak only a run tells.

    Parameters
    ----------
    pushes : int or sympy.Expr
        Pushes to each server.
    servers : int or sympy.Expr
        Dedicated servers; 1, with b entries of one shard, where servers hear different numbers.
    """
    shards, shard = smaller(servers, b), sp.ceiling(b / sp.sympify(servers)) * w
    time = smaller(1, b) * pushes * (2 * al + be * (2 * shard + VERDICT))
    return Cost(2 * pushes * shards, pushes * (2 * m + VERDICT * shards), time)


def eager(mean: Cost, pushes: int | sp.Expr, rounds: int | sp.Expr) -> Cost:
    """Some begin a round: rank 0 hears of pushes, and calls all to the mean of one vector.

    A call says n numbers of 8 bytes and goes down a tree; to hear of a push takes an empty message.
    How many rounds there are, and when, only a run tells: no time is known here.

    Parameters
    ----------
    mean : Cost
        Of the all-reduce or all-gather in a round.
    pushes : int or sympy.Expr
        Pushes of all ranks but the first.
    rounds : int or sympy.Expr
        How often a mean is taken.
    """
    called = mean.bytes + (n - 1) * n * COUNT
    return Cost(pushes + rounds * (mean.messages + n - 1), rounds * called, sp.nan)


def dynamic(number: Cost, mean: Cost, clocks: int | sp.Expr, means: int | sp.Expr) -> Cost:
    """At every clock a number of 8 bytes is agreed on, and sometimes the mean of a vector.

    Parameters
    ----------
    number, mean : Cost
        Of the all-reduce of the number, and of the all-reduce or all-gather of the vector.
    clocks, means : int or sympy.Expr
        How often they are needed.
    """
    one = {b: sp.Integer(1), w: sp.Integer(8)}

    def total(of_number: sp.Expr, of_mean: sp.Expr) -> sp.Expr:
        return clocks * of_number.subs(one) + means * of_mean

    return Cost(
        total(number.messages, mean.messages),
        total(number.bytes, mean.bytes),
        total(number.time, mean.time),
    )
