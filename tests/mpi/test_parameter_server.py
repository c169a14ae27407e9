"""Servers under MPI: the simulator's bits where all wait for all, else those of the same order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpiddl.comm.simulated import Network
from mpiddl.errors import Diverged
from mpiddl.ledger import script_of
from mpiddl.problems import problem
from mpiddl.train import Run, run, simulate
from mpiddl.variant import Variant

pytestmark = pytest.mark.mpi

SERVERS = ["ps", "ps:servers=1", "ps:servers=2", "ps:servers=3", "ps:servers=5"]
NOT_MODEL = ("seconds", "bytes", "messages")


def job(line, ranks, clocks=12, d=31, **options):
    """Return a run on all ranks; skip if nobody would be left to work."""
    variant = Variant.parse(f"{line} / sgd:0.25")
    workers = ranks - variant.architecture.servers
    if workers < 1:
        pytest.skip("no rank is left to work")
    made = problem("nc", workers, seed=11, d=d, layers=4, zeta2=0.5)
    return Run(variant, made, clocks, every=4, **options)


def curves_agree(one, other, without):
    names = [name for name in one.as_dict() if name not in without]
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in names)


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("d", [4, 31])
@pytest.mark.parametrize(
    "words", ["bsp / {} / identity", "local:3 / {} / ef+topk:0.2", "ssp:0 / {} / diff+sign"]
)
def test_where_all_wait_for_all_mpi_and_simulator_are_alike(comm, servers, d, words):
    this = job(f"{words.format(servers)} / layerwise", comm.size, d=d)
    real, simulated = run(this, comm), simulate(this)
    assert np.array_equal(real.x, simulated[comm.rank].x)
    if comm.rank == 0:
        assert curves_agree(real.curve, simulated[0].curve, without=["seconds"])
        assert len(real.services) == len(simulated[0].services)


@pytest.mark.parametrize("servers", ["ps", "ps:servers=1", "ps:servers=2,down=diff+topk:0.3"])
@pytest.mark.parametrize("sync", ["asp", "ssp:1"])
def test_a_run_is_made_again_in_the_simulator_in_the_order_that_it_had(comm, servers, sync):
    this = job(f"{sync} / {servers} / ef+sign / layerwise", comm.size)
    real = run(this, comm)
    everyone = comm.gather(real.x)
    if comm.rank == 0:
        script = script_of(real.services)
        again = simulate(replace(this, script=script), Network(1e-5, 1e-9), shuffle=3)
        assert curves_agree(real.curve, again[0].curve, NOT_MODEL)
        assert all(np.array_equal(x, other.x) for x, other in zip(everyone, again, strict=True))
        assert real.curve["bytes"][-1] == again[0].curve["bytes"][-1]
        assert len(real.services) == len(again[0].services)


@pytest.mark.parametrize("servers", ["ps", "ps:servers=1"])
def test_mpi_follows_a_script(comm, servers):
    this = job(f"asp / {servers} / identity / whole", comm.size)
    once = simulate(this, Network(1e-5, 1e-9), shuffle=1)
    again = run(replace(this, script=script_of(once[0].services)), comm)
    assert np.array_equal(again.x, once[comm.rank].x)
    if comm.rank == 0:
        assert curves_agree(again.curve, once[0].curve, NOT_MODEL)


@pytest.mark.parametrize("s", [0, 1, 3])
@pytest.mark.parametrize("servers", ["ps", "ps:servers=1"])
def test_a_slow_worker_is_waited_for_and_one_that_has_ended_is_not(comm, s, servers):
    this = job(
        f"ssp:{s} / {servers} / identity / whole",
        comm.size,
        clocks=8,
        compute=lambda worker, step: 0.05 if worker == 2 else 1e-3,
    )
    n = this.problem.workers
    if n > 1:
        this = replace(this, ends=(8, 4, *[8] * (n - 2)))
    result = run(this, comm)
    if comm.rank == 0:
        services, heard = result.services, {}
        for _, server, _, worker, clock, delay, missing, *_ in services.tolist():
            counts = heard.setdefault(server, [0] * n)
            behind = [h for h, end in zip(counts, this.all_clocks, strict=True) if h < end]
            assert clock - min(behind) <= s
            assert 0 <= missing <= s
            assert delay <= (2 * s + 1) * (n - 1) * (s > 0)
            counts[worker] += 1
        assert all(counts == list(this.all_clocks) for counts in heard.values())
        if n > 2:
            assert 0.4 <= result.curve["seconds"][-1] < 5


@pytest.mark.parametrize("line", ["bsp / ps", "ssp:1 / ps:servers=1", "asp / ps:down=diff+sign"])
def test_divergence_is_raised_on_all_ranks(comm, line):
    this = job(f"{line} / identity / layerwise", comm.size)
    variant = Variant.parse(str(this.variant).replace("0.25", "1e200"))
    wild = replace(this, variant=variant, problem=problem("iso", this.problem.workers, seed=1))
    with pytest.raises(Diverged):
        run(wild, comm)
