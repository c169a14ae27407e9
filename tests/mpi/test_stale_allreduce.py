"""All-reduces that come late, or that some begin, under MPI: the simulator's bits, or by script."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpiddl.comm.simulated import Network
from mpiddl.errors import Diverged
from mpiddl.ledger import SHOWN, script_of
from mpiddl.problems import problem
from mpiddl.train import Run, run, simulate
from mpiddl.variant import Variant

pytestmark = pytest.mark.mpi

TIMED = ("seconds", "bytes", "messages")  # of a snapshot, where something may be under way
EAGER = [
    "ssp:1 / allreduce:quorum=majority / ef+topk:0.3 / layerwise",
    "asp / allreduce:ring,quorum=solo / identity / layerwise",
]


def job(line, n, clocks=12, **options):
    made = problem("nc", n, seed=11, d=12, layers=4, zeta2=0.5)
    return Run(Variant.parse(f"{line} / sgd:0.125"), made, clocks, every=3, **options)


def curves_agree(one, other, without):
    names = [name for name in one.as_dict() if name not in without]
    same = all(np.array_equal(one[name], other[name], equal_nan=True) for name in names)
    return same and all(one[name][-1] == other[name][-1] for name in ("bytes", "messages"))


@pytest.mark.parametrize(
    "line",
    [
        "ssp:1 / allreduce / identity / layerwise",
        "ssp:3,period=2 / allreduce:ring / identity / whole",
        "ssp:2 / allreduce / diff+topk:0.3 / layerwise",
        "ssp:2 / allreduce / randk:0.4,mask=shared / whole",
        "bsp / dynamic:0.05 / identity / layerwise",
        "local:2 / dynamic:0.2 / ef+sign / whole",
    ],
)
def test_models_and_curves_are_those_of_the_simulator(comm, line):
    this = job(line, comm.size)
    real, simulated = run(this, comm), simulate(this)
    assert np.array_equal(real.x, simulated[comm.rank].x)
    if comm.rank == 0:
        assert curves_agree(real.curve, simulated[0].curve, without=TIMED)


def test_sums_of_mpi_itself_may_be_under_way_at_once(comm):
    native, ours = (
        run(job(f"ssp:2 / allreduce:{name} / identity / layerwise", comm.size), comm)
        for name in ("native", "naive")
    )
    assert np.allclose(native.x, ours.x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("line", EAGER)
@pytest.mark.parametrize("ended", [False, True])
def test_a_run_is_made_again_in_the_simulator(comm, line, ended):
    ends = (*[12] * (comm.size - 1), 5) if ended and comm.size > 1 else None
    this = job(line, comm.size, ends=ends, compute=lambda worker, step: 2e-3 * (worker == 1))
    real = run(this, comm)
    everyone = comm.gather(real.x)
    if comm.rank == 0:
        assert all(np.array_equal(x, real.x) for x in everyone)
        again = simulate(
            replace(this, script=script_of(real.services)), Network(1e-5, 1e-9), shuffle=3
        )
        assert np.array_equal(again[0].x, real.x)
        assert curves_agree(real.curve, again[0].curve, without=TIMED)
        read = real.services[real.services[:, 0] != SHOWN]
        assert read[:, 6].max() <= this.variant.sync.staleness


@pytest.mark.parametrize("line", EAGER)
def test_mpi_follows_a_script(comm, line):
    this = job(line, comm.size)
    once = simulate(this, Network(1e-5, 1e-9), shuffle=1)
    again = run(replace(this, script=script_of(once[0].services)), comm)
    assert np.array_equal(again.x, once[comm.rank].x)
    if comm.rank == 0:
        assert curves_agree(again.curve, once[0].curve, without=TIMED)


@pytest.mark.parametrize(
    "line", ["ssp:2 / allreduce / identity / layerwise", "bsp / dynamic:1 / sign / whole", *EAGER]
)
def test_divergence_is_raised_on_all_ranks(comm, line):
    wild = Variant.parse(f"{line} / sgd:1e200")
    with pytest.raises(Diverged):
        run(Run(wild, problem("iso", comm.size, seed=1, layers=4), 12), comm)
