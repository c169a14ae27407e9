"""Every claim holds in the simulator, and fails when what it claims is broken."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from bench.claims import Budget, claims
from bench.claims.bytes_on_the_wire import BytesOnTheWire
from bench.claims.error_feedback import ErrorFeedback, TugOfWar
from bench.claims.linear_speedup import LinearSpeedup
from bench.claims.local_consensus import LocalConsensus
from bench.claims.spectral_gap import SpectralGap
from bench.judge import Outcome
from bench.predict import per_clock
from bench.wrappers import SharedNoise
from mpiddl.problems import problem
from mpiddl.problems.quadratic import iso

BUDGET = Budget(ranks=8, seeds=6, seed=1)


@pytest.fixture
def judged(simulated):
    return lambda claim, budget=BUDGET: claim.judge(simulated(claim.jobs(budget)), budget)


@pytest.mark.parametrize("name", [name for name in claims if name != "bytes_on_the_wire"])
@pytest.mark.parametrize("seed", [0, 17])
def test_a_claim_holds(judged, name, seed):
    verdict = judged(claims[name], replace(BUDGET, seed=seed))
    assert verdict.outcome is Outcome.HOLDS, verdict


def same_noise(workers: int, seed: int) -> SharedNoise:
    return SharedNoise(iso(workers, seed, d=400))


BROKEN = {
    "workers share their noise": LinearSpeedup(same_noise),
    "the memory is lost": ErrorFeedback(remembering="topk:0.3"),
    "memory where there should be none": ErrorFeedback(forgetting="ef+topk:0.3"),
    "a ring runs, a complete graph is claimed": SpectralGap("ring", "complete"),
    "a complete graph runs, a ring is claimed": SpectralGap("complete", "ring"),
    "H = 16 runs, H = 2 is claimed": LocalConsensus(16, 2),
}


@pytest.mark.parametrize("claim", BROKEN.values(), ids=BROKEN)
def test_a_broken_promise_fails(judged, claim):
    assert judged(claim).outcome is Outcome.FAILS


@pytest.mark.parametrize("name", list(claims))
def test_too_few_ranks_leave_a_claim_undecided_and_say_why(judged, name):
    verdict = judged(claims[name], Budget(ranks=1, seeds=3, seed=0))
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict.reason


@pytest.mark.parametrize("name", list(claims))
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7])
def test_no_claim_needs_more_ranks_than_there_are(name, ranks):
    for job in claims[name].jobs(Budget(ranks, 3, 0)):
        assert job.size <= ranks
        job.run.check(job.size)


@pytest.fixture(scope="module")
def some_runs(simulated):
    return simulated(LocalConsensus().jobs(BUDGET) + ErrorFeedback().jobs(BUDGET))


def test_all_bytes_are_as_predicted(some_runs):
    verdict = BytesOnTheWire().judge(some_runs, BUDGET)
    assert verdict.outcome is Outcome.HOLDS, verdict
    assert verdict.predicted == verdict.measured > 0


def off_by(run, nbytes=0, messages=0):
    right = per_clock(run)
    return replace(right, bytes=right.bytes + nbytes, messages=right.messages + messages)


@pytest.mark.parametrize("wrong", [{"nbytes": 1}, {"nbytes": -1}, {"messages": 1}])
def test_a_formula_that_is_off_by_one_fails(some_runs, wrong):
    claim = BytesOnTheWire(partial(off_by, **wrong))
    assert claim.judge(some_runs, BUDGET).outcome is Outcome.FAILS


@pytest.mark.parametrize("lost", ["sent", "received"])
def test_a_byte_that_is_lost_on_its_way_fails(some_runs, lost):
    key, outcome = next(iter(some_runs.items()))
    broken = {**some_runs, key: replace(outcome, **{lost: getattr(outcome, lost) - 1})}
    assert BytesOnTheWire().judge(broken, BUDGET).outcome is Outcome.FAILS


def test_tug_of_war_is_the_problem_that_it_says_it_is():
    learnt = TugOfWar(0)
    x = learnt.start()
    mean = sum(learnt.full_gradient(x, worker) for worker in range(3)) / 3
    assert learnt.full_gradient(x) == pytest.approx(mean)
    assert learnt.full_gradient(x) == pytest.approx(x * 7 / 6)
    assert learnt.loss(x) == pytest.approx(1.75)


def test_shared_noise_keeps_the_shifts_of_the_workers():
    het = problem("het", 4, 3)
    broken, x = SharedNoise(het), het.start()
    shift = het.full_gradient(x, 2) - het.full_gradient(x, 1)
    assert broken.batch(2, 5) - broken.batch(1, 5) == pytest.approx(shift)
