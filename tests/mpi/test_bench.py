"""Jobs side by side: those that need fewer ranks than there are, in groups, all on rank 0."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.console import Progress
from bench.jobs import Crew, Job, check
from bench.run import refuse_together
from bench.verify_runs import Spec, build
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

pytestmark = pytest.mark.mpi
LINE = "bsp / allreduce / ef+topk:0.3 / whole / sgd:0.1>sgd:1"


def jobs(most, watched=False):
    return [
        Job((n, seed), Run(Variant.parse(LINE), problem("nc", n, seed), 5, every=1), watched)
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
        assert np.array_equal(outcome.curve["loss"], alone[0].curve["loss"])
        assert outcome.sent == outcome.received == alone[0].curve["bytes"][-1]
        assert len(outcome.traces) == (job.size if watched else 0)
        for trace, result in zip(outcome.traces, alone, strict=False):
            assert np.array_equal(trace.x, result.x)


def test_a_job_that_diverges_does_not_stop_the_others(comm):
    wild = Variant.parse("bsp / allreduce / identity / whole / sgd:1e200")
    batch = [Job("wild", Run(wild, problem("iso", 1, 0), 50)), *jobs(comm.size)]
    found = Crew(comm, Progress(None)).make("test", batch)
    if comm.rank == 0:
        assert found["wild"].diverged
        assert not any(found[job.key].diverged for job in batch[1:])


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
    means = {}
    for topology in ("ring", "lopsided"):
        spec = Spec(
            "iso", {}, comm.size, 4, 1, 0.0, None, topology, "identity", 0, True, "own", "apart"
        )
        job = Job(topology, build(spec, 0), watched=True)
        found = Crew(comm, Progress(None)).make("test", [job])
        if comm.rank == 0:
            means[topology] = np.mean([trace.y for trace in found[topology].traces], axis=0)[1:]
    if comm.rank == 0:
        assert np.allclose(means["ring"], means["ring"][0])
        assert not np.allclose(means["lopsided"], means["lopsided"][0])
        assert json.dumps(means["ring"].tolist())
