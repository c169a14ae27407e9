"""Workers with unequal shards, some of them empty; many workers and one with all their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpiddl.ledger import script_of
from mpiddl.problems.logistic import LogisticRegression
from mpiddl.problems.sampling import Batch
from mpiddl.train import Run, run, simulate
from mpiddl.variant import Variant

pytestmark = pytest.mark.mpi

IN_STEP = [
    "bsp / allreduce / identity / layerwise / sgd:0.5",
    "bsp / allreduce:ring / ef+topk:0.3 / whole / sgd:0.5",
    "local:3 / allreduce / identity / whole / sgd:0.5",
    "bsp / gossip:ring / identity / layerwise / sgd:0.5",
    "bsp / gossip:ring / diff+topk:0.3 / whole / sgd:0.5",
    "bsp / ps / identity / layerwise / sgd:0.5",
    "local:2 / ps:servers=1 / ef+sign / whole / sgd:0.5",
]
BY_CHANCE = [
    "asp / ps / identity / whole / sgd:0.5",
    "ssp:1 / ps:servers=1 / ef+topk:0.3 / layerwise / sgd:0.5",
]


def shards(workers, rows, batch=2):
    """Return a problem of so many rows, dealt to the workers: some may have none."""
    chance = np.random.default_rng(3)
    features, labels = chance.normal(size=(rows, 5)), np.arange(rows) % 2
    options = {"sharding": "disjoint", "batch": batch}
    return LogisticRegression.from_arrays(features, labels, workers, 7, **options)


def job(line, ranks, rows_of, batch=2, clocks=9):
    variant = Variant.parse(line)
    workers = ranks - variant.architecture.servers
    if workers < 1:
        pytest.skip("no rank is left to work")
    return Run(variant, shards(workers, rows_of(workers), batch), clocks, every=3)


UNEVEN = {
    "one row more for some": lambda n: 3 * n + 2,
    "one worker without rows": lambda n: max(2, n - 1),
    "most workers without rows": lambda n: 2,
}


@pytest.mark.parametrize("rows", UNEVEN)
@pytest.mark.parametrize("line", IN_STEP)
def test_uneven_shards_hold_nobody_up(comm, line, rows):
    this = job(line, comm.size, UNEVEN[rows])
    assert np.array_equal(run(this, comm).x, simulate(this)[comm.rank].x)


@pytest.mark.parametrize("rows", UNEVEN)
@pytest.mark.parametrize("line", BY_CHANCE)
def test_uneven_shards_hold_nobody_up_where_chance_reigns(comm, line, rows):
    this = job(line, comm.size, UNEVEN[rows])
    result = run(this, comm)
    if comm.rank == 0:
        workers = this.problem.workers
        assert set(result.services[:, 2].tolist()) == set(range(workers))
        again = simulate(replace(this, script=script_of(result.services)))
        assert np.array_equal(result.x, again[0].x)


@pytest.mark.parametrize("rows", UNEVEN)
@pytest.mark.parametrize(
    "line", ["bsp / allreduce / identity / whole", "bsp / ps / identity / whole"]
)
def test_averages_weigh_every_row_alike(comm, line, rows):
    """Whole shards, however uneven, move the models as one worker with all rows does."""
    this = job(f"{line} / sgd:0.5", comm.size, UNEVEN[rows], batch=None)
    alone = replace(this, problem=shards(1, UNEVEN[rows](comm.size), batch=None))
    serial = simulate(
        replace(alone, variant=Variant.parse("bsp / allreduce / identity / whole / sgd:0.5"))
    )
    assert np.allclose(run(this, comm).x, serial[0].x, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("line", ["bsp / allreduce:ring", "bsp / ps", "bsp / gossip:complete"])
def test_many_workers_are_one_with_their_rows_together(comm, line):
    """n workers with b rows each make the steps of one worker with n b rows."""
    variant = Variant.parse(f"{line} / identity / whole / sgd:0.5")
    chance = np.random.default_rng(3)
    features, labels = chance.normal(size=(40, 5)), np.arange(40) % 2
    many, one = (
        LogisticRegression.from_arrays(features, labels, n, 7, batch=4) for n in (comm.size, 1)
    )
    clocks, x = 12, one.start()
    g = np.empty_like(x)
    for step in range(clocks):
        rows = np.concatenate([many.batch(worker, step).rows for worker in range(comm.size)])
        assert rows.size == 4 * comm.size
        for _ in one.gradient(x, Batch(rows, 1 / rows.size), g):
            pass
        x -= 0.5 * g
    result = run(Run(variant, many, clocks), comm)
    assert np.allclose(result.x, x, rtol=1e-12, atol=1e-14)
    assert not np.allclose(result.x, x - 0.5 * g / (comm.size + 1), rtol=1e-6)
