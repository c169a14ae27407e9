"""Whether stale gossip can follow a script: the clocks of the models mixed; see stale_gossip.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from mpiddl.architecture.mixer import Round
from mpiddl.architecture.scripts import REMEDY, require_choices
from mpiddl.architecture.topology import Matrix
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script

__all__ = ["require_versions"]


def require_versions(
    script: Script,
    lanes: int,
    w: Matrix,
    clocks: Sequence[int],
    at_least: Callable[[int], int],
) -> None:
    """Raise ConfigurationError unless every pull can mix what `script` says.

    Parameters
    ----------
    script : mapping
        By (lane, rank): per pull, for every neighbour in rank order, the clock of its model.
    lanes : int
        Number of lanes.
    w : float64 array (n, n)
        The mixing matrix.
    clocks : sequence of int
        Number of clocks of each worker.
    at_least : callable
        From a clock to the clock of everyone that a pull after it waits for.
    """
    sources = [sorted(Round.of(w, rank).sources) for rank in range(len(clocks))]
    counts = [end * len(heard) for end, heard in zip(clocks, sources, strict=True)]
    places = [(lane, rank) for lane in range(lanes) for rank in range(len(clocks))]
    require_choices(script, {place: counts[place[1]] for place in places if counts[place[1]]})
    asked: list[dict[int, list[list[int]]]] = [{} for _ in clocks]  # by source: one list per lane
    for lane, rank in places:
        choices = list(script.get((lane, rank), ()))
        for at, source in enumerate(sources[rank]):
            versions = [int(version) for version in choices[at :: len(sources[rank])]]
            _check_versions((lane, rank), source, versions, clocks, at_least)
            asked[rank].setdefault(source, []).append(versions)
    if not _can_be_followed(asked, clocks):
        raise ConfigurationError(
            f"ranks that follow the script would wait for each other for ever: {REMEDY}"
        )


def _check_versions(
    place: tuple[int, int],
    source: int,
    versions: Sequence[int],
    clocks: Sequence[int],
    at_least: Callable[[int], int],
) -> None:
    last, end = clocks[source] - 1, clocks[place[1]]
    due = [*map(at_least, range(end - 1)), end - 1]  # the last pull waits for everything
    fits = all(
        min(least, last) <= version <= last and version >= -1
        for least, version in zip(due, versions, strict=True)
    )
    if not fits or any(later < sooner for sooner, later in pairwise(versions)):
        raise ConfigurationError(
            f"the script of lane {place[0]} has rank {place[1]} mix models of rank {source} that "
            f"are too old, or not there: {REMEDY}"
        )


def _can_be_followed(asked: Sequence[dict[int, list[list[int]]]], clocks: Sequence[int]) -> bool:
    """Return whether every rank comes to its end; it says clock c + 1 once it has pulled after c.

    `asked` has by rank and source, for every lane, the clocks asked for.
    """
    said = [1] * len(clocks)
    moved = True
    while moved:
        moved = False
        for rank, of in enumerate(asked):
            pull = said[rank] - 1
            if pull < clocks[rank] and all(
                versions[pull] < said[source] for source, lanes in of.items() for versions in lanes
            ):
                said[rank] += 1
                moved = True
    return all(count > end for count, end in zip(said, clocks, strict=True))
