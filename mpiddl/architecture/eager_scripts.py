"""Whether rounds that some begin can follow a script: who says what when; see eager.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from mpiddl.architecture.agreed import slowest
from mpiddl.architecture.scripts import REMEDY, require_choices
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script

__all__ = ["require_rounds"]


def require_rounds(
    script: Script, lanes: int, clocks: Sequence[int], at_least: Callable[[int], int]
) -> None:
    """Raise ConfigurationError unless rounds and pulls can go as `script` says, lane by lane.

    Parameters
    ----------
    script : mapping
        By (lane, rank): per round, how many clocks the rank has said; by (lane, n + rank): per
        pull, how many rounds are in x.
    lanes : int
        Number of lanes.
    clocks : sequence of int
        Number of clocks of each worker.
    at_least : callable
        From a clock to the clock of everyone that a pull after it waits for.
    """
    n = len(clocks)
    rounds = [len(script.get((lane, 0), ())) for lane in range(lanes)]
    expected = {(lane, rank): rounds[lane] for lane in range(lanes) for rank in range(n)}
    expected |= {(lane, n + rank): end for lane in range(lanes) for rank, end in enumerate(clocks)}
    require_choices(script, expected)
    for lane in range(lanes):
        said = [[int(many) for many in script[lane, rank]] for rank in range(n)]
        read = [[int(many) for many in script[lane, n + rank]] for rank in range(n)]
        _require_growth(lane, "clocks in rounds", said, clocks)
        _require_growth(lane, "rounds in pulls", read, [rounds[lane]] * n)
        _require_end(lane, list(zip(*said, strict=True)), tuple(clocks))
        _require_bound(lane, said, read, clocks, at_least)
        if not _can_be_followed(said, read, clocks):
            raise ConfigurationError(
                f"ranks that follow the script of lane {lane} would wait for each other for ever: "
                f"{REMEDY}"
            )


def _require_growth(
    lane: int, what: str, choices: Sequence[Sequence[int]], ends: Sequence[int]
) -> None:
    """Refuse choices that go back, below 0, or beyond their end."""
    for each, end in zip(choices, ends, strict=True):
        if any(one > other for one, other in pairwise([0, *each, end])):
            raise ConfigurationError(
                f"the script of lane {lane} has {what} that go back, or too far: {REMEDY}"
            )


def _require_end(lane: int, rounds: Sequence[tuple[int, ...]], clocks: tuple[int, ...]) -> None:
    """Refuse rounds of which not the last, and no other, has all clocks in."""
    if [counts == clocks for counts in rounds] != [False] * (len(rounds) - 1) + [True]:
        raise ConfigurationError(
            f"the rounds of lane {lane} in the script do not end with what clocks {clocks} have "
            f"to say: {REMEDY}"
        )


def _require_bound(
    lane: int,
    said: Sequence[Sequence[int]],
    read: Sequence[Sequence[int]],
    clocks: Sequence[int],
    at_least: Callable[[int], int],
) -> None:
    """Refuse pulls that do not wait for what they must; the last one waits for everything."""
    after = [slowest(counts, clocks) for counts in [[0] * len(clocks), *zip(*said, strict=True)]]
    for rank, (pulls, end) in enumerate(zip(read, clocks, strict=True)):
        due, own = [*map(at_least, range(end - 1)), end - 1], [0, *said[rank]]
        fresh = all(own[rounds] > clock for clock, rounds in enumerate(pulls))
        if not fresh or any(d >= after[rounds] for d, rounds in zip(due, pulls, strict=True)):
            raise ConfigurationError(
                f"the script of lane {lane} has rank {rank} read what is too old: {REMEDY}"
            )


def _can_be_followed(
    said: Sequence[Sequence[int]], read: Sequence[Sequence[int]], clocks: Sequence[int]
) -> bool:
    """Whether every round begins: all have then pushed what they say in it."""
    for rounds, counts in enumerate(zip(*said, strict=True)):
        for many, pulls, end in zip(counts, read, clocks, strict=True):
            pulled = sum(1 for each in pulls if each <= rounds)  # of pulls that only go on
            if many > min(pulled + 1, end):
                return False
    return True
