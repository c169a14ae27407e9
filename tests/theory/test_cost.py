"""The cost formulas against schedules counted by hand, their limits, and wrong schedules."""

from __future__ import annotations

import numpy as np
import pytest

from theory import wire
from theory.cost import (
    ALLGATHER,
    ALLREDUCE,
    BARRIER,
    Cost,
    allreduce,
    ceil_log2,
    dynamic,
    eager,
    floor_log2,
    gathered,
    gossip,
    gossip_by,
    pairwise,
    parameter_server,
    served,
    square_side,
)
from theory.cost.double_tree import pieces

SIZES = (0, 1, 2, 5, 7, 24, 1000)
RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 100)


def split(b: int, parts: int) -> list[int]:
    """Blocks that differ by one entry at most."""
    return [len(block) for block in np.array_split(np.arange(b), parts)]


def ring(n: int, b: int) -> tuple[int, int]:
    """Messages and entries of a ring, step by step."""
    blocks = split(b, n)
    sent = [blocks[(rank - step) % n] for step in range(2 * (n - 1)) for rank in range(n)]
    return len(sent), sum(sent)


def halving(n: int, b: int) -> tuple[int, int, int]:
    """Messages, entries, and entries on the longest chain of halving and doubling."""
    p = 1 << (n.bit_length() - 1)
    messages, entries, chain, windows, pairs = 2 * (n - p), 2 * (n - p) * b, 0, [b], p // 2
    while pairs:
        halves = [half for window in windows for half in split(window, 2)]
        messages += 2 * 2 * pairs * len(windows)
        entries += 2 * pairs * sum(halves)
        chain += 2 * max(halves)
        windows, pairs = halves, pairs // 2
    return messages, entries, chain + (2 * b if n > p else 0)


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("b", SIZES)
def test_counts_equal_the_schedule(n: int, b: int) -> None:
    w = 8
    cost = ALLREDUCE["ring"].at(n=n, b=b, w=w)
    assert (cost.messages, cost.bytes) == tuple(np.multiply(ring(n, b), (1, w)))
    messages, entries, chain = halving(n, b)
    cost = ALLREDUCE["halving_doubling"].at(n=n, b=b, w=w, be=1.0)
    assert (cost.messages, cost.bytes, cost.time) == (messages, w * entries, w * chain)


def test_three_ranks_by_hand() -> None:
    """Every message of n = 3, b = 5 (blocks 2, 2, 1), w = 1, written out."""
    counts = {
        name: (c.at(n=3, b=5).messages, c.at(n=3, b=5).bytes) for name, c in ALLREDUCE.items()
    }
    assert counts["naive"] == (4, 5 + 5 + 5 + 5)
    assert counts["ring"] == (12, 4 * (2 + 2 + 1))
    assert counts["recursive_doubling"] == (1 + 2 + 1, 5 + 2 * 5 + 5)
    assert counts["halving_doubling"] == (1 + 2 + 2 + 1, 5 + (2 + 3) + (3 + 2) + 5)
    assert counts["tree"] == (4, 20)
    assert counts["torus"] == counts["ring"], "three ranks are one column"
    assert counts["hierarchical"] == counts["halving_doubling"]
    assert counts["double_tree"] == (2 * 2 * 2, 2 * (3 + 3) + 2 * (2 + 2)), "2 trees of 2 edges"
    assert ALLGATHER["ring"].at(n=3, b=5).bytes == 3 * 2 * 5
    assert ALLGATHER["bruck"].at(n=3, b=5).messages == 3 + 3
    assert ALLGATHER["bruck"].at(n=3, b=5).bytes == 3 * (4 + 5) + 3 * (4 + 5)
    assert BARRIER.at(n=3, b=0, al=1.0) == BARRIER.at(n=3, b=9, al=1.0)
    assert BARRIER.at(n=3, b=0, al=1.0).messages == 6
    assert gossip(2).at(n=3, b=5, al=1.0, be=1.0).time == 2 * (1 + 5)


@pytest.mark.parametrize("name", ALLREDUCE)
def test_limits(name: str) -> None:
    cost = ALLREDUCE[name]
    alone = cost.at(n=1, b=100, w=8, al=1.0, be=1.0, ga=1.0)
    assert (alone.messages, alone.bytes, alone.time) == (0, 0, 0.0)
    for n in (2, 3, 100):
        empty = cost.at(n=n, b=0, w=8, al=1.0, be=1.0, ga=1.0)
        assert empty.bytes == 0
        assert empty.messages > 0
        assert empty.time == round(empty.time), "no bytes: latencies alone"
        free = cost.at(n=n, b=100, w=8, be=1.0, ga=1.0).time
        assert free + cost.at(n=n, b=100, w=8, al=1.0).time == pytest.approx(
            cost.at(n=n, b=100, w=8, al=1.0, be=1.0, ga=1.0).time
        )


@pytest.mark.parametrize("n", [2, 3, 5, 8, 100])
@pytest.mark.parametrize("name", ALLREDUCE)
def test_nothing_beats_the_lower_bounds(name: str, n: int) -> None:
    b = 60 * n
    cost = ALLREDUCE[name]
    assert cost.at(n=n, b=b, be=1.0).time >= 2 * (n - 1) / n * b
    assert cost.at(n=n, b=b, ga=1.0).time >= (n - 1) / n * b
    assert cost.at(n=n, b=b, al=1.0).time >= np.ceil(np.log2(n))
    assert cost.at(n=n, b=b).bytes >= 2 * (n - 1) * b


def test_bounds_are_attained() -> None:
    assert ALLREDUCE["ring"].at(n=8, b=80, be=1.0).time == 2 * 7 / 8 * 80
    assert ALLREDUCE["halving_doubling"].at(n=8, b=80, ga=1.0).time == 7 / 8 * 80
    assert ALLREDUCE["recursive_doubling"].at(n=8, b=80, al=1.0).time == 3


def test_fold_is_paid_only_between_powers_of_two() -> None:
    for name in ("recursive_doubling", "halving_doubling"):
        time = [ALLREDUCE[name].at(n=n, b=8, al=1.0, be=1.0, ga=1.0).time for n in (4, 5, 7, 8)]
        assert time[1] == time[2] == time[0] + 2 * (1 + 8) + 8


def test_logarithms_are_exact() -> None:
    for k in (1, 2, 10, 60):
        assert [floor_log2((1 << k) + e) for e in (-1, 0, 1)] == [k - 1, k, k]
        assert [ceil_log2((1 << k) + e) for e in (-1, 0, 1)] == [k if k > 1 else 0, k, k + 1]


def test_a_ring_of_whole_vectors_is_told_apart() -> None:
    """Negative control: sending the vector instead of a block at every step."""
    n, b = 4, 10
    wrong = Cost(ALLREDUCE["ring"].messages, ALLREDUCE["ring"].bytes * n, ALLREDUCE["ring"].time)
    assert wrong.at(n=n, b=b).messages == ring(n, b)[0]
    assert wrong.at(n=n, b=b).bytes != ring(n, b)[1]


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="no cost"):
        ALLREDUCE["ring"].at(n=0, b=1)
    with pytest.raises(ValueError, match="no cost"):
        ALLREDUCE["ring"].at(n=2, b=1, be=-1.0)


def test_six_ranks_in_two_levels_by_hand() -> None:
    """Three rows of 2 with halves 3, 2; between them (n = 3) thirds, or a fold and halves."""
    torus = ALLREDUCE["torus"].at(n=6, b=5, al=1.0)
    assert torus.messages == 2 * 6 * 1 + 2 * 6 * 2
    assert torus.time == 2 * 1 + 2 * 2
    assert ALLREDUCE["torus"].at(n=6, b=5, be=1.0).time == 2 * 3 + 2 * 2 * 1
    assert ALLREDUCE["torus"].at(n=6, b=5, ga=1.0).time == 3 + 2 * 1
    nodes = ALLREDUCE["hierarchical"].at(n=6, b=5, al=1.0)
    assert nodes.messages == 2 * 6 * 1 + 2 * (1 + 2 + 2 + 1)
    assert nodes.time == 2 * 1 + (1 + 2 + 1)
    assert ALLREDUCE["hierarchical"].at(n=6, b=5, be=1.0).time == 2 * 3 + (3 + 2 * 2 + 3)
    assert ALLREDUCE["hierarchical"].at(n=6, b=5, ga=1.0).time == 3 + (3 + 2)


def test_groups() -> None:
    assert [square_side(n) for n in (1, 2, 7, 12, 16, 32, 36)] == [1, 1, 1, 3, 4, 4, 6]
    numbers = {"al": 1.0, "be": 0.5, "ga": 0.25}
    for n, b in [(12, 7), (12, 0), (13, 5)]:
        ring, halves = (ALLREDUCE[k].at(n=n, b=b, **numbers) for k in ("ring", "halving_doubling"))
        for text in ("torus:1", f"torus:{n}", f"hierarchical:{n}"):
            assert allreduce(text).at(n=n, b=b, **numbers) == ring
        assert allreduce("hierarchical:1").at(n=n, b=b, **numbers) == halves
    assert allreduce("torus:3").at(n=12, b=7, **numbers) == ALLREDUCE["torus"].at(
        n=12, b=7, **numbers
    )
    assert allreduce("native") is None
    assert allreduce("ring") is ALLREDUCE["ring"]


def test_a_double_tree_of_two_ranks_is_a_pipeline() -> None:
    """Each is the root of one tree: both halves cross at once, piece after piece."""
    assert [int(pieces(b, 4, 8)) for b in (0, 1, 4, 5, 8, 9)] == [1, 1, 1, 2, 2, 3]
    cost = ALLREDUCE["double_tree"]
    for b, w in [(0, 8), (1, 4), (7, 8), (2**18, 4)]:  # 2^18 entries: 2 pieces of 256 KB
        at = cost.at(n=2, b=b, w=w, al=1.0, be=1.0, ga=1.0)
        count = int(pieces(b, w, 2**18))
        longest = -(-b // 2) * w
        assert (at.messages, at.bytes) == (4 * count, 2 * b * w)
        assert at.time == 2 * count + 3 * longest


def test_recorded_lengths() -> None:
    # ring of 3: 1 and 2 and 0 bytes; whoever sends 2 bytes holds its neighbours up
    ring = gathered("ring", [1, 2, 0], al=1.0, be=1.0)
    assert (ring.messages, ring.bytes, ring.time) == (6, 6, 6.0)
    bruck = gathered("bruck", [1, 2, 0], al=1.0, be=1.0)
    assert (bruck.messages, bruck.bytes, bruck.time) == (6, 30, 14.0)
    for name in ALLGATHER:
        for n in (1, 2, 5, 8):
            alike = gathered(name, [9] * n, al=0.5, be=0.25)
            assert alike == ALLGATHER[name].at(n=n, b=9, al=0.5, be=0.25)


def test_gossip_on_any_graph() -> None:
    eye = np.eye(6)
    ring = eye + np.roll(eye, 1, axis=1) + np.roll(eye, -1, axis=1)
    numbers = {"n": 6, "b": 5, "w": 4, "al": 1.0, "be": 1.0}
    assert gossip_by(ring).at(**numbers) == gossip(2).at(**numbers)
    assert gossip_by(np.ones((6, 6))).at(**numbers) == gossip(5).at(**numbers)
    one_way = eye + np.roll(eye, 1, axis=1)
    assert gossip_by(one_way).at(**numbers) == gossip(1).at(**numbers)
    star = eye.copy()
    star[0], star[:, 0] = 1, 1
    at = gossip_by(star).at(**numbers)
    assert (at.messages, at.bytes) == (10, 10 * 20)
    assert np.isnan(at.time), "a star is not circulant"
    assert gossip_by(np.eye(1)).at(n=1, b=5).messages == 0


def test_parameter_server() -> None:
    """Every number by hand: 4 workers, a push and an answer each way."""
    numbers = {"n": 4, "b": 10, "w": 1, "al": 1.0, "be": 1.0}
    one = parameter_server(1).at(**numbers)
    assert (one.messages, one.bytes, one.time) == (8, 80, 2 * 4 * 11.0)
    two = parameter_server(2).at(**numbers)
    assert (two.messages, two.bytes, two.time) == (16, 80, 2 * 4 * 6.0)
    beside = parameter_server().at(**numbers)  # shards 3, 3, 2, 2; 3 others each
    assert (beside.messages, beside.bytes, beside.time) == (24, 60, 2 * 3 * 4.0)
    assert parameter_server().at(n=4, b=2).messages == 2 * 3 * 2, "two shards are empty"
    assert parameter_server(8).at(n=4, b=2).messages == 2 * 4 * 2
    for servers in (None, 1, 3):
        empty = parameter_server(servers).at(n=4, b=0, al=1.0)
        assert (empty.messages, empty.bytes, empty.time) == (0, 0, 0.0)
    alone = parameter_server().at(n=1, b=9, al=1.0)
    assert (alone.messages, alone.bytes, alone.time) == (0, 0, 0.0)


def test_servers_that_are_spoken_to_in_words() -> None:
    """Dense words cost what `parameter_server` says; of others each shard is rounded up."""
    for servers in (None, 1, 2, 3, 8):
        for n, b in [(1, 5), (2, 5), (4, 10), (5, 3), (3, 0)]:
            dense = parameter_server(servers).at(n=n, b=b, w=4)
            words = served(servers, n, b, lambda size: 4 * size, lambda size: 4 * size)
            assert (words.messages, words.bytes) == (dense.messages, dense.bytes)
            assert np.isnan(words.time)
    # 31 entries on 2 servers: signs of 16 and 15 entries and a scale up, doubles down, 3 workers
    signs = served(2, 3, 31, lambda size: int(wire.sign(size, 8)), lambda size: 8 * size)
    assert (signs.messages, signs.bytes) == (3 * 2 * 2, 3 * (2 + 8 + 2 + 8 + 31 * 8))
    # 2 entries of 4 workers who serve: two shards are empty, and nobody speaks of them
    ones = served(None, 4, 2, lambda size: 1, lambda size: 2)
    assert (ones.messages, ones.bytes) == (2 * 3 * 2, 3 * 2 * (1 + 2))


def test_meetings_by_hand() -> None:
    """A vector there, and as long a difference back; nothing where nobody meets."""
    five = pairwise(5).at(n=3, b=6, w=8)
    assert (five.messages, five.bytes) == (10, 5 * 2 * 48)
    assert np.isnan(five.time)
    assert pairwise(0).at(n=1, b=6, w=8).messages == pairwise(0).at(n=1, b=6).bytes == 0


def test_what_neighbours_say() -> None:
    """31 doubles: as they are, with a heading, and with a weight that no word makes shorter."""

    def signs(b: int) -> int:
        return int(wire.sign(b, 8))

    said = {name: message(signs, 31, 8) for name, message in wire.MESSAGE.items()}
    assert said["gossip"] == said["d2"] == said["pairwise"] == 4 + 8
    assert said["tracking"] == 8 + 8  # 62 signs, one scale
    assert said["push_sum"] == 4 + 8 + 8


def test_gossip_has_no_more_neighbours_than_ranks() -> None:
    assert [gossip(2).at(n=n, b=3, w=4).messages for n in (1, 2, 3, 8)] == [0, 2, 6, 16]


def test_payloads() -> None:
    assert [int(wire.identity(b, 4)) for b in (0, 3)] == [0, 12]
    assert [int(wire.topk(b, 8, 0.3)) for b in (0, 1, 10)] == [0, 12, 36]
    assert int(wire.kept(100, 0.07)) == 7  # as it is written, not as it is rounded
    assert [int(wire.sign(b, 4)) for b in (0, 1, 8, 9)] == [4, 5, 5, 6]


def test_means_of_some_and_now_and_then_by_hand() -> None:
    ring = ALLREDUCE["ring"]  # of 6 doubles on 3 ranks: 12 messages, 2 (3 - 1) 48 bytes
    cost = eager(ring, 4, 2).at(n=3, b=6, w=8)
    assert cost.messages == 4 + 2 * (2 + 12)
    assert cost.bytes == 2 * (2 * 3 * 8 + 192)
    cost = dynamic(ring, ring, 5, 2).at(n=3, b=6, w=8, al=1.0)
    assert cost.messages == 5 * 12 + 2 * 12
    assert cost.bytes == 5 * 2 * 2 * 8 + 2 * 192
    assert cost.time == (5 + 2) * 4
    gathered_ = dynamic(ring, ALLGATHER["ring"], 5, 2).at(n=3, b=10)
    assert gathered_.bytes == 5 * 2 * 2 * 8 + 2 * 3 * 2 * 10
