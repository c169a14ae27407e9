"""Looks at MPI are few and find everything, with an MPI that exists only here."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from mpiddl.comm import Traffic
from mpiddl.comm.messages import Incoming, Line, Outgoing, chunks, require_chunk
from mpiddl.comm.transfers import LOOK, Transfers
from mpiddl.errors import ConfigurationError, ProtocolError


class Posted:
    """A request of the fake MPI, and its status: it has ended once `came` is set."""

    def __init__(self, room=0):
        self.room, self.came, self.null = room, None, False

    def __bool__(self):
        return not self.null

    def Get_count(self):  # noqa: N802
        return self.came


class FakeMPI:
    def __init__(self):
        self.looks, self.posted, self.fails = 0, [], False

    def testsome(self, requests, statuses):
        self.looks += 1
        found = [i for i, r in enumerate(requests) if r.came is not None and not r.null]
        statuses[: len(found)] = [requests[i] for i in found]
        for i in found:
            requests[i].null = True
        if self.fails:
            raise RuntimeError("truncated")
        return found

    def Irecv(self, message, source, tag):  # noqa: N802
        self.posted.append(Posted(message[0].nbytes))
        return self.posted[-1]


@pytest.fixture
def mpi():
    return FakeMPI()


@pytest.fixture
def transfers(mpi):
    return Transfers(mpi.testsome, crowding=16)


def look(transfers):
    """Look for sure, as a rank does that waits."""
    transfers._look_at = 0.0
    return transfers.progress()


def test_while_something_else_moves_looks_are_far_apart(mpi, transfers):
    transfers.watch(Posted(), Outgoing("send", None))
    start = time.perf_counter()
    for _ in range(1000):
        transfers.progress()
    assert 1 <= mpi.looks <= (time.perf_counter() - start) / LOOK + 2


@pytest.mark.parametrize("crowding", [1, 2, 16])
def test_who_waits_looks_at_once_and_long_waits_sleep(mpi, crowding):
    transfers = Transfers(mpi.testsome, crowding)
    transfers.watch(Posted(), Outgoing("send", None))
    for _ in range(20):
        transfers.idle()
    assert mpi.looks >= 10
    used, start = time.process_time(), time.perf_counter()
    while time.perf_counter() < start + 0.2:
        transfers.idle()
    assert time.process_time() - used < 0.12


def test_a_wait_after_work_begins_awake(mpi, monkeypatch):
    transfers = Transfers(mpi.testsome, crowding=1)
    transfers.watch(Posted(), Outgoing("send", None))
    for _ in range(5000):  # work: something else moves, so nobody is idle
        look(transfers)
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    for _ in range(10):
        transfers.idle()
    assert not slept


@pytest.mark.parametrize("crowding", [0.5, 1, 2, 4])
def test_who_waits_finds_what_ends_without_sleeping(mpi, monkeypatch, crowding):
    transfers = Transfers(mpi.testsome, crowding)
    posted, send = Posted(), Outgoing("send", None)
    transfers.watch(posted, send)
    looks = iter(range(10))

    def give_way():
        if next(looks) == 7:  # another rank did its part while it had the core
            posted.came = 0

    monkeypatch.setattr("mpiddl.comm.transfers._give_way", give_way)
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("slept"))
    transfers.idle()
    assert send.done


def test_in_a_crowd_who_waits_sleeps_at_once(mpi, monkeypatch):
    transfers, slept = Transfers(mpi.testsome, crowding=16), []
    transfers.watch(Posted(), Outgoing("send", None))
    monkeypatch.setattr("mpiddl.comm.transfers._give_way", lambda: pytest.fail("spun"))
    monkeypatch.setattr(time, "sleep", slept.append)
    transfers.idle()
    assert slept


def test_everything_that_ends_is_found_in_any_order(transfers):
    chance = random.Random(0)
    under_way, sends = [], []
    for _ in range(300):
        for _ in range(chance.randrange(4)):
            sends.append(Outgoing(f"send {len(sends)}", None, parts=chance.randrange(1, 4)))
            for _ in range(sends[-1].parts):
                under_way.append((Posted(), sends[-1]))
                transfers.watch(*under_way[-1])
        chance.shuffle(under_way)
        ended = [under_way.pop() for _ in range(min(len(under_way), chance.randrange(6)))]
        before = {id(send): send.parts for _, send in ended}
        for request, _ in ended:
            request.came = 0
        assert look(transfers) == bool(ended)
        for _, send in ended:
            assert send.parts == before[id(send)] - [s for _, s in ended].count(send)
    assert {send for _, send in under_way} == {send for send in sends if not send.done}
    assert any(send.done for send in sends)


def test_a_long_receive_keeps_its_line_to_itself(mpi, transfers):
    traffic = Traffic()
    line, other = (Line(mpi, None, source, 0, traffic) for source in (1, 2))
    first, second = (Incoming(line, np.zeros(5), 16) for _ in range(2))
    short, elsewhere = (Incoming(each, np.zeros(1), 16) for each in (line, other))
    for incoming in (first, short, second, elsewhere):
        transfers.receive(incoming)
    assert [request.room for request in mpi.posted] == [16, 8]  # first and elsewhere
    for index, nbytes in ((0, 16), (2, 16), (3, 0)):  # four entries: the last chunk is empty
        assert not first.done
        mpi.posted[index].came = nbytes
        look(transfers)
    assert first.done
    assert first.nbytes == 32
    assert [request.room for request in mpi.posted[4:]] == [8, 16]  # short and second
    assert traffic.received.messages == 3


def test_failures_name_the_operation(mpi, transfers):
    transfers.watch(Posted(), Outgoing("innocent", None))
    guilty = Posted()
    transfers.watch(guilty, Outgoing("guilty", None))
    guilty.came, mpi.fails = 0, True
    with pytest.raises(ProtocolError, match="failed in: guilty: truncated"):
        look(transfers)


def test_timers_end_in_time_order(transfers):
    late, soon = transfers.timer(0.02), transfers.timer(0.01)
    assert not transfers.progress()
    while not soon.done:
        transfers.idle()
    assert not late.done
    time.sleep(0.02)
    assert transfers.progress()
    assert late.done


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 100])
@pytest.mark.parametrize("chunk_bytes", [8, 64])
def test_pieces_are_full_but_for_the_last(size, chunk_bytes):
    x = np.arange(size, dtype=np.float64)
    pieces = chunks(x, chunk_bytes)
    assert np.array_equal(np.concatenate(pieces), x)
    assert all(piece.nbytes == chunk_bytes for piece in pieces[:-1])
    assert pieces[-1].nbytes < chunk_bytes
    assert all(np.shares_memory(piece, x) for piece in pieces if piece.size)


@pytest.mark.parametrize("chunk_bytes", [0, -8, 12, 1 << 31])
def test_impossible_chunks_are_refused(chunk_bytes):
    with pytest.raises(ConfigurationError, match="multiple of 8"):
        require_chunk(chunk_bytes)
