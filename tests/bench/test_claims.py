"""Every claim holds in the simulator, and fails when what it claims is broken."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from bench.claims import Budget, claims, verdicts
from bench.claims.asynchronous import DelayBound, DelayNoise
from bench.claims.backup_workers import BackupWorkers
from bench.claims.bytes_on_the_wire import BytesOnTheWire
from bench.claims.collective_cost import CollectiveCost, exchanges
from bench.claims.critical_period import CriticalPeriod
from bench.claims.critical_staleness import CriticalStaleness
from bench.claims.difference import Difference
from bench.claims.error_feedback import ErrorFeedback
from bench.claims.exponent_in_T import Decreasing, Tuned
from bench.claims.graph_consensus import GraphConsensus
from bench.claims.heterogeneity import Heterogeneity
from bench.claims.large_batch import LargeBatch
from bench.claims.linear_speedup import LinearSpeedup
from bench.claims.local_consensus import LocalConsensus
from bench.claims.local_price import LocalPrice
from bench.claims.outer_momentum import OuterMomentum
from bench.claims.same_in_both_worlds import SameInBothWorlds
from bench.claims.spectral_gap import GRAPHS, SpectralGap, gap_of, whole_turn
from bench.claims.speedup_of_cells import SpeedupOfCells
from bench.claims.staleness import Staleness, ZeroStaleness
from bench.claims.staleness_price import StalenessPrice
from bench.claims.time_to_target import TimeToTarget
from bench.claims.unbiased_noise import SharedMask, UnbiasedNoise, Words
from bench.claims.worst_case import WorstCase
from bench.files import plain
from bench.html.records import VerdictRecord, build
from bench.jobs import Job
from bench.judge import Outcome
from bench.networks import NETWORKS
from bench.predict import per_clock
from bench.series import MOST
from bench.wrappers import SharedNoise
from mpiddl.architecture.topology import contraction, topologies
from mpiddl.problems import problem
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant
from theory.mixing import lam

BUDGET = Budget(ranks=8, seeds=4, seed=1, quick=True)
OF_ALL_RUNS = ("bytes_on_the_wire", "same_in_both_worlds")
OWN_RUNS = [name for name in claims if name not in OF_ALL_RUNS]


@pytest.fixture(scope="module")
def judged(simulated):
    return lambda claim, budget=BUDGET: claim.judge(simulated(claim.jobs(budget)), budget)


@pytest.mark.parametrize("name", OWN_RUNS)
@pytest.mark.parametrize("seed", [0, 17])
def test_a_claim_holds_and_its_pictures_can_be_read(judged, name, seed):
    verdict = judged(claims[name], replace(BUDGET, seed=seed))
    assert verdict.outcome is Outcome.HOLDS, verdict
    record = build(VerdictRecord, plain(verdict.as_dict()), name)
    for series in record.series:
        assert series.lines
        assert all(len(line.x) == len(line.y) <= MOST for line in series.lines)


def same_noise(workers: int, seed: int) -> SharedNoise:
    return SharedNoise(iso(workers, seed, d=400))


BROKEN = {
    "workers share their noise": LinearSpeedup(same_noise),
    "in all cells workers share their noise": SpeedupOfCells(same_noise),
    "the step does not depend on T": Tuned(power=0.0),
    "the step does not decrease": Decreasing(rate="0.1"),
    "the step is a little shorter": WorstCase(gam=0.49),
    "the step of n workers is that of one": LargeBatch(scale=1.0),
    "H = 16 runs, H = 2 is claimed": LocalConsensus(16, 2),
    "workers average after every step": LocalPrice(periods=(1, 1, 1)),
    "four local steps count as one": CriticalPeriod(counted=0.25),
    "all H average after every step": CriticalPeriod(periods=(1,) * 6),
    "four clocks of delay count as one": CriticalStaleness(counted=0.25),
    "a ring runs, a complete graph is claimed": SpectralGap({"ring": "complete"}),
    "a complete graph runs, a ring is claimed": SpectralGap({"complete": "ring"}),
    "one of two graphs is another": SpectralGap({"ring": "ring", "path": "star"}),
    "a ring has other weights": SpectralGap({"ring": "ring,weights=fastest"}),
    "gossip goes all the way, half is claimed": SpectralGap({"ring": "ring,gamma=0.5"}),
    "nodes of two run, nodes of four are claimed": SpectralGap({"two_level:2": "two_level:4"}),
    "another graph was drawn": SpectralGap({"erdos_renyi:0.5": "erdos_renyi:0.5;seed=1"}),
    "one peer at a time, all are claimed": SpectralGap({"one_peer_exponential": "exponential"}),
    "a ring runs, a hypercube is claimed": GraphConsensus("ring", "hypercube"),
    "one of all graphs is another": GraphConsensus(graphs={"two_level:4": "random_regular:4"}),
    "fewer entries are sent than claimed": UnbiasedNoise(entries=Words("randk:0.1", 0.2, 1.0)),
    "the largest entries are sent": UnbiasedNoise(entries=Words("topk:0.25", 0.2, 1.0)),
    "one level is sent, eight are claimed": UnbiasedNoise(levels=Words("qsgd:1", 0.2, 1.0)),
    "everyone has a mask of its own": SharedMask(Words("randk:0.25", 0.3)),
    "the memory is lost": ErrorFeedback(remembering="topk:0.3"),
    "memory where there should be none": ErrorFeedback(forgetting="ef+topk:0.3"),
    "references are lost": Difference(referring="topk:0.2"),
    "references where there should be none": Difference(forgetting="diff+topk:0.2"),
    "nobody waits": Staleness("asp"),
    "ssp:1 runs, ssp:3 is claimed": Staleness("ssp:1"),
    "ssp:1 runs, ssp:0 is claimed": ZeroStaleness("ssp:1 / ps"),
    "delays are not believed": DelayNoise(believed=0.0),
    "the step is twice as long": DelayBound(gam=0.4),
    "means come at once": StalenessPrice(run=(0, 0, 0, 0, 0)),
    "s = 8 runs, s = 0 is claimed": StalenessPrice((8,), (0,)),
    "s = 2 runs, s = 4 is claimed": StalenessPrice((2,), (4,)),
    "the eager wait, the patient do not": TimeToTarget(TimeToTarget().lines[::-1]),
    "D-PSGD is claimed to converge": Heterogeneity(converge=("gossip:ring", "tracking:ring")),
    "D2 is claimed to stall": Heterogeneity(stalls="d2:ring"),
    "the momentum of agreements is not believed": OuterMomentum(claimed=0.0),
    "there is no momentum of agreements": OuterMomentum(beta=0.0),
    "rounds wait for the slow one": BackupWorkers(spare=0),
    "rounds spare two": BackupWorkers(spare=2),
    "a tree costs as a ring": CollectiveCost(
        {"allreduce:tree / identity": "allreduce:ring / identity"}
    ),
}


@pytest.mark.parametrize("claim", BROKEN.values(), ids=BROKEN)
def test_a_broken_promise_fails(judged, claim):
    verdict = judged(claim)
    assert verdict.outcome is Outcome.FAILS, verdict


def test_every_claim_is_broken_once():
    assert {type(claim) for claim in BROKEN.values()} == {type(claims[name]) for name in OWN_RUNS}


@pytest.mark.parametrize("name", list(claims))
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
def test_under_mpi_no_claim_needs_more_ranks_than_there_are(name, ranks):
    for job in claims[name].jobs(Budget(ranks, 3, 0)):
        assert not job.mpi or job.size <= ranks
        job.run.check(job.size)


@pytest.mark.parametrize("ranks", [1, 5, 6])
@pytest.mark.parametrize("name", ["collective_cost", "linear_speedup", "spectral_gap"])
def test_claims_about_n_hold_for_any_number_of_ranks(judged, name, ranks):
    assert judged(claims[name], Budget(ranks, 4, 0)).outcome is Outcome.HOLDS


def test_the_spectral_gap_is_looked_at_on_every_graph_and_is_closed_unless_drawn():
    drawn = {"random_regular", "erdos_renyi", "directed_random"}
    assert {text.split(",")[0].split(":")[0] for text in GRAPHS} == set(topologies)
    for text in GRAPHS:
        if text.split(":")[0] in drawn or "metropolis" in text:
            with pytest.raises(ValueError, match="no closed form"):
                lam(text, 8)
        else:
            assert (
                gap_of(text, 8) == lam(text, 8) == pytest.approx(contraction(whole_turn(text, 8)))
            )


def test_with_too_few_ranks_a_claim_says_that_it_was_simulated(judged):
    assert "simulated" in judged(ErrorFeedback(), replace(BUDGET, ranks=2)).reason
    assert "1 under MPI" in judged(ErrorFeedback(), replace(BUDGET, ranks=3)).reason


def test_one_seed_leaves_a_claim_about_noise_undecided(judged):
    assert judged(ErrorFeedback(), replace(BUDGET, seeds=1)).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize("name", NETWORKS)
def test_costs_are_exact_on_every_network(judged, name):
    budget = replace(BUDGET, network=NETWORKS[name].network)
    verdict = judged(CollectiveCost(), budget)
    assert verdict.outcome is Outcome.HOLDS, verdict
    assert verdict.measured == len(exchanges())


@pytest.fixture(scope="module")
def some_runs(simulated):
    jobs = [
        claim for name in ("local_consensus", "staleness") for claim in claims[name].jobs(BUDGET)
    ]
    return simulated(jobs)


def test_all_bytes_are_as_predicted(some_runs):
    verdict = BytesOnTheWire().judge(some_runs, BUDGET)
    assert verdict.outcome is Outcome.HOLDS, verdict
    assert verdict.predicted == verdict.measured > 0


@pytest.mark.parametrize("architecture", ["ps:servers=1", "pairwise:ring"])
@pytest.mark.parametrize(("wrong", "outcome"), [(0, Outcome.HOLDS), (1, Outcome.FAILS)])
def test_workers_that_end_early_send_less(simulated, architecture, wrong, outcome):
    variant = Variant.parse(f"asp / {architecture} / identity / whole / sgd:0.1")
    run = Run(variant, iso(3, 0), 6, compute=1e-3, ends=(6, 2, 3))
    found = simulated([Job("early", run)])
    claim = BytesOnTheWire(partial(off_by, nbytes=wrong))
    assert claim.judge(found, BUDGET).outcome is outcome


def test_no_formula_speaks_of_workers_who_end_early_and_do_not_say_as_much():
    variant = Variant.parse("asp / ps / identity / whole / sgd:0.1")
    assert per_clock(Run(variant, iso(3, 0), 6, ends=(6, 2, 3))) is None


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


def test_two_worlds_agree_if_every_run_does(some_runs):
    equal = {key: replace(run, same=True) for key, run in some_runs.items()}
    verdict = SameInBothWorlds().judge(equal, BUDGET)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.measured == len(equal)
    key = next(iter(equal))
    equal[key] = replace(equal[key], same=False, differs="the column loss of the curve")
    verdict = SameInBothWorlds().judge(equal, BUDGET)
    assert verdict.outcome is Outcome.FAILS
    assert "loss" in verdict.reason


def test_where_nothing_ran_under_mpi_two_worlds_are_not_compared(some_runs):
    assert SameInBothWorlds().judge(some_runs, BUDGET).outcome is Outcome.UNDECIDED


def test_verdicts_bear_the_names_of_their_claims(some_runs):
    (verdict,) = verdicts(["local_consensus"], some_runs, BUDGET)
    assert verdict.name == "local_consensus"


def test_shared_noise_keeps_the_shifts_of_the_workers():
    het = problem("het", 4, 3)
    broken, x = SharedNoise(het), het.start()
    shift = het.full_gradient(x, 2) - het.full_gradient(x, 1)
    assert broken.batch(2, 5) - broken.batch(1, 5) == pytest.approx(shift)
