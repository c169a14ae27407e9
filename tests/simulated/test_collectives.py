"""Collectives: right to the bit, and as dear as the formulas say to the last message and second."""

from __future__ import annotations

from functools import partial
from math import ceil, isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpiddl.comm.collectives import allgathers, allreduces, collective
from mpiddl.comm.collectives.barrier import barrier
from mpiddl.comm.collectives.trees import edges
from mpiddl.comm.simulated import Network, World
from mpiddl.errors import BufferMismatch, ConfigurationError
from theory import cost as theory
from theory.cost import ALLGATHER, ALLREDUCE, BARRIER
from theory.cost.sums import double_tree

NAMES = sorted(ALLREDUCE)
# Sums in an order that does not depend on the position:
ANYWHERE = sorted(set(NAMES) - {"ring", "torus", "hierarchical", "double_tree"})
RANKS = [*range(1, 18), 32]
SIZES = [0, 1, 2, 7, 64, 1000]
DYADIC = Network(2.0**-10, 2.0**-20, 2.0**-23)  # powers of two: every time is exact


def integers(n, b, dtype):
    """Vectors whose sums are exact in any order."""
    return np.random.default_rng([n, b]).integers(-99, 100, (n, b)).astype(dtype)


def floats(n, b, dtype=np.float32, seed=0):
    """Vectors whose sums depend on the order."""
    random = np.random.default_rng([seed, n, b])
    return (random.normal(size=(n, b)) * 10.0 ** random.integers(-3, 4, (n, b))).astype(dtype)


def allreduce(algorithm, vectors, network=DYADIC):
    """Sum one vector per rank; return what every rank has in the end, and the world."""
    results = [vector.copy() for vector in vectors]
    world = World(len(results), network)
    world.run(lambda comm, _: algorithm(comm, results[comm.rank]))
    return results, world


def cost(world):
    """Messages and bytes of all ranks together, and seconds."""
    sent = [comm.traffic.sent for comm in world.communicators]
    return sum(each.messages for each in sent), sum(each.bytes for each in sent), world.now


def predicted(formula, n, b, w, network=DYADIC):
    at = formula.at(n=n, b=b, w=w, al=network.alpha, be=network.beta, ga=network.gamma)
    return at.messages, at.bytes, at.time


def seconds_by_hand(name, n, b, w, network=DYADIC):
    """Length of the critical path, counted step by step."""

    def hop(count):
        return network.alpha + network.beta * count * w

    def add(count):
        return network.gamma * count * w

    def by_hand(name, n, b):
        return seconds_by_hand(name, n, b, w, network)

    k, rounds = n.bit_length() - 1, (n - 1).bit_length()
    fold = (2 * hop(b) + add(b)) * (n != 2**k)
    if name == "naive":
        return sum(hop(b) + add(b) + hop(b) for _ in range(1, n))
    if name == "ring":
        return sum(2 * hop(ceil(b / n)) + add(ceil(b / n)) for _ in range(1, n))
    if name == "recursive_doubling":
        return k * (hop(b) + add(b)) + fold
    if name == "halving_doubling":
        windows = [ceil(b / 2**i) for i in range(1, k + 1)]
        return sum(2 * hop(c) + add(c) for c in windows) + fold
    if name in ("torus", "hierarchical"):
        side = max(g for g in range(1, isqrt(n) + 1) if n % g == 0)
        between = "ring" if name == "torus" else "halving_doubling"
        return by_hand("ring", side, b) + by_hand(between, n // side, ceil(b / side))
    assert name == "tree"
    return rounds * (2 * hop(b) + add(b))


# ------------------------------------------------------------------------------ all-reduces


def test_every_all_reduce_is_tested():
    assert set(allreduces) == {*NAMES, "native"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("name", NAMES)
def test_sum_and_cost_are_exact(name, n, dtype):
    for b in SIZES:
        vectors = integers(n, b, dtype)
        results, world = allreduce(allreduces[name], vectors)
        for result in results:
            assert result.dtype == dtype
            np.testing.assert_array_equal(result, vectors.sum(0))
        w = vectors.itemsize
        assert cost(world) == predicted(ALLREDUCE[name], n, b, w), f"b = {b}"
        if name != "double_tree":  # no closed form: see below
            assert world.now == seconds_by_hand(name, n, b, w), f"b = {b}"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("name", NAMES)
def test_all_ranks_end_with_the_same_bits(name, n, dtype):
    vectors = floats(n, 37, dtype)
    results, _ = allreduce(allreduces[name], vectors)
    assert len({result.tobytes() for result in results}) == 1
    scale = np.abs(vectors.astype(np.longdouble)).sum(0)
    ulp = n * np.finfo(dtype).eps
    assert (np.abs(results[0] - vectors.astype(np.longdouble).sum(0)) <= ulp * scale).all()


@pytest.mark.parametrize(
    "network",
    [
        Network(2.0**-10, 0.0),
        Network(0.0, 2.0**-20),
        Network(0.0, 0.0, 2.0**-23),
        Network(0.0, 0.0),
    ],
    ids=["alpha", "beta", "gamma", "free"],
)
@pytest.mark.parametrize("name", NAMES)
def test_cost_at_the_limits_of_the_model(name, network):
    for n, b in [(1, 5), (3, 0), (3, 5), (100, 7)]:
        results, world = allreduce(allreduces[name], integers(n, b, np.float32), network)
        np.testing.assert_array_equal(results[-1], integers(n, b, np.float32).sum(0))
        assert cost(world) == predicted(ALLREDUCE[name], n, b, 4, network)


def whole_vector_ring(comm, x, tag=0):
    """A ring without blocks: the sum is right, the bytes are not."""
    n, rank = comm.size, comm.rank
    passing, scratch = x.copy(), np.empty_like(x)
    for step in range(2 * (n - 1)):
        yield [comm.irecv(scratch, (rank - 1) % n, tag), comm.isend(passing, (rank + 1) % n, tag)]
        passing[:] = scratch
        if step < n - 1:
            yield comm.add(x, scratch)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_a_ring_of_whole_vectors_is_found_out(n):
    vectors = integers(n, 64, np.float32)
    results, world = allreduce(whole_vector_ring, vectors)
    np.testing.assert_array_equal(results[0], vectors.sum(0))
    messages, nbytes, seconds = predicted(ALLREDUCE["ring"], n, 64, 4)
    assert cost(world)[0] == messages
    assert cost(world)[1] == n * nbytes
    assert cost(world)[2] > seconds


@pytest.mark.parametrize("n", [1, 4])  # on one rank nothing travels, but the answer is the same
@pytest.mark.parametrize("b", [1, 3, 8])  # also where the blocks of a ring are single entries
@pytest.mark.parametrize("name", NAMES)
def test_vectors_that_cannot_travel_are_refused_and_left_alone(name, b, n):
    read_only = np.ones(b, np.float32)
    read_only.flags.writeable = False
    wrong = {
        "read-only": read_only,
        "matrix": np.ones((b, 2), np.float32),
        "fortran": np.ones((2, b + 1), np.float32, order="F"),
    }
    if b > 1:
        wrong["strided"] = np.ones(2 * b, np.float32)[::2]
        wrong["reversed"] = np.ones(b, np.float32)[::-1]
        wrong["column"] = np.ones((b, 3), np.float64)[:, 1]
    for kind, x in wrong.items():
        with pytest.raises(BufferMismatch):
            World(n).run(lambda comm, _, x=x: allreduces[name](comm, x))
        assert (x == 1).all(), kind


def test_the_native_sum_exists_only_under_mpi():
    with pytest.raises(ConfigurationError, match="only under MPI"):
        World(2).run(lambda comm, _: allreduces["native"](comm, np.ones(3, np.float32)))


# --------------------------------------------------------------------- groups, pieces, trees


@pytest.mark.parametrize("name", ["torus", "hierarchical"])
@pytest.mark.parametrize("n", [1, 2, 6, 12, 16])
def test_groups_of_any_divisor(name, n):
    for group in (g for g in range(1, n + 1) if n % g == 0):
        text = f"{name}:{group}"
        for b in (0, 5, 64):
            vectors = integers(n, b, np.float32)
            results, world = allreduce(collective(text, n), vectors)
            np.testing.assert_array_equal(results, [vectors.sum(0)] * n)
            assert cost(world) == predicted(theory.allreduce(text), n, b, 4), f"{text}, b = {b}"


@pytest.mark.parametrize("name", ["torus", "hierarchical"])
def test_groups_that_do_not_divide_are_refused_before_any_message(name):
    for text, n, remedy in [(f"{name}:4", 7, "on 4 or 8 ranks"), (f"{name}:5", 3, "on 5 ranks")]:
        with pytest.raises(ConfigurationError, match=remedy):
            collective(text, n)
        world = World(n)
        with pytest.raises(ConfigurationError, match=remedy):
            world.run(lambda comm, _, t=text: collective(t)(comm, np.ones(3, np.float32)))
        assert cost(world) == (0, 0, 0.0)


def test_texts_of_collectives_that_make_no_sense_are_refused():
    for text in ("hierarchical:0", "hierarchical:-2", "hierarchical:2.5", "torus:", "torus:x"):
        with pytest.raises(ConfigurationError, match="at least 1 rank"):
            collective(text)
    with pytest.raises(ConfigurationError, match="ring forms no groups"):
        collective("ring:4")
    with pytest.raises(ConfigurationError, match="no all-reduce is called 'rings'"):
        collective("rings:4")


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("piece", [1, 40, 64])
def test_double_tree_in_pieces(n, piece):
    for b in (0, 1, 2, 7, 64):
        vectors = integers(n, b, np.float32)
        algorithm = partial(allreduces["double_tree"], piece=max(piece, 4))
        results, world = allreduce(algorithm, vectors)
        np.testing.assert_array_equal(results, [vectors.sum(0)] * n)
        assert cost(world) == predicted(double_tree(max(piece, 4)), n, b, 4), f"b = {b}"
        pieces = cost(world)[0] // max(4 * (n - 1), 1)
        if n > 1:
            hop = DYADIC.alpha + 4 * ceil(ceil(b / 2) / pieces) * DYADIC.beta
            addition = 4 * ceil(ceil(b / 2) / pieces) * DYADIC.gamma
            steps = 2 * pieces + 2 * (n.bit_length() - 1) - 2
            assert world.now <= steps * (2 * hop + addition)


def overfull(found, n):
    """Say who would send or hear two pieces in one step, or is an inner rank of both trees."""
    wrong = []
    for way in ("up", "down"):
        ends = [(getattr(edge, way) % 2, edge) for edge in found]
        for role in ("child", "parent"):
            used = [(colour, getattr(edge, role)) for colour, edge in ends]
            wrong += [f"{way} {each}" for each in set(used) if used.count(each) > 1]
    inner = [{edge.parent for edge in found if edge.tree == tree} for tree in (0, 1)]
    return wrong + [f"rank {rank} is inner twice" for rank in inner[0] & inner[1]]


@pytest.mark.parametrize("n", [*range(1, 40), 100])
def test_edges_of_two_trees(n):
    found = edges(n)
    assert not overfull(found, n)
    for tree in (0, 1):
        above = {edge.child: edge.parent for edge in found if edge.tree == tree}
        assert len(above) == n - 1
        for rank in range(n):
            depth = 0
            while rank in above:
                rank, depth = above[rank], depth + 1
            assert depth <= n.bit_length() - 1
    assert n == 1 or max(max(e.up, e.down) for e in found) < 2 * (n.bit_length() - 1)


def test_edges_of_one_colour_are_found_out():
    assert overfull([edge._replace(up=0) for edge in edges(5)], 5)
    assert overfull([edge._replace(tree=1 - edge.tree) for edge in edges(4)] + list(edges(4)), 4)


# ------------------------------------------------------------------------- the order of sums


@given(st.data())
def test_cutting_the_vector_changes_no_bit(data):
    name = data.draw(st.sampled_from(ANYWHERE))
    n = data.draw(st.integers(2, 9))
    cuts = sorted(data.draw(st.lists(st.integers(0, 23), max_size=4)))
    vectors = floats(n, 23, seed=data.draw(st.integers(0, 9)))
    whole, _ = allreduce(allreduces[name], vectors)
    pieces = [
        allreduce(allreduces[name], vectors[:, start:stop])[0][0]
        for start, stop in zip([0, *cuts], [*cuts, 23], strict=True)
    ]
    assert np.concatenate(pieces).tobytes() == whole[0].tobytes()


def test_cutting_changes_the_bits_of_a_ring():
    vectors = floats(4, 23)
    whole, _ = allreduce(allreduces["ring"], vectors)
    pieces = [allreduce(allreduces["ring"], part)[0][0] for part in np.split(vectors, [5], axis=1)]
    assert np.concatenate(pieces).tobytes() != whole[0].tobytes()


@pytest.mark.parametrize("n", RANKS)
def test_doubling_and_halving_add_in_the_same_order(n):
    vectors = floats(n, 50)
    halved, doubled = (
        allreduce(allreduces[name], vectors)[0][0]
        for name in ("halving_doubling", "recursive_doubling")
    )
    assert halved.tobytes() == doubled.tobytes()


@pytest.mark.parametrize("n", RANKS)
def test_naive_adds_in_the_order_of_ranks(n):
    vectors = floats(n, 50)
    total = vectors[0].copy()
    for vector in vectors[1:]:
        total += vector
    assert allreduce(allreduces["naive"], vectors)[0][0].tobytes() == total.tobytes()


# ------------------------------------------------------------------ message by message, n = 3


class Spy:
    """A communicator that notes what is handed to it."""

    def __init__(self, comm, notes):
        self.comm, self.notes = comm, notes

    def __getattr__(self, name):
        return getattr(self.comm, name)

    def isend(self, buf, dest, tag=0):
        self.notes.append((self.comm.now(), self.comm.rank, dest, buf.tolist()))
        return self.comm.isend(buf, dest, tag)


def traced(text, vectors):
    """Messages as (when posted, source, dest, entries), and the end; an entry takes 1 s to send
    and 1 s to add, a message 1 s more."""
    notes: list[tuple] = []
    _, world = allreduce(
        lambda comm, x: collective(text)(Spy(comm, notes), x),
        np.array(vectors, np.float32),
        Network(1.0, 0.25, 0.25),
    )
    return sorted(notes), world.now


@pytest.mark.parametrize("text", ["ring", "torus", "torus:3", "hierarchical:3"])
def test_ring_of_three_message_by_message(text):
    # Blocks: entries 0 and 1, entry 2, entry 3.
    messages, end = traced(text, [[1, 2, 3, 4], [10, 20, 30, 40], [100, 200, 300, 400]])
    assert messages == [
        (0, 0, 1, [1, 2]),  # 0..3; rank 1 adds until 5
        (0, 1, 2, [30]),  # 0..2; rank 2 adds until 3
        (0, 2, 0, [400]),  # 0..2; rank 0 adds until 3, as it sends
        (3, 0, 1, [404]),  # 5..7; rank 1 adds until 8, as it sends
        (3, 2, 0, [330]),  # 3..5; rank 0 adds until 6, sends until 7
        (5, 1, 2, [11, 22]),  # 5..8; rank 2 adds until 10
        (7, 0, 1, [333]),  # 8..10
        (8, 1, 2, [444]),  # 10..12
        (10, 1, 2, [333]),  # 12..14: rank 1 sends until 12
        (10, 2, 0, [111, 222]),  # 10..13
        (12, 2, 0, [444]),  # 13..15
        (13, 0, 1, [111, 222]),  # 13..16
    ]
    assert end == 16


@pytest.mark.parametrize("text", ["halving_doubling", "hierarchical"])
def test_halving_doubling_of_three_message_by_message(text):
    # Rank 1 folds into rank 0; the members are ranks 0 and 2, the halves entries 0, 1 and entry 2.
    messages, end = traced(text, [[1, 2, 3], [10, 20, 30], [100, 200, 300]])
    assert messages == [
        (0, 1, 0, [10, 20, 30]),  # 0..4; rank 0 adds until 7
        (0, 2, 0, [100, 200]),  # 7..10; rank 0 adds until 12
        (7, 0, 2, [33]),  # 7..9; rank 2 sends until 10, adds until 11
        (11, 2, 0, [333]),  # 12..14
        (12, 0, 2, [111, 222]),  # 12..15
        (15, 0, 1, [111, 222, 333]),  # 15..19
    ]
    assert end == 19


def test_double_tree_of_three_message_by_message():
    # Entries 0 and 1 go through the tree with root 1, entry 2 through that with root 0; even edges
    # are 0-1 of the first tree and 2-0 of the second, odd ones 2-1 and 1-0.
    messages, end = traced("double_tree", [[1, 2, 3], [10, 20, 30], [100, 200, 300]])
    assert messages == [
        (0, 0, 1, [1, 2]),  # 0..3; rank 1 adds until 5
        (0, 2, 0, [300]),  # 0..2; rank 0 sends until 3, adds until 4
        (2, 2, 1, [100, 200]),  # 5..8; rank 1 adds until 10
        (5, 1, 0, [30]),  # 5..7; rank 0 adds until 8
        (8, 0, 2, [333]),  # 8..10
        (10, 1, 0, [111, 222]),  # 10..13
        (13, 0, 1, [333]),  # 13..15
        (13, 1, 2, [111, 222]),  # 13..16
    ]
    assert end == 16


FOUR = [[1, 2, 3, 4], [10, 20, 30, 40], [100, 200, 300, 400], [1000, 2000, 3000, 4000]]
IN_ROWS = [(0, 0, 1, [1, 2]), (0, 1, 0, [30, 40]), (0, 2, 3, [100, 200]), (0, 3, 2, [3000, 4000])]
BACK = [
    (10, 0, 1, [3333, 4444]),
    (10, 1, 0, [1111, 2222]),
    (10, 2, 3, [3333, 4444]),
    (10, 3, 2, [1111, 2222]),
]


def test_torus_of_four_message_by_message():
    # Rows 0, 1 and 2, 3. After 0..3 and an addition until 5 ranks 0 and 2 have entries 2 and 3.
    messages, end = traced("torus", FOUR)
    columns = [
        *[(5, 0, 2, [33]), (5, 1, 3, [11]), (5, 2, 0, [4400]), (5, 3, 1, [2200])],  # until 7, 8
        *[(8, 0, 2, [4444]), (8, 1, 3, [2222]), (8, 2, 0, [3333]), (8, 3, 1, [1111])],  # until 10
    ]
    assert messages == IN_ROWS + columns + BACK
    assert end == 13


def test_hierarchy_of_four_message_by_message():
    # Inside the nodes as in the torus; between them halves, the first for the lower rank.
    messages, end = traced("hierarchical", FOUR)
    between = [
        *[(5, 0, 2, [44]), (5, 1, 3, [22]), (5, 2, 0, [3300]), (5, 3, 1, [1100])],  # until 7, 8
        *[(8, 0, 2, [3333]), (8, 1, 3, [1111]), (8, 2, 0, [4444]), (8, 3, 1, [2222])],  # until 10
    ]
    assert messages == IN_ROWS + between + BACK
    assert end == 13


# ------------------------------------------------------------- all-gather, barrier, several lanes


GATHERS = sorted(ALLGATHER)


def gathered(name, payloads, capacity, network=DYADIC, notes=None):
    """Gather one payload per rank into rows that hold 255 before."""
    world = World(len(payloads), network)
    rows = [np.full((len(payloads), capacity), 255, np.uint8) for _ in payloads]
    used = world.run(
        lambda comm, _: allgathers[name](
            comm if notes is None else Spy(comm, notes), payloads[comm.rank], rows[comm.rank]
        )
    )
    return rows, used, world


def test_every_all_gather_is_tested():
    assert sorted(allgathers) == GATHERS


@pytest.mark.parametrize("name", GATHERS)
@given(st.lists(st.binary(max_size=9), min_size=1, max_size=9), st.integers(0, 3))
def test_allgather_brings_every_payload_and_moves_only_used_bytes(name, texts, spare):
    payloads = [np.frombuffer(text, np.uint8) for text in texts]
    sizes = [payload.size for payload in payloads]
    n = len(sizes)
    rows, used, world = gathered(name, payloads, max(sizes) + spare)
    for rank in range(n):
        assert used[rank] == sizes
        for row, payload in zip(rows[rank], payloads, strict=True):
            np.testing.assert_array_equal(row[: payload.size], payload)
            assert (row[payload.size :] == 255).all()
    header = 4 if name == "bruck" else 0
    assert cost(world)[1] == (n - 1) * (sum(sizes) + header * n)
    at = theory.gathered(name, sizes, DYADIC.alpha, DYADIC.beta)
    assert cost(world) == (at.messages, at.bytes, at.time)
    assert cost(world)[2] <= predicted(ALLGATHER[name], n, max(sizes), 1)[2]


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GATHERS)
def test_cost_of_allgather(name, n, size):
    _, _, world = gathered(name, [np.zeros(size, np.uint8)] * n, size)
    assert cost(world) == predicted(ALLGATHER[name], n, size, 1)


def test_bruck_of_three_message_by_message():
    # A record is the size in four bytes, then the payload; a byte takes 1 s, a message 1 s more.
    notes: list[tuple] = []
    payloads = [np.array(each, np.uint8) for each in ([7], [8, 9], [])]
    _, _, world = gathered("bruck", payloads, 2, Network(1.0, 1.0), notes)
    assert sorted(notes) == [
        (0, 0, 2, [1, 0, 0, 0, 7]),  # 0..6
        (0, 1, 0, [2, 0, 0, 0, 8, 9]),  # 0..7
        (0, 2, 1, [0, 0, 0, 0]),  # 0..5, but rank 1 sends until 7
        (6, 2, 0, [0, 0, 0, 0]),  # 7..12: rank 0 has heard rank 1 by 7
        (7, 0, 1, [1, 0, 0, 0, 7]),  # 7..13
        (7, 1, 2, [2, 0, 0, 0, 8, 9]),  # 7..14
    ]
    assert world.now == 14


def test_padding_is_found_out():
    """Negative control: rows sent whole reach everybody, but their bytes are too many."""
    sizes = [3, 0, 5]
    _, _, world = gathered("bruck", [np.zeros(5, np.uint8) for _ in sizes], 5)
    at = theory.gathered("bruck", sizes, DYADIC.alpha, DYADIC.beta)
    assert cost(world)[0] == at.messages
    assert cost(world)[1] > at.bytes


@pytest.mark.parametrize("name", GATHERS)
def test_allgather_refuses_rows_that_do_not_fit(name):
    for payload, shape in [(3, (2, 2)), (1, (3, 1)), (1, (2,))]:
        with pytest.raises(BufferMismatch, match="rows"):
            World(2).run(
                lambda comm, _, p=payload, s=shape: allgathers[name](
                    comm, np.zeros(p, np.uint8), np.zeros(s, np.uint8)
                )
            )


@pytest.mark.parametrize("n", RANKS)
def test_cost_of_barrier(n):
    world = World(n, DYADIC)
    world.run(lambda comm, _: barrier(comm))
    assert cost(world) == predicted(BARRIER, n, 0, 1)


@pytest.mark.parametrize("n", RANKS)
def test_nobody_leaves_a_barrier_before_all_have_come(n):
    for late in range(n):

        def program(comm, engine, late=late):
            yield comm.spend(1.0 if comm.rank == late else 0.0)
            yield from barrier(comm)
            return comm.now()

        assert min(World(n, DYADIC).run(program)) >= 1.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [3, 4])
def test_collectives_in_different_lanes_run_side_by_side(name, n):
    sizes = [5, 0, 40, 17]
    vectors = [integers(n, b, np.float32) for b in sizes]
    results = [each.copy() for each in vectors]

    def program(comm, engine):
        order = range(len(sizes)) if comm.rank % 2 else reversed(range(len(sizes)))
        yield [
            engine.start(allreduces[name](comm.lane(i), results[i][comm.rank]), f"lane {i}")
            for i in order
        ]

    world = World(n, DYADIC)
    world.run(program)
    for before, after in zip(vectors, results, strict=True):
        for row in after:
            np.testing.assert_array_equal(row, before.sum(0))
    alone = [predicted(ALLREDUCE[name], n, b, 4) for b in sizes]
    assert cost(world)[:2] == (sum(a[0] for a in alone), sum(a[1] for a in alone))
    assert world.now <= sum(a[2] for a in alone)
