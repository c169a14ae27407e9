"""Backup workers: a round closes without the b slowest, whose words come with the next ones.

Source  Chen, Pan, Monga, Bengio & Jozefowicz, "Revisiting distributed synchronous SGD", 2016,
        Algorithms 3 and 4.  arXiv:1604.00981
Paper   worker i:  read x_t;  push g_i(x_t).
        server, round t:  x_{t+1} = x_t - gam/(n - b) (sum of the first n - b gradients of x_t);
        drop those of earlier rounds
Letters t `round` | b `spare` | those who are in it `joined` | D_i what worker i said | e_i `late`
Cost    an answer is 8 bytes longer: the round, and whether the push was in it. Who is late speaks
        in fewer rounds; how often, the ledger tells
Differs from the paper: a late push is lost at the end of a run only. Worker i says D_i = (its
displacement) + e_i; if that is not taken in, e_i <- D_i, else 0. It is answered at once with the
newest x, and the worker leaves out the rounds that are over on all servers. A number that is not
finite is never too late. Sums are made in rank order. In the ledger staleness is 0, as what is read
is the newest, and delay counts rounds: above 0 the push was late.
"""

from __future__ import annotations

from math import nan

from mpiddl.architecture import Station
from mpiddl.architecture.latecomer import HEAD
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.turns import Turns
from mpiddl.arrays import namespace
from mpiddl.comm import Request
from mpiddl.compression import Channel
from mpiddl.replica import finite

__all__ = ["Backup"]


class Backup(Turns):
    """The server. Everyone's next push is for the round after its last answer."""

    def __init__(self, station: Station, shard: Shard, down: Channel, spare: int) -> None:
        super().__init__(station, shard, down)
        self.spare, self.round = spare, 0
        self.reached = [-1] * len(self.clocks)  # the round of each worker's last answer
        self.joined: dict[int, tuple[list[int], Request]] = {}  # rows and pushes of this round
        xp, room = namespace(self.x), HEAD + self.lines[0].capacity
        self.letters = {worker: xp.empty(room, xp.uint8) for worker in self.boxes}
        self.news = -1, 0  # the head of what this rank's own worker is told
        self.listen()

    def expects(self, worker: int) -> bool:
        """Return whether `worker` has not heard of its last round."""
        return self.reached[worker] + 1 < self.clocks[worker]

    def take(self, worker: int, push: Request) -> None:
        """Take a push into its round, or send it back if that is over."""
        clock = self.reached[worker] + 1
        row = self.take_in(worker, clock, self.round - clock, push.nbytes)
        if clock < self.round:
            if not finite(self.heard(worker, push.nbytes)):
                self.x[...] = nan
            self._reply(worker, row, push, False)
            return
        self.joined[worker] = row, push
        active = sum(self.round < end for end in self.clocks)
        if len(self.joined) == max(1, active - self.spare):
            self._close()

    def _close(self) -> None:
        self.mean[...] = 0
        for worker in sorted(self.joined):
            self.mean += self.heard(worker, self.joined[worker][1].nbytes)
        self.mean /= len(self.joined)
        self.outer.apply(self.x, self.mean, self.round)
        self.round += 1
        joined, self.joined = self.joined, {}
        for worker, (row, push) in joined.items():
            self._reply(worker, row, push, True)
        self.hold(sum(min(self.round, end) for end in self.clocks))

    def _reply(self, worker: int, row: list[int], push: Request, taken: bool) -> None:
        self.reached[worker] = self.round - 1
        news, (line, payload) = (self.round - 1, int(taken)), self.say(self.lines[worker])
        if worker == self.comm.rank:
            self.news = news
        else:
            letter = self.letters[worker][: HEAD + payload.nbytes]
            head = letter[:HEAD].view("int32")
            head[0], head[1] = news
            letter[HEAD:] = payload
            payload = letter
        self.answer(worker, row, 0, line, payload)
        push.finish(push.nbytes)
