"""The simulated world: times to the bit, order of messages, refusals, explanations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpiddl.comm.simulated import Network, World
from mpiddl.errors import BufferMismatch, ConfigurationError, Deadlock, ProtocolError

UNIT = Network(alpha=1.0, beta=0.25, gamma=0.125)  # a float32 entry: 1 s to send, 1/2 s to add


def entries(count: int, value: float = 0.0) -> np.ndarray:
    return np.full(count, value, np.float32)


def run(programs, network=UNIT):
    """Run one generator function (comm, engine) per rank; return the results and the world."""
    world = World(len(programs), network)
    return world.run(lambda comm, engine: programs[comm.rank](comm, engine)), world


def sender(dest, count, *, after=0.0, tag=0, times=1):
    def program(comm, engine):
        yield comm.spend(after)
        for _ in range(times):
            yield comm.isend(entries(count, comm.rank), dest, tag)
        return comm.now()

    return program


def receiver(source, count, *, after=0.0, tag=0, times=1):
    def program(comm, engine):
        yield comm.spend(after)
        for _ in range(times):
            yield comm.irecv(entries(count), source, tag)
        return comm.now()

    return program


# ---------------------------------------------------------------------------------- the clock


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize(("early", "late"), [(0.0, 0.0), (2.0, 0.5), (0.5, 2.0)])
def test_a_message_starts_when_both_sides_are_there(count, early, late):
    ends, world = run([sender(1, count, after=early), receiver(0, count, after=late)])
    assert ends == [max(early, late) + 1.0 + count] * 2
    assert world.now == ends[0]


def test_a_rank_sends_one_message_at_a_time():
    def spread(comm, engine):
        yield [comm.isend(entries(3), 1), comm.isend(entries(3), 2)]

    ends, _ = run([spread, receiver(0, 3), receiver(0, 3)])
    assert ends[1:] == [4.0, 8.0]


def test_a_rank_receives_one_message_at_a_time():
    def collect(comm, engine):
        yield [comm.irecv(entries(3), 1), comm.irecv(entries(3), 2)]

    ends, _ = run([collect, sender(0, 3), sender(0, 3)])
    assert ends[1:] == [4.0, 8.0]


def test_a_rank_sends_and_receives_at_once():
    def swap(comm, engine):
        yield [comm.isend(entries(3), 1 - comm.rank), comm.irecv(entries(3), 1 - comm.rank)]
        return comm.now()

    assert run([swap, swap])[0] == [4.0, 4.0]


def test_ports_are_given_in_the_order_of_matching():
    # 0 -> 2 takes [0, 4]. 1 -> 2 matches next and waits for 2's port: [4, 8]; 1's own port is
    # then taken until 8, so that 1 -> 3, matched last, runs in [8, 12].
    def two(comm, engine):
        yield [comm.irecv(entries(3), 0), comm.irecv(entries(3), 1)]
        return comm.now()

    def one(comm, engine):
        yield [comm.isend(entries(3), 2), comm.isend(entries(3), 3)]
        return comm.now()

    assert run([sender(2, 3), one, two, receiver(1, 3)])[0] == [4.0, 12.0, 8.0, 12.0]


def test_additions_and_computations_take_their_time():
    def program(comm, engine):
        x, y = entries(4, 1.0), entries(4, 2.0)
        yield comm.add(x, y)
        assert comm.now() == 2.0
        yield comm.spend(1.5)
        return x

    (x,), world = run([program])
    np.testing.assert_array_equal(x, entries(4, 3.0))
    assert world.now == 3.5


def test_tasks_of_a_rank_do_not_compete_for_its_processor():
    def busy(comm):
        yield comm.spend(2.0)

    def program(comm, engine):
        yield [engine.start(busy(comm), str(i)) for i in range(3)]

    assert run([program])[1].now == 2.0


def test_what_takes_no_time_is_done_at_once():
    def program(comm, engine):
        assert comm.spend(0.0).done
        assert comm.add(entries(0), entries(0)).done
        return
        yield

    run([program])


def test_clock_and_traffic_go_on_from_run_to_run():
    world = World(2, UNIT)
    for turn in (1, 2):
        world.run(lambda comm, _: (receiver(0, 3) if comm.rank else sender(1, 3))(comm, None))
        assert world.now == 4.0 * turn
        assert world.communicators[0].traffic.sent.messages == turn


# ----------------------------------------------------------------------------------- messages


def test_messages_of_one_pair_and_tag_arrive_in_order_and_tags_and_lanes_keep_apart():
    def send(comm, engine):
        lane = comm.lane(1)
        yield [
            comm.isend(entries(1, 1.0), 1),
            comm.isend(entries(1, 2.0), 1, tag=5),
            lane.isend(entries(1, 3.0), 1),
            comm.uncounted().isend(entries(1, 4.0), 1),
            lane.lane(1).isend(entries(1, 5.0), 1),
            comm.isend(entries(1, 6.0), 1),
        ]

    def receive(comm, engine):
        got = entries(6)
        lane = comm.lane(1)
        yield [
            lane.lane(1).irecv(got[4:5], 0),
            comm.uncounted().irecv(got[3:4], 0),
            lane.irecv(got[2:3], 0),
            comm.irecv(got[1:2], 0, tag=5),
            comm.irecv(got[0:1], 0),
            comm.irecv(got[5:6], 0),
        ]
        return got.tolist()

    assert run([send, receive])[0][1] == [1, 2, 3, 4, 5, 6]


def test_a_shorter_message_tells_its_size_and_leaves_the_rest():
    def receive(comm, engine):
        buf = entries(5, 9.0)
        request = comm.irecv(buf, 0)
        yield request
        return request.nbytes, buf.tolist()

    assert run([sender(1, 2), receive])[0][1] == (8, [0, 0, 9, 9, 9])


def test_a_send_belongs_to_the_communicator_until_it_is_done():
    def hasty(comm, engine):
        buf = entries(1, 1.0)
        send = comm.isend(buf, 1)
        buf[0] = 2.0  # too early
        yield send
        buf[0] = 3.0  # allowed

    def receive(comm, engine):
        buf = entries(1)
        yield comm.irecv(buf, 0)
        yield comm.spend(1.0)
        return buf[0]

    assert run([hasty, receive])[0][1] == 2.0


def test_a_read_only_array_may_be_sent():
    def send(comm, engine):
        buf = entries(2, 1.0)
        buf.flags.writeable = False
        yield comm.isend(buf, 1)

    run([send, receiver(0, 2)])


@pytest.mark.parametrize(
    "buf",
    [
        np.zeros(8, np.float32)[::2],
        np.zeros(8, np.float32)[::-1],
        np.zeros((3, 3), np.float32),
        np.zeros((4, 3), np.float32)[:, 1],
        np.asfortranarray(np.zeros((2, 3), np.float32)),
        np.zeros((), np.float32),
    ],
    ids=["strided", "reversed", "matrix", "column", "fortran", "scalar"],
)
def test_only_flat_buffers_travel(buf):
    comm = World(2).communicators[0]
    for post in (comm.isend, comm.irecv):
        with pytest.raises(BufferMismatch, match="one-dimensional"):
            post(buf, 1)
    with pytest.raises(BufferMismatch, match="one-dimensional"):
        comm.add(buf, buf)
    assert comm.traffic.sent.messages == 0


def test_a_read_only_array_receives_nothing():
    comm = World(2).communicators[0]
    buf = entries(2)
    buf.flags.writeable = False
    with pytest.raises(BufferMismatch, match="read-only"):
        comm.irecv(buf, 1)
    with pytest.raises(BufferMismatch, match="read-only"):
        comm.add(buf, entries(2, 1.0))


@pytest.mark.parametrize(("after_send", "after_receive"), [(0.0, 1.0), (1.0, 0.0)])
def test_a_message_must_fit(after_send, after_receive):
    with pytest.raises(BufferMismatch, match="12 bytes meet room for 8") as caught:
        run([sender(1, 3, after=after_send), receiver(0, 2, after=after_receive)])
    assert "send to 1, tag 0" in str(caught.value)


def test_messages_are_typed():
    def receive(comm, engine):
        yield comm.irecv(np.zeros(3, np.float64), 0)

    with pytest.raises(ProtocolError, match="float32 meets float64"):
        run([sender(1, 3), receive])


@pytest.mark.parametrize(("peer", "tag"), [(0, 0), (2, 0), (-1, 0), (1, -1)])
def test_messages_to_nobody_to_oneself_or_without_a_tag_are_refused(peer, tag):
    comm = World(2).communicators[0]
    for post in (comm.isend, comm.irecv):
        with pytest.raises(ProtocolError, match="cannot exchange"):
            post(entries(1), peer, tag)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_time_does_not_go_back_nor_jump_to_the_end(seconds):
    with pytest.raises(ProtocolError, match="finite"):
        World(1).communicators[0].spend(seconds)


def test_wrong_worlds_are_refused():
    with pytest.raises(ConfigurationError, match="rank"):
        World(0)
    for costs in [(-1.0, 0.0), (0.0, -1.0), (0.0, 0.0, -1.0), (float("nan"), 0.0)]:
        with pytest.raises(ConfigurationError, match="network"):
            Network(*costs)
    with pytest.raises(ConfigurationError, match="only under MPI"):
        World(1).communicators[0].iallreduce(entries(1))


# ------------------------------------------------------------------------------------ traffic


def scatter(plan, log=None):
    """Let every rank post the messages (source, dest, entries, tag) of `plan`, and wait."""

    def program(comm, engine):
        requests = []
        for position, (source, dest, count, tag) in enumerate(plan):
            if comm.rank == source:
                requests.append(comm.isend(entries(count, position), dest, tag))
            elif comm.rank == dest:
                requests.append(comm.irecv(entries(9), source, tag))
        for request in requests:
            yield request
            if log is not None:
                log.append((comm.now(), comm.rank, request.label, request.nbytes))

    return program


messages = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9), st.integers(0, 1)).filter(
        lambda m: m[0] != m[1]
    ),
    max_size=20,
)


@given(messages)
def test_what_was_sent_to_a_rank_is_what_it_received(plan):
    _, world = run([scatter(plan)] * 4)
    for comm in world.communicators:
        sent = [4 * count for source, _, count, _ in plan if source == comm.rank]
        assert comm.traffic.sent.bytes == sum(sent)
        assert comm.traffic.sent.messages == len(sent)
        for other in world.communicators:
            assert comm.traffic.to[other.rank] == other.traffic.heard[comm.rank]


@given(messages)
def test_two_runs_are_alike_to_the_last_event(plan):
    logs: tuple[list, list] = ([], [])
    for log in logs:
        run([scatter(plan, log)] * 4)
    assert logs[0] == logs[1]
    assert all(one[0] <= two[0] for one, two in pairwise(logs[0]))


def test_uncounted_messages_take_no_time_and_are_counted_apart():
    def program(measure):
        def body(comm, engine):
            peer = 1 - comm.rank
            aside = comm.uncounted()
            for _ in range(3):
                if measure:
                    yield [aside.isend(entries(50, 1.0), peer), aside.irecv(entries(50), peer)]
                    yield aside.add(entries(9), entries(9))
                yield [comm.isend(entries(3), peer), comm.irecv(entries(3), peer)]
            return comm.now(), comm.traffic.sent.bytes, aside.traffic.sent.bytes

        return body

    plain, measured = (run([program(measure)] * 2)[0][0] for measure in (False, True))
    assert plain[:2] == measured[:2] == (12.0, 36)
    assert (plain[2], measured[2]) == (0, 600)


def test_uncounted_messages_do_not_wait_for_ports():
    def program(comm, engine):
        peer, aside = 1 - comm.rank, comm.uncounted()
        counted = [comm.isend(entries(3), peer), comm.irecv(entries(3), peer)]
        yield [aside.isend(entries(50), peer), aside.irecv(entries(50), peer)]
        assert comm.now() == 0.0
        yield counted
        return comm.now()

    assert run([program] * 2)[0] == [4.0, 4.0]


# ------------------------------------------------------------------------------- explanations


def test_a_deadlock_tells_who_waits_for_what():
    def ring(comm, engine):
        def listen():
            yield comm.irecv(entries(1), (comm.rank + 1) % 3, tag=7)

        def quorum():
            return False

        handle = engine.start(listen(), "ear")
        if comm.rank == 0:
            yield quorum
        elif comm.rank == 1:
            yield handle
        return

    with pytest.raises(Deadlock) as caught:
        run([ring] * 3)
    text = str(caught.value)
    assert "rank 0: ear waits for recv from 1, tag 7" in text
    assert "rank 0: main waits for condition" in text
    assert "quorum" in text
    assert "rank 1: main waits for task ear" in text
    assert "rank 2: ear waits for recv from 0, tag 7" in text


def test_a_deadlock_names_ended_ranks_lanes_and_unheard_sends():
    def send(comm, engine):
        comm.isend(entries(1), 1, tag=3)
        return
        yield

    def receive(comm, engine):
        yield [comm.spend(2.0), comm.lane(4).irecv(entries(1), 0, tag=2)]

    with pytest.raises(Deadlock) as caught:
        run([send, receive])
    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert lines[0].endswith("at 2.0 s")
    assert "rank 0: all tasks have ended" in lines
    assert "rank 1: main waits for recv from 0, tag 2, lane 4" in lines
    assert lines.index("rank 0: send to 1, tag 3") > lines.index("unanswered:")


def test_messages_that_nobody_hears_are_an_error_at_the_end():
    def send(comm, engine):
        comm.isend(entries(1), 1)
        return
        yield

    def deaf(comm, engine):
        return
        yield

    with pytest.raises(ProtocolError, match="rank 0: send to 1, tag 0"):
        run([send, deaf])


def test_sends_need_not_be_waited_for():
    def send(comm, engine):
        comm.isend(entries(3), 1)
        return comm.now()
        yield

    ends, world = run([send, receiver(0, 3)])
    assert ends == [0.0, 4.0]
    assert world.now == 4.0


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_an_exception_names_its_rank(delay):
    def fail(comm, engine):
        yield comm.spend(delay)
        raise ValueError("oops")

    def wait(comm, engine):
        yield comm.irecv(entries(1), 1)

    with pytest.raises(ValueError, match="oops") as caught:
        run([wait, fail])
    assert caught.value.__notes__ == [f"on simulated rank 1, at {delay} s"]


def test_a_task_that_polls_is_named_instead_of_hanging():
    def poll(comm, engine):
        while True:
            yield None

    with pytest.raises(ProtocolError, match="main: .* polls"):
        run([poll])


def test_giving_way_lets_the_other_tasks_move_at_the_same_instant():
    order = []

    def other(comm):
        order.append("other")
        yield comm.spend(0.0)

    def program(comm, engine):
        yield comm.spend(1.0)
        engine.start(other(comm), "other")
        yield None
        order.append(comm.now())

    run([program])
    assert order == ["other", 1.0]
