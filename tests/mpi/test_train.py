"""The same files in two worlds: runs under MPI are those of the simulator, to the bit."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from mpiddl.compression import compressors
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.problems import problem
from mpiddl.train import Run, run, simulate
from mpiddl.variant import Variant

pytestmark = pytest.mark.mpi

LINES = [
    "bsp / allreduce / identity / whole / sgd:0.25",
    "bsp / allreduce:ring / identity / layerwise / sgd:0.25",
    "bsp / allreduce:tree / identity / whole / sgd:0.25",
    "bsp / allreduce:recursive_doubling / identity / whole / sgd:0.25",
    "local:4 / allreduce:naive / identity / layerwise / sgd:0.25",
    "bsp / allreduce / ef+topk:0.1 / layerwise / sgd:0.25",
    "bsp / allreduce / ef+sign / whole / sgd:0.25",
    "bsp / allreduce / sign / layerwise / sgd:0.01",
    "bsp / gossip:ring / identity / layerwise / sgd:0.25",
    "local:3 / gossip:complete / identity / whole / sgd:0.25",
    "bsp / d2:ring / identity / layerwise / sgd:0.25",
    "bsp / tracking:one_peer_exponential / fp16 / whole / sgd:0.1",
    "bsp / push_sum:directed_random:0.3;seed=1 / identity / layerwise / sgd:0.25",
    "local:2 / push_sum:one_peer_exponential,gamma=0.5 / diff+topk:0.4 / whole / sgd:0.25",
    "post_local:3,after=5 / gossip:ring / identity / whole / quasi_global:0.1",
]


WORDS = [f"bsp / allreduce / {word} / layerwise / sgd:0.02" for word in compressors]


def job(line, n, seed=11, clocks=25, **options):
    return Run(Variant.parse(line), problem("breast_cancer", n, seed, **options), clocks, every=5)


@pytest.mark.parametrize("line", [*LINES, *WORDS])
@pytest.mark.parametrize("sharding", ["replicated", "disjoint"])
def test_models_curves_and_counts_equal_those_of_the_simulator(comm, line, sharding):
    this = job(line, comm.size, sharding=sharding)
    real, simulated = run(this, comm), simulate(this)
    assert np.array_equal(real.x, simulated[comm.rank].x)
    if comm.rank == 0:
        for column in real.curve.as_dict():
            if column != "seconds":
                assert np.array_equal(
                    real.curve[column], simulated[0].curve[column], equal_nan=True
                ), column


def test_the_comparison_notices_another_seed(comm):
    real, other = run(job(LINES[0], comm.size), comm), simulate(job(LINES[0], comm.size, seed=12))
    assert not np.array_equal(real.x, other[comm.rank].x)


@pytest.mark.parametrize("line", LINES[:8])
def test_all_replicas_have_one_hash(comm, line):
    digest = hashlib.sha256(run(job(line, comm.size), comm).x.tobytes()).hexdigest()
    everyone = comm.gather(digest)
    assert everyone is None or len(set(everyone)) == 1


@pytest.mark.parametrize("line", LINES)
def test_divergence_is_raised_on_all_ranks(comm, line):
    wild = line.rsplit("/", 1)[0] + "/ sgd:1e200"
    with pytest.raises(Diverged, match="rank 0"):
        run(job(wild, comm.size), comm)


@pytest.mark.parametrize("collective", ["native", "ring"])
def test_a_rank_that_meets_nan_alone_keeps_the_order_of_its_lanes(comm, collective, monkeypatch):
    this = job(f"bsp / allreduce:{collective} / identity / layerwise / sgd:0.25", comm.size)
    kind, last = type(this.problem), comm.size - 1
    gradient = kind.gradient

    def spoilt(self, x, batch, out):
        for event, layer in gradient(self, x, batch, out):
            if comm.rank == last and x.any():  # from clock 1 on: the start is 0
                out[0] = np.nan
            yield event, layer

    monkeypatch.setattr(kind, "gradient", spoilt)
    with pytest.raises(Diverged, match=f"rank {last} .* clock 1;"):
        run(this, comm)


def test_ranks_that_disagree_are_told_before_any_message(comm):
    if comm.size == 1:
        pytest.skip("one rank cannot disagree")
    sent = comm.traffic.sent.messages
    line = LINES[0] if comm.rank else LINES[1]
    with pytest.raises(ConfigurationError, match="variant"):
        run(job(line, comm.size), comm)
    assert comm.traffic.sent.messages == sent


@pytest.mark.parametrize("size", [3, 3000])
def test_ranks_agree_on_every_entry_of_an_option(comm, size):
    def spectrum(middle):
        found = np.linspace(0.1, 1.0, size)
        found[size // 2] = middle
        return Run(Variant.parse(LINES[0]), problem("spec", comm.size, spectrum=found), 2)

    run(spectrum(0.5), comm)
    if comm.size > 1:
        with pytest.raises(ConfigurationError, match="disagree"):
            run(spectrum(0.5 if comm.rank else 0.25), comm)


def test_a_wrong_number_of_workers_is_refused_on_all_ranks(comm):
    with pytest.raises(ConfigurationError, match="workers="):
        run(job(LINES[0], comm.size + 1), comm)
