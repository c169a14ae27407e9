"""The same collectives under MPI: the bits and the counts of the simulated world."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.comm.collectives import allgathers, allreduces, collective, double_tree
from mpiddl.comm.collectives.barrier import barrier
from mpiddl.comm.engine import Engine
from mpiddl.comm.simulated import World
from mpiddl.errors import BufferMismatch

pytestmark = pytest.mark.mpi

NAMES = sorted(set(allreduces) - {"native"})
SIZES = [0, 1, 7, 8, 64, 1000, 100_000]


def floats(n, b, dtype):
    """Vectors whose sums depend on the order, alike on every rank."""
    random = np.random.default_rng([n, b])
    return (random.normal(size=(n, b)) * 10.0 ** random.integers(-3, 4, (n, b))).astype(dtype)


def counts(traffic):
    """Messages and bytes by peer, sent and received; peers with whom nothing happened left out."""
    return {
        way: {peer: (c.messages, c.bytes) for peer, c in by_peer.items() if c.messages}
        for way, by_peer in (("sent", traffic.to), ("received", traffic.heard))
    }


def fresh(comm, index):
    """Return a lane with tags of its own whose traffic starts at nothing."""
    return comm.lane(index).uncounted()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_bits_and_counts_are_those_of_the_simulated_world(comm, name, dtype):
    for index, b in enumerate(SIZES):
        vectors = floats(comm.size, b, dtype)
        aside = fresh(comm, index)
        x = vectors[comm.rank].copy()
        Engine(comm).run(allreduces[name](aside, x))
        results = vectors.copy()
        world = World(comm.size)
        world.run(lambda c, _, rows=results: allreduces[name](c, rows[c.rank]))
        assert x.tobytes() == results[comm.rank].tobytes(), f"b = {b}"
        assert counts(aside.traffic) == counts(world.communicators[comm.rank].traffic), f"b = {b}"


@pytest.mark.parametrize("piece", [4096, 100_000])
def test_a_double_tree_in_pieces(comm, piece):
    for index, b in enumerate([0, 5, 10_000]):
        vectors, aside = floats(comm.size, b, np.float64), fresh(comm, index)
        x, results = vectors[comm.rank].copy(), vectors.copy()
        Engine(comm).run(double_tree.allreduce(aside, x, piece=piece))
        world = World(comm.size)
        world.run(lambda c, _, rows=results: double_tree.allreduce(c, rows[c.rank], piece=piece))
        assert x.tobytes() == results[comm.rank].tobytes()
        assert counts(aside.traffic) == counts(world.communicators[comm.rank].traffic)


@pytest.mark.parametrize("name", ["torus", "hierarchical"])
def test_groups_of_every_size(comm, name):
    sizes = [group for group in range(1, comm.size + 1) if comm.size % group == 0]
    for index, group in enumerate(sizes):
        vectors, algorithm = floats(comm.size, 1000, np.float32), collective(f"{name}:{group}")
        aside, x, results = fresh(comm, index), vectors[comm.rank].copy(), vectors.copy()
        Engine(comm).run(algorithm(aside, x))
        world = World(comm.size)
        world.run(lambda c, _, rows=results, f=algorithm: f(c, rows[c.rank]))
        assert x.tobytes() == results[comm.rank].tobytes()
        assert counts(aside.traffic) == counts(world.communicators[comm.rank].traffic)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_native_sum_is_right_and_not_counted(comm, dtype):
    before = comm.traffic.sent.messages
    for b in SIZES:
        x = np.arange(b, dtype=dtype) * (comm.rank + 1)
        Engine(comm).run(allreduces["native"](comm, x))
        expected = np.arange(b, dtype=dtype) * (comm.size * (comm.size + 1) // 2)
        np.testing.assert_array_equal(x, expected)
    assert comm.traffic.sent.messages == before


@pytest.mark.parametrize("name", NAMES)
def test_vectors_that_cannot_travel_are_refused_before_any_message(comm, name):
    read_only = np.ones(8, np.float32)
    read_only.flags.writeable = False
    before = comm.traffic.sent.messages
    for x in (np.ones(8)[::2], np.ones(8)[::-1], np.ones((2, 4)), np.ones((4, 3))[:, 1], read_only):
        with pytest.raises(BufferMismatch):
            Engine(comm).run(allreduces[name](comm, x))
        assert (x == 1).all()
    assert comm.traffic.sent.messages == before


@pytest.mark.parametrize("name", sorted(allgathers))
def test_allgather_of_payloads_of_any_size(comm, name):
    for turn in range(4):
        sizes = [(7 * rank + turn) % 5 for rank in range(comm.size)]
        out = np.full((comm.size, 6), 255, np.uint8)
        mine = np.full(sizes[comm.rank], comm.rank, np.uint8)
        assert Engine(comm).run(allgathers[name](comm, mine, out)) == sizes
        for rank, (row, size) in enumerate(zip(out, sizes, strict=True)):
            assert row.tolist() == [rank] * size + [255] * (6 - size)


def test_a_late_rank_holds_everybody_at_the_barrier(comm):
    def program():
        for late in range(comm.size):
            yield from barrier(comm)
            came = comm.now()
            if comm.rank == late:
                yield comm.spend(0.1)
            yield from barrier(comm)
            assert comm.now() - came > 0.05  # half: ranks do not leave the first one together

    Engine(comm).run(program())


@pytest.mark.parametrize("name", NAMES)
def test_collectives_in_different_lanes_run_side_by_side(comm, name):
    sizes = [5, 0, 4000, 17]
    xs = [np.full(b, comm.rank + 1.0, np.float32) for b in sizes]
    engine = Engine(comm)

    def program():
        order = range(len(sizes)) if comm.rank % 2 else reversed(range(len(sizes)))
        yield [engine.start(allreduces[name](comm.lane(i), xs[i]), f"lane {i}") for i in order]

    engine.run(program())
    for x in xs:
        assert (x == comm.size * (comm.size + 1) // 2).all()
