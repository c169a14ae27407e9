"""The real communicator: what travels, what is counted, what is refused, and how it ends."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from mpi4py import MPI

from mpiddl.comm.engine import Engine
from mpiddl.comm.mpi import TAGS, TYPES, MPICommunicator, opened
from mpiddl.errors import BufferMismatch, ConfigurationError, ProtocolError

pytestmark = pytest.mark.mpi
several = pytest.mark.mpi(min_size=2)


def neighbours(comm):
    return (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size


def around(comm, x, y, tag=0):
    """Send `x` to the next rank, receive `y` from the one before; return the bytes that came."""
    before, after = neighbours(comm)
    receive = comm.irecv(y, before, tag)
    yield [comm.isend(x, after, tag), receive]
    return receive.nbytes


def numbers(rank, size, dtype=np.float32):
    return (np.arange(size) % 50 + rank).astype(dtype)


@several
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [0, 1, 1000, 300_000])
def test_every_dtype_travels_and_is_counted(comm, run, dtype, size):
    before, after = neighbours(comm)
    x, y = numbers(comm.rank, size, dtype), np.zeros(size + 3, dtype)
    x.flags.writeable = False  # sending only reads
    nbytes = run(around(comm, x, y))
    assert nbytes == size * dtype.itemsize
    assert np.array_equal(y[:size], numbers(before, size, dtype))
    assert not y[size:].any()
    for count in (comm.traffic.to[after], comm.traffic.heard[before], comm.traffic.sent):
        assert (count.messages, count.bytes) == (1, nbytes)
    comm.reconcile()


@several
@pytest.mark.parametrize("room", [0, 1, 40])
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 32, 100])
def test_long_messages_travel_in_chunks_that_nobody_else_takes(size, room):
    with MPICommunicator(chunk_bytes=64) as comm:  # 16 entries
        before, after = neighbours(comm)
        x = numbers(comm.rank, size)
        y, short, again = np.zeros(size + room), np.zeros(2), np.zeros(size + room)
        y, short, again = (each.astype(np.float32) for each in (y, short, again))

        def task():
            receives = [comm.irecv(each, before) for each in (y, short, again)]
            for each in (x, x[:1], x):
                comm.isend(each, after)
            yield receives
            return [receive.nbytes for receive in receives]

        assert Engine(comm).run(task()) == [x.nbytes, x[:1].nbytes, x.nbytes]
        for each in (y, again):
            assert np.array_equal(each[:size], numbers(before, size))
            assert not each[size:].any()
        assert comm.traffic.received.messages == 2 * (size // 16 + 1) + 1
        comm.reconcile()


class Spy(MPI.Intracomm):
    """Notes the bytes of what is handed to MPI."""

    seen: list[int]

    def Isend(self, buf, dest, tag=0):  # noqa: N802
        self.seen.append(memoryview(buf[0]).nbytes)
        return super().Isend(buf, dest, tag)


@several
def test_counted_is_what_mpi_was_given(comm, run):
    spy = Spy(comm._raw)
    spy.seen, comm._raw = [], spy
    for size in (0, 1, 1000):
        run(around(comm, np.ones(size), np.zeros(size)))
        run(around(comm.lane(3), np.ones(size), np.zeros(size)))
    run(around(comm.uncounted(), np.ones(9), np.zeros(9)))
    assert spy.seen == [0, 0, 8, 8, 8000, 8000]
    assert (comm.traffic.sent.messages, comm.traffic.sent.bytes) == (6, sum(spy.seen))


@several
def test_what_was_lost_is_told_on_all_ranks(comm, run):
    run(around(comm, np.ones(5), np.zeros(5)))
    comm.reconcile()
    if comm.rank == 0:
        comm.isend(np.ones(2), 1)
    with pytest.raises(ProtocolError, match=r"rank 1 had .* bytes from rank 0"):
        comm.reconcile()
    if comm.rank == 1:
        run(wait(comm.irecv(np.ones(2), 0)))
    comm.reconcile()


def wait(request):
    yield request


@several
def test_users_messages_and_ours_never_meet(comm, run):
    before, after = neighbours(comm)
    ours, theirs = np.zeros(1), np.zeros(1)
    receive = comm.irecv(ours, before)
    user = MPI.COMM_WORLD.Irecv(theirs, MPI.ANY_SOURCE, MPI.ANY_TAG)
    comm.isend(np.full(1, 1.0), after)
    run(wait(receive))
    assert not user.Test()
    comm.rendezvous()
    MPI.COMM_WORLD.Send(np.full(1, 2.0), after, 0)
    user.Wait()
    assert (ours[0], theirs[0]) == (1, 2)


@several
def test_lanes_and_measurements_have_tags_of_their_own(comm, run):
    before, after = neighbours(comm)
    ways = [comm, comm.lane(0), comm.lane(1), comm.uncounted(), comm.uncounted().lane(1)]
    got = [np.zeros(1) for _ in ways]

    def task():
        receives = [way.irecv(y, before, 7) for way, y in zip(ways, got, strict=True)]
        for index, way in reversed(list(enumerate(ways))):
            way.isend(np.full(1, float(index)), after, 7)
        yield receives

    run(task())
    assert [y[0] for y in got] == [0, 1, 2, 3, 4]
    assert comm.traffic.sent.messages == 3
    assert comm.lane(5).traffic is comm.traffic


def test_tags_end_somewhere(comm):
    with pytest.raises(ConfigurationError, match="fewer buckets"):
        comm.lane(1 << 40)
    with pytest.raises(ProtocolError):
        comm.lane(1).lane(1)


@several
@pytest.mark.parametrize(
    "x",
    [
        np.zeros((2, 2)),
        np.zeros(4)[::2],
        np.zeros(4)[::-1],
        np.zeros(()),
        np.zeros(2, np.longdouble),
        np.zeros(2, np.complex64),
        np.zeros(2, bool),
        np.zeros(2, ">f4"),
        np.zeros(2, object),
        np.ma.zeros(2),
        [1.0, 2.0],
    ],
    ids=str,
)
def test_buffers_that_cannot_travel_are_refused(comm, x):
    for call in (comm.isend, comm.irecv):
        with pytest.raises(BufferMismatch):
            call(x, neighbours(comm)[1])
    assert not comm.traffic.sent.messages


@several
def test_the_error_names_the_dtype_and_read_only_targets_are_refused(comm):
    with pytest.raises(TypeError, match="complex64"):
        comm.isend(np.zeros(2, np.complex64), neighbours(comm)[1])
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    with pytest.raises(BufferMismatch, match="read-only"):
        comm.irecv(frozen, neighbours(comm)[1])


def test_messages_to_oneself_or_to_nobody_are_refused(comm):
    for peer, tag in ((comm.rank, 0), (comm.size, 0), (-1, 0)):
        with pytest.raises(ProtocolError):
            comm.isend(np.zeros(1), peer, tag)
    if comm.size > 1:
        for tag in (-1, TAGS):
            with pytest.raises(ProtocolError):
                comm.irecv(np.zeros(1), (comm.rank + 1) % comm.size, tag)


@several
def test_a_message_that_does_not_fit_is_an_error_that_names_it(comm, run):
    before, after = neighbours(comm)
    comm.isend(np.ones(9), after, 3)
    with pytest.raises(ProtocolError, match=f"recv from {before}, tag 3"):
        run(wait(comm.irecv(np.zeros(4), before, 3)))


def test_ranks_agree_or_all_learn_who_does_not(comm):
    comm.agree("the seed", 5)
    comm.agree("shapes", (np.float32, (3, 4)))
    if comm.size > 1:
        with pytest.raises(ConfigurationError, match=r"seed.*on rank 0;.*on rank") as caught:
            comm.agree("the seed", 0 if comm.rank == 0 else 1)
        assert len(set(MPI.COMM_WORLD.allgather(str(caught.value)))) == 1


@several
def test_differing_options_are_refused_on_all_ranks():
    with pytest.raises(ConfigurationError, match="chunk_bytes"):
        MPICommunicator(chunk_bytes=64 if MPI.COMM_WORLD.rank else 128)


@pytest.mark.parametrize("options", [{"chunk_bytes": 12}, {"chunk_bytes": 0}, {"staging": "no"}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ConfigurationError):
        MPICommunicator(**options)


def test_gather(comm):
    everyone = comm.gather(comm.rank**2)
    assert everyone == ([r**2 for r in range(comm.size)] if comm.rank == 0 else None)


@several
def test_who_waits_leaves_the_core(comm, run):
    for wait_for_all in (comm.rendezvous, lambda: run(around(comm, np.ones(1), np.ones(1)))):
        comm.rendezvous()
        used = time.process_time()
        if comm.rank == 0:
            time.sleep(0.5)
        wait_for_all()
        assert time.process_time() - used < 0.25


def test_time_passes(comm, run):
    def task():
        start = comm.now()
        yield [comm.spend(0.05), comm.spend(0.02)]
        return comm.now() - start

    used = time.process_time()
    assert 0.05 <= run(task()) < 1
    assert time.process_time() - used < 0.04
    assert comm.spend(0).done
    assert comm.spend(-1.0).done


def test_add_is_in_place_and_done(comm):
    x = np.ones(3)
    assert comm.add(x, x).done
    assert x.tolist() == [2, 2, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_mpis_own_sum(comm, run, dtype):
    x = numbers(comm.rank, 10, dtype)
    run(wait(comm.iallreduce(x)))
    assert np.array_equal(x, sum(numbers(rank, 10, dtype) for rank in range(comm.size)))
    assert not comm.traffic.sent.messages
    with pytest.raises(BufferMismatch):
        comm.iallreduce(np.zeros(3, np.float16))


@several
def test_parts_have_ranks_and_traffic_of_their_own_and_one_engine(comm, run):
    part = comm.split(comm.rank % 2)
    assert part.size == len(range(comm.rank % 2, comm.size, 2))
    assert part.rank == comm.rank // 2
    y = np.zeros(1)
    if part.size > 1:
        run(around(part, np.full(1, float(comm.rank)), y))
        assert y[0] == (part.rank - 1) % part.size * 2 + comm.rank % 2
    listening = comm.irecv(np.zeros(1), neighbours(comm)[0])
    part.close()
    comm.isend(np.zeros(1), neighbours(comm)[1])
    run(wait(listening))
    assert comm.traffic.sent.messages == 1


@several
def test_close_completes_sends_that_nobody_waited_for():
    with MPICommunicator() as comm:
        y = np.zeros(1 << 18)
        if comm.rank == 0:
            comm.isend(np.ones(1 << 18), 1)  # too long to be buffered, and garbage but for us
        elif comm.rank == 1:
            time.sleep(0.1)
            Engine(comm).run(wait(comm.irecv(y, 0)))
            assert y.all()
    comm.close()  # again


@several
def test_a_send_that_nobody_receives_is_reported(comm, run):
    if comm.rank == 0:
        comm.isend(np.ones(1 << 18), 1, 5)
        with pytest.raises(ProtocolError, match="never received: send to 1, tag 5"):
            comm._transfers.drain(comm._raw, limit=0.2)
    comm.rendezvous()
    if comm.rank == 1:
        run(wait(comm.irecv(np.ones(1 << 18), 0, 5)))


@several
def test_receives_that_nobody_answers_do_not_hang_the_end():
    with MPICommunicator() as comm:
        comm.irecv(np.zeros(3), neighbours(comm)[0])


def test_an_exception_is_not_held_up_by_closing():
    def fail():
        with MPICommunicator() as comm:
            if comm.size > 1:
                comm.isend(np.ones(1 << 18), neighbours(comm)[1])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def test_opened_closes_what_it_made_and_nothing_else(comm):
    with opened(comm) as same:
        assert same is comm
    comm.rendezvous()
    with opened(MPI.COMM_WORLD) as ours:
        ours.rendezvous()
    assert ours._raw == MPI.COMM_NULL


def test_who_is_outside_and_what_is_closed_are_refused():
    with MPICommunicator() as closed:
        pass
    for nothing in (closed, MPI.COMM_NULL):
        with pytest.raises(ConfigurationError, match="COMM_NULL"), opened(nothing):
            pass


def test_it_says_what_it_runs_on(comm):
    assert comm.thread_level in ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")
    assert "MPI" in comm.library
    assert "\n" not in comm.library
    assert comm.crowding * (os.cpu_count() or 1) >= comm.size
