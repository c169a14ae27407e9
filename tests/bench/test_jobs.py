"""Two worlds are the same only if nothing that matters differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.grid import Table, Terms
from bench.jobs import Job, Outcome, difference
from bench.networks import NETWORKS
from bench.pool import dealt, effort, simulated
from bench.variants import NAMED, entries_of
from mpiddl.curve import COLUMNS, Curve
from mpiddl.ledger import script_of
from mpiddl.problems import problem
from mpiddl.train import Run
from mpiddl.variant import Variant

NETWORK = NETWORKS["10gbe"].network


def job(name="ef-top-k", seed=0, **more) -> Job:
    variant = Variant.parse(f"{NAMED[name]} / sgd:0.5")
    learnt = problem("breast_cancer", 4 - variant.architecture.servers, seed)
    return Job(name, Run(variant, learnt, 8, every=2), **more)


@pytest.fixture(scope="module")
def made():
    return simulated(job())


def altered(made, column, row=-1, by=1e-16):
    rows = [list(values) for values in made.curve.rows]
    rows[row][COLUMNS.index(column)] += by or 1
    return replace(made, curve=Curve(tuple(map(tuple, rows))))


def test_a_world_is_the_same_as_itself_on_another_network(made):
    assert not difference(made, made, chance=False)
    elsewhere = simulated(job(network=NETWORK))
    assert elsewhere.curve["seconds"][-1] > made.curve["seconds"][-1]
    assert not difference(made, elsewhere, chance=False)


@pytest.mark.parametrize(
    "column", [name for name in COLUMNS if name not in ("seconds", "accuracy")]
)
def test_any_column_that_differs_by_a_bit_is_named(made, column):
    other = altered(made, column, by=0 if column in ("clock", "step") else 1e-12)
    assert column in difference(made, other, chance=False)


def test_another_seed_model_byte_or_fate_is_another_run(made):
    assert difference(made, simulated(job(seed=1)), chance=False)
    for other, what in (
        (replace(made, digests=(*made.digests[:-1], "")), "rank 3"),
        (replace(made, sent=made.sent + 1), "bytes"),
        (replace(made, received=made.received - 1), "bytes"),
        (replace(made, diverged=True), "diverged"),
    ):
        assert what in difference(made, other, chance=False)


def test_of_runs_that_diverge_only_that_is_compared(made):
    wild = replace(made, diverged=True)
    assert not difference(wild, altered(wild, "loss"), chance=False)


def test_where_chance_reigns_only_the_last_bytes_are_compared(made):
    early = altered(made, "bytes", row=1, by=8.0)
    assert difference(made, early, chance=False)
    assert not difference(made, early, chance=True)
    assert difference(made, altered(made, "bytes", by=8.0), chance=True)
    assert difference(made, altered(made, "loss", row=1, by=1e-9), chance=True)


def test_an_outcome_is_that_of_both_worlds(made):
    alone = Outcome.of(job(), made, None, None)
    assert alone.same is None
    assert alone.real is None
    assert alone.sent == alone.received == made.sent
    both = Outcome.of(job(), made, made, None)
    assert both.same is True
    other = Outcome.of(job(), made, altered(made, "loss"), None)
    assert other.same is False
    assert "loss" in other.differs


def test_a_replay_stands_in_for_a_run_that_chance_has_ordered():
    """Two orders, two runs; each is repeated by its own script and not by the other's."""
    paces = (lambda worker, step: 1e-3 * (1 + worker)), (lambda worker, step: 1e-3 * (3 - worker))
    first, second = (
        simulated(replace(job("asp"), run=replace(job("asp").run, compute=pace))) for pace in paces
    )
    assert difference(first, second, chance=True)
    outcomes = {}
    for script in (first, second):
        again = replace(job("asp").run, script=script_of(script.services))
        replay = simulated(replace(job("asp"), run=again))
        outcomes[script is second] = Outcome.of(job("asp"), first, second, replay).same
    assert outcomes == {False: False, True: True}


def test_every_job_is_dealt_once_and_no_rank_has_much_more_than_another():
    table = Table(
        "breast_cancer",
        entries_of("breast_cancer", False),
        64,
        (0.3, 1.0),
        Terms(8, 0, 3, NETWORK, 0.0),
    )
    jobs = table.trials()
    for ranks in (1, 3, 8, 100):
        hands = dealt(jobs, ranks)
        assert sorted(index for hand in hands for index in hand) == list(range(len(jobs)))
        loads = [sum(effort(jobs[index].run) for index in hand) for hand in hands]
        longest = max(effort(one.run) for one in jobs)
        assert max(loads) - min(loads) <= longest
        assert dealt(jobs, ranks) == hands


def test_watched_jobs_have_traces_and_the_same_curve(made):
    seen = simulated(replace(job(), watched=True))
    assert len(seen.traces) == 4
    assert np.array_equal(seen.curve["loss"], made.curve["loss"])
    assert seen.digests != made.digests  # traces are in them
