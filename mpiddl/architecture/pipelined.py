"""The live end of all-reduces that wait for all: one is begun every clock, and applied s later.

Source  Li, Yu, Li, Avestimehr, Kim & Schwing, "Pipe-SGD: a decentralized pipelined SGD framework
        for distributed deep net training", NeurIPS 2018;  s = 0 is S-SGD
Paper   x_{t+1} = x_t - gam mean_j g_j(x_{t-s});   its pipeline is K = s + 1 wide
Letters t the clock | g_j `lane.delta`, through the channel | x `lane.anchor`, copied to `lane.x`
Cost    one all-reduce or all-gather a clock, s + 1 under way at once, each with buffers of its own
Quality Every gradient is s clocks late, on every rank: all hold the same bits, and nothing is left
        to chance. On one worker it is SGD whose gradients come s steps late.
Differs from the paper: any s, it recommends 1; the last pull applies all that is under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import NamedTuple

from mpiddl.architecture import Station
from mpiddl.architecture.means import Mean, Means
from mpiddl.comm import Request
from mpiddl.comm.engine import Wait
from mpiddl.replica import Exchange

__all__ = ["Pipelined"]


class _Round(NamedTuple):
    clock: int
    mean: Mean
    travelled: Request


class Pipelined(Exchange):
    """One lane on one rank.

    Parameters
    ----------
    station : Station
        The rank's side of the lane.
    means : Means
        Takes s + 1 at once. Collectives that match by their order begin in that of clocks and
        lanes, which is the same everywhere.
    """

    def __init__(self, station: Station, means: Means) -> None:
        self.lane, self.engine, self.means = station.lane, station.engine, means
        self.under_way: deque[_Round] = deque()

    def push(self, clock: int, finite: bool) -> None:
        """Begin the all-reduce of this clock."""
        mean = self.means.say(self.lane.delta, finite)
        travelled = self.engine.start(mean.travel(), f"all-reduce of clock {clock}")
        self.under_way.append(_Round(clock, mean, travelled))

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait for the all-reduces of clocks <= `at_least`; move by them and by no others."""
        while self.under_way and self.under_way[0].clock <= at_least:
            clock, mean, travelled = self.under_way.popleft()
            yield travelled
            direction = yield from mean.take()
            self.lane.outer.apply(self.lane.anchor, direction, clock)
        self.lane.x[...] = self.lane.anchor
