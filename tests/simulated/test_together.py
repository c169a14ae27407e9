"""Collectives that a world makes at once are those of messages: to the bit, in time and counts."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.arrays import Purpose, stream
from mpiddl.comm.collectives import collective
from mpiddl.comm.simulated import MANY, Network, World
from mpiddl.comm.together import MAKERS
from mpiddl.errors import Deadlock, ProtocolError
from mpiddl.problems import problem
from mpiddl.train import Run, program, simulate
from mpiddl.variant import Variant

NETWORK = Network(2e-5, 8e-10, 1e-10)


def worlds(size):
    return [World(size, NETWORK, together=at_once) for at_once in (False, True)]


def summed(world, name, b, dtype, late):
    """Let every rank sum three times, after computing for a time of its own; return what it has."""

    def task(comm, engine):
        random = stream(7, Purpose.NOISE, comm.rank)
        ends = []
        for turn in range(3):
            x = random.standard_normal(b).astype(dtype)
            yield comm.spend(float(random.uniform(0, 1e-3)) * late)
            yield from collective(name)(comm.lane(1), x, turn)
            ends.append((comm.now(), x))
        return ends

    return world.run(task)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 8, 16, 33])
@pytest.mark.parametrize(("b", "dtype"), [(0, "f8"), (3, "f4"), (40, "f8"), (1001, "f4")])
@pytest.mark.parametrize("late", [0.0, 1.0])
def test_sums_times_and_counts_are_those_of_messages(name, size, b, dtype, late):
    pair = worlds(size)
    by_messages, at_once = (summed(world, name, b, dtype, late) for world in pair)
    for one, other in zip(by_messages, at_once, strict=True):
        for (end, x), (same_end, same_x) in zip(one, other, strict=True):
            assert x.tobytes() == same_x.tobytes()
            assert end == same_end
    one, other = ([comm.traffic for comm in world.communicators] for world in pair)
    assert one == other
    assert any(each.sent.messages for each in one) == (size > 1)


@pytest.mark.parametrize("n", [5, 33])
@pytest.mark.parametrize(
    "line",
    [
        "bsp / allreduce / identity / whole",
        "local:2 / allreduce / ef+randk:0.5,mask=shared / whole",
        "bsp / allreduce / identity / layerwise",
    ],
)
def test_runs_are_alike(line, n):
    run = Run(Variant.parse(f"{line} / sgd:0.1"), problem("nc", n, 1, d=6, layers=2), 4, every=1)
    curves = []
    for world in worlds(n):
        results = world.run(lambda comm, engine: program(run, comm, engine))
        curves.append(results[0].curve)
    one, other = curves
    for column in ("loss", "bytes", "messages"):
        assert np.array_equal(one[column], other[column])
    if "layerwise" not in line:  # lanes compete for ports, which is not told at once
        assert np.array_equal(one["seconds"], other["seconds"])


def test_only_large_worlds_without_chance_or_trace_do_so():
    def at_once(*args, **options):
        comm = World(*args, **options).communicators[0]
        return comm.together("halving_doubling", np.zeros(1), 0) is not None

    assert not at_once(MANY)
    assert at_once(MANY + 1)
    assert not at_once(MANY + 1, shuffle=1)
    assert not at_once(MANY + 1, trace=[])
    assert World(9, together=True).communicators[0].together("ring", np.zeros(1), 0) is None


def test_who_does_not_join_is_named():
    def task(comm, engine):
        if comm.rank:
            yield from collective("halving_doubling")(comm, np.zeros(2))

    with pytest.raises(Deadlock, match="halving_doubling of all ranks, tag 0"):
        World(3, NETWORK, together=True).run(task)


def test_different_vectors_are_refused():
    def task(comm, engine):
        yield from collective("halving_doubling")(comm, np.zeros(2 + comm.rank))

    with pytest.raises(ProtocolError, match="different vectors"):
        World(2, NETWORK, together=True).run(task)


def test_large_runs_are_repeatable():
    run = Run(
        Variant.parse("bsp / allreduce / identity / whole / sgd:0.1"),
        problem("iso", 64, 1, d=5),
        5,
        compute=lambda worker, step: 1e-4 * (1 + worker % 3),
    )
    one, other = (simulate(run, NETWORK)[0] for _ in range(2))
    assert one.x.tobytes() == other.x.tobytes()
    assert one.curve.rows == other.curve.rows
