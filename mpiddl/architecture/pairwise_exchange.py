"""The live end of pairwise averaging: ask one neighbour, answer whoever asks; see pairwise.py.

Idea    Rank i says its model x_i to j. Rank j answers at once, whatever it waits for itself, with
        d = (x_j - x_i) / 2, and moves by -d; when the answer is there, i moves by d. Nobody is
        locked, so no ring of ranks can wait for each other. If x_i meets others in between, both
        still move by the same d: the sum of all models, and of answers under way, is kept.
Ledger  One row per event of a rank, in order; `choice` says whose, and a script has each wait for
        its turn: the rank itself, which asks and reads in turn, or the neighbour that it answers.
        - asks: `clock` is its own, `delay` counts the meetings that moved the model since it was
          read, tau of the gradients;
        - answers: `worker` and `clock` are the asker's, `staleness` is by how many clocks this rank
          is behind it, 0 if it has ended, and the bytes are those of question and answer;
        - reads: `worker` is whom it had asked; elsewhere `delay` and `staleness` are -1.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from mpiddl.architecture import Station
from mpiddl.architecture.gate import Gate
from mpiddl.arrays import Array, namespace
from mpiddl.comm.engine import Task, Wait
from mpiddl.replica import Exchange

__all__ = ["PairwiseExchange"]

QUESTION, ANSWER = 0, 1  # tags


class PairwiseExchange(Exchange):
    """One lane on one rank.

    Parameters
    ----------
    station : Station
        The rank's side of the lane.
    asked : sequence of int array (clocks,)
        By worker, whom it asks after each of its clocks; (0,) if it has no neighbour.
    """

    def __init__(self, station: Station, asked: Sequence[Array]) -> None:
        lane, self.comm, self.me = station.lane, station.comm, station.comm.rank
        self.lane, self.engine, self.ledger = lane, station.engine, station.recorder.ledger
        self.place, script = (lane.bucket.index, self.me), station.recorder.script
        self.gate = Gate(None if script is None else script[self.place])
        self.xp = xp = namespace(lane.x)
        self.model, self.part = lane.x.copy(), xp.empty_like(lane.x)
        self.models, self.halves = station.line(lane.x), station.line(lane.x, shard=1)
        self.box = xp.empty(self.models.capacity, xp.uint8)
        self.asked, self.end = asked[self.me].tolist(), station.recorder.clocks[self.me]
        self.clock = -1  # the last that is in the model
        self.met = self.met_when_read = 0  # meetings in which this rank answered
        self.answers = [
            self.engine.start(self._answer(asker, clocks), f"meeting rank {asker}")
            for asker, whom in enumerate(asked)
            if (clocks := (whom == self.me).nonzero()[0].tolist())
        ]

    def push(self, clock: int, finite: bool) -> None:
        """Move the model and ask; what is not finite makes it so."""
        self.handle = self.engine.start(self._ask(clock), f"meeting of clock {clock}")

    def _ask(self, clock: int) -> Task[int]:
        """Return the bytes of the answer, 0 if there is nobody to ask."""
        yield self.gate.turn(self.me)
        self.model -= self.lane.delta
        self.clock = clock
        self._note(self.me, self.me, clock, self.met - self.met_when_read)
        if not self.asked:
            self.gate.over()
            return 0
        answer = self.comm.irecv(self.box, self.asked[clock], ANSWER)
        self.comm.isend(self.models.send(self.model), self.asked[clock], QUESTION)
        self.gate.over()
        yield answer
        return answer.nbytes

    def _answer(self, asker: int, clocks: Sequence[int]) -> Task[None]:
        box = self.xp.empty_like(self.box)
        for clock in clocks:
            question = self.comm.irecv(box, asker, QUESTION)
            yield question
            yield self.gate.turn(asker)
            theirs = self.models.receive(asker, box[: question.nbytes])
            self.xp.subtract(self.model, theirs, out=self.part)
            self.part *= 0.5
            payload = self.halves.send(self.part)
            self.model -= self.halves.said()
            self.met += 1
            row = self._note(asker, asker, clock, -1, question.nbytes)
            missing = min(clock + 1, self.end) - (self.clock + 1)
            self.ledger.answer(row, max(0, missing), payload.nbytes)
            answer = box[: payload.size]
            answer[...] = payload
            sent = self.comm.isend(answer, asker, ANSWER)
            self.gate.over()
            yield sent

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait for the answer; move to the model that was met, through the outer seat."""
        yield self.handle
        yield self.gate.turn(self.me)
        lane, whom = self.lane, self.asked[self.clock] if self.asked else self.me
        if self.asked:
            self.model += self.halves.receive(whom, self.box[: self.handle.value])
        self.xp.subtract(lane.anchor, self.model, out=self.part)
        lane.outer.apply(lane.anchor, self.part, self.clock)
        lane.x[...] = self.model[...] = lane.anchor
        self.met_when_read = self.met
        self._note(self.me, whom, self.clock, -1)
        self.gate.over()

    def _note(self, choice: int, worker: int, clock: int, delay: int, nbytes: int = 0) -> list[int]:
        return self.ledger.take_in(*self.place, choice, worker, clock, delay, nbytes)

    def close(self) -> Generator[Wait, None, None]:
        """Answer all who have yet to ask; x is then what the model has become."""
        yield self.answers
        self.lane.x[...] = self.lane.anchor[...] = self.model
