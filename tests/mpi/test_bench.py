"""Jobs side by side: those that need fewer ranks than there are, in groups, all on rank 0."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bench.console import Progress
from bench.crew import Crew
from bench.jobs import Job, check
from bench.run import refuse_together, told
from bench.verify_graphs import ForcedGossip
from bench.wrappers import Scattered
from mpiddl.architecture.gossip import Gossip
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problem
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

pytestmark = pytest.mark.mpi
LINE = "bsp / allreduce / ef+topk:0.3 / whole / sgd:0.1>sgd:1"


def jobs(most, watched=False):
    return [
        Job(
            (n, seed),
            Run(Variant.parse(LINE), problem("nc", n, seed), 5, every=1),
            watched,
            mpi=True,
        )
        for n in (1, 2, 3, most)
        if n <= most
        for seed in range(3)
    ]


@pytest.mark.parametrize("watched", [False, True])
def test_jobs_of_every_size_are_those_of_the_simulator(comm, watched):
    found = Crew(comm, Progress(None)).make("test", jobs(comm.size, watched))
    if comm.rank:
        assert not found
        return
    for job in jobs(comm.size):
        outcome, alone = found[job.key], simulate(job.run)
        assert outcome.same is True, outcome.differs
        assert np.array_equal(outcome.real["loss"], alone[0].curve["loss"])
        assert outcome.sent == outcome.received == alone[0].curve["bytes"][-1]
        assert len(outcome.traces) == (job.size if watched else 0)
        for trace, result in zip(outcome.traces, alone, strict=False):
            assert np.array_equal(trace.x, result.x)


def test_a_job_that_diverges_does_not_stop_the_others(comm):
    wild = Variant.parse("bsp / allreduce / identity / whole / sgd:1e200")
    batch = [Job("wild", Run(wild, problem("iso", 1, 0), 50), mpi=True), *jobs(comm.size)]
    found = Crew(comm, Progress(None)).make("test", batch)
    if comm.rank == 0:
        assert found["wild"].diverged
        assert found["wild"].same is True
        assert not any(found[job.key].diverged for job in batch[1:])


ASYNCHRONOUS = {
    "asp / ps / identity / whole / sgd:0.1": 0,
    "asp / ps / ef+topk:0.3 / layerwise / sgd:0.1": 0,
    "ssp:1 / ps:servers=1 / qsgd:4 / whole / sgd:0.1": 1,
    "asp / ps:servers=2,down=diff+topk:0.3 / topk:0.3 / whole / sgd:0.1": 2,
}


def test_an_asynchronous_run_is_that_of_its_replay(comm):
    batch = [
        Job(line, Run(Variant.parse(line), problem("nc", comm.size - servers, 0), 6), mpi=True)
        for line, servers in ASYNCHRONOUS.items()
        if servers < comm.size
    ]
    check(batch)
    crew = Crew(comm, Progress(None))
    found = crew.make("test", batch)
    for outcome in found.values():
        assert outcome.same is True, (outcome.job.key, outcome.differs)
        assert outcome.sent == outcome.received
        assert len(outcome.services) > 0
    if comm.size > 2:
        assert any("replayed" in stage for stage in crew.seconds)


def test_a_known_job_is_not_simulated_again_but_can_be_run_under_mpi(comm, monkeypatch):
    crew = Crew(comm, Progress(None))
    alone = [replace(job, mpi=False) for job in jobs(comm.size)]
    first = crew.make("first", alone)
    assert not any(outcome.real for outcome in first.values())
    monkeypatch.setattr("bench.crew.simulated", None)  # whoever simulates now fails
    second = crew.make("second", jobs(comm.size))
    assert all(outcome.same for outcome in second.values())
    assert set(crew.found) == ({job.key for job in alone} if comm.rank == 0 else set())


def test_jobs_for_more_ranks_than_there_are_can_be_simulated(comm):
    many = problem("nc", 2 * comm.size, 0)
    found = Crew(comm, Progress(None)).make(
        "test", [Job("many", Run(Variant.parse(LINE), many, 3))]
    )
    assert [outcome.same for outcome in found.values()] == [None] * (comm.rank == 0)


def test_what_rank_0_is_told_all_are_told_or_refused(comm):
    assert told(comm, lambda: comm.rank) == 0

    def refuse():
        raise ConfigurationError("not here")

    with pytest.raises(ConfigurationError, match="not here"):
        told(comm, refuse)


def test_a_job_that_cannot_be_run_is_refused_on_all_ranks(comm):
    bad = Variant.parse("bsp / gossip:ring / ef+sign / whole / sgd:1")
    with pytest.raises(ConfigurationError, match="remembers"):
        check([*jobs(comm.size), Job("bad", Run(bad, problem("iso", 1, 0), 5))])


def test_a_folder_that_rank_0_cannot_write_is_refused_on_all_ranks(comm, tmp_path):
    place = tmp_path / "file"
    if comm.rank == 0:
        place.write_text("")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        refuse_together(comm, place)
    refuse_together(comm, tmp_path if comm.rank == 0 else place)  # the others are not asked


def test_a_lopsided_matrix_moves_the_mean(comm):
    if comm.size < 3:
        pytest.skip("a lopsided ring needs three ranks")
    means, ring = {}, Variant.parse("bsp / gossip:ring / identity / whole / sgd:1")
    for topology, architecture in (
        ("ring", Gossip("ring")),
        ("lopsided", ForcedGossip("ring", forced="lopsided")),
    ):
        variant = replace(ring, architecture=architecture)
        job = Job(topology, Run(variant, Scattered(iso(comm.size, 0)), 5), watched=True, mpi=True)
        found = Crew(comm, Progress(None)).make("test", [job])
        if comm.rank == 0:
            means[topology] = np.mean([trace.y for trace in found[topology].traces], axis=0)[1:]
    if comm.rank == 0:
        assert np.allclose(means["ring"], means["ring"][0])
        assert not np.allclose(means["lopsided"], means["lopsided"][0])
        assert json.dumps(means["ring"].tolist())
