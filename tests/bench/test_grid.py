from __future__ import annotations

from math import inf

import pytest

from bench.grid import Table, Terms, gap, round_up
from bench.networks import NETWORKS
from bench.variants import NAMED, Entry, entries_of, entry, grid_of
from mpiddl.problems import problem

ENTRIES = tuple(entry(name) for name in ("bsp", "local-4", "top-k", "asp"))
TERMS = Terms(4, 5, 3, NETWORKS["10gbe"].network, 1e-5)
GRID = (0.1, 1.0, 3.0)


@pytest.fixture(scope="module")
def found(simulated):
    table = Table("iso", ENTRIES, 16, GRID, TERMS)
    return table, simulated(table.trials())


def test_all_variants_make_the_same_number_of_gradients(found):
    for job in found[0].trials():
        assert job.run.clocks * job.run.variant.sync.period == 16
        assert job.run.problem.seed == TERMS.seed
        assert job.network == TERMS.network


def test_servers_are_ranks_that_do_not_work(found):
    by_entry = {job.key[2]: job.run for job in found[0].trials()}
    assert by_entry[entry("bsp")].problem.workers == 4
    assert by_entry[entry("asp")].problem.workers == 2
    assert {run.ranks for run in by_entry.values()} == {4}


def test_the_budget_is_rounded_up_to_what_all_can_make():
    assert round_up(30, [entry(name) for name in NAMED]) == 32
    assert round_up(32, [entry(name) for name in NAMED]) == 32
    assert round_up(7, [entry("bsp")]) == 7
    assert round_up(7, [entry("local:3 / allreduce / identity / whole / sgd:1")]) == 9


def test_the_best_step_size_is_chosen(found):
    table, outcomes = found
    for each, gam in table.choose(outcomes).items():
        curves = {o: outcomes[table.key(each, o, TERMS.seed)].curve["loss"] for o in GRID}
        late = {other: loss[7 * len(loss) // 8 :].mean() for other, loss in curves.items()}
        assert late[gam] == min(late.values()) < inf


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 9])
def test_a_step_size_is_chosen_however_few_snapshots_there_are(simulated, steps):
    table = Table("iso", [entry("bsp")], steps, GRID, TERMS)
    assert table.choose(simulated(table.trials()))[entry("bsp")] in GRID[:2]  # 3 diverges


def test_the_chosen_runs_have_seeds_enough_and_one_is_run_under_mpi(found):
    table, outcomes = found
    choice = table.choose(outcomes)
    jobs = table.finals(choice)
    assert len(jobs) == len(ENTRIES) * TERMS.seeds
    for job in jobs:
        assert job.mpi is (job.run.problem.seed == TERMS.seed)
    known = {job.key for job in table.trials()}
    assert {job.key for job in jobs if job.mpi} < known  # they are not simulated again


def test_a_run_that_diverges_is_never_the_best(simulated):
    table = Table("iso", [entry("bsp")], 800, (0.5, 20.0), TERMS)
    outcomes = simulated(table.trials())
    wild = outcomes[table.key(entry("bsp"), 20.0, TERMS.seed)]
    assert wild.diverged
    assert gap(wild) == inf
    assert table.choose(outcomes)[entry("bsp")] == 0.5


def test_a_line_with_its_own_step_size_is_run_once(simulated):
    fixed = entry("bsp / allreduce / identity / whole / sgd:0.25")
    table = Table("iso", [fixed], 4, GRID, TERMS)
    assert len(table.trials()) == 1
    assert table.choose(simulated(table.trials())) == {fixed: None}


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
def test_what_cannot_run_is_named_with_the_reason_and_all_else_can(ranks):
    terms = Terms(ranks, 0, 3, TERMS.network, 0.0)
    cube = entry("bsp / gossip:hypercube / identity / whole")
    entries = [*entries_of("breast_cancer", quick=False), cube]
    table = Table("breast_cancer", entries, 16, (1.0,), terms)
    impossible = dict(table.impossible())
    assert (entry("ps-2") in impossible) is (ranks <= 2)
    assert (cube in impossible) is (ranks in (3, 5))
    assert all(impossible.values())
    left = [each for each in entries if each not in impossible]
    assert len(left) > len(entries) / 2
    for job in Table("breast_cancer", left, 16, (1.0,), terms).trials():
        job.run.check(ranks)


def test_snapshots_of_a_large_model_are_few():
    large = Table("digits_mlp", ENTRIES, 64, GRID, Terms(32, 0, 3, TERMS.network, 0.0))
    small = Table("breast_cancer", ENTRIES, 64, GRID, TERMS)
    for table, most in ((large, 12), (small, 17)):
        for job in table.trials():
            assert 2 <= job.run.clocks / job.run.every + 1 <= most


def test_grids_scale_with_the_smoothness():
    assert grid_of(problem("iso", 2, 0, L=4.0)) == tuple(
        g / 4 for g in grid_of(problem("iso", 2, 0))
    )
    assert len(grid_of(problem("breast_cancer", 2, 0))) >= 3
    assert len(grid_of(problem("digits_mlp", 2, 0))) >= 3


def test_an_entry_without_a_name_is_called_what_it_does():
    assert Entry("bsp / allreduce:torus / identity / whole").name == "bsp / allreduce:torus"
