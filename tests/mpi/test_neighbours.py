"""Stale gossip and pairwise averaging under MPI: made again in the simulator, and by MPI itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpiddl.comm.simulated import Network
from mpiddl.errors import Diverged
from mpiddl.ledger import FIELDS, script_of
from mpiddl.problems import problem
from mpiddl.train import Run, run, simulate
from mpiddl.variant import Variant

pytestmark = pytest.mark.mpi

LINES = [
    "ssp:1 / gossip:ring / identity / layerwise",
    "asp / gossip:complete,gamma=0.5 / diff+topk:0.3 / whole",
    "asp:period=2 / gossip:exponential,order=cta / qsgd:4 / whole",
    "asp / pairwise:ring / identity / layerwise",
    "asp:period=2 / pairwise:complete / fp16 / whole",
]
every_line = pytest.mark.parametrize("line", LINES)
NOT_MODEL = ("seconds", "bytes", "messages")


def job(line, ranks, clocks=12, **options):
    made = problem("nc", ranks, seed=11, d=31, layers=4, zeta2=0.5)
    return Run(Variant.parse(f"{line} / sgd:0.25"), made, clocks, every=4, **options)


def curves_agree(one, other):
    names = [name for name in one.as_dict() if name not in NOT_MODEL]
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in names)


@every_line
@pytest.mark.parametrize("early", [False, True])
def test_a_run_is_made_again_in_the_simulator_as_it_was(comm, line, early):
    ends = (*[12] * (comm.size - 1), 5) if early and comm.size > 1 else None
    this = job(line, comm.size, ends=ends)
    real = run(this, comm)
    everyone = comm.gather(real.x)
    if comm.rank == 0:
        script = script_of(real.services)
        again = simulate(replace(this, script=script), Network(1e-5, 1e-9), shuffle=3)
        assert curves_agree(real.curve, again[0].curve)
        assert all(np.array_equal(x, other.x) for x, other in zip(everyone, again, strict=True))
        assert real.curve["bytes"][-1] == again[0].curve["bytes"][-1]
        assert real.curve["messages"][-1] == again[0].curve["messages"][-1]


@every_line
def test_mpi_follows_a_script(comm, line):
    this = job(line, comm.size)
    once = simulate(this, Network(1e-5, 1e-9), shuffle=1)
    again = run(replace(this, script=script_of(once[0].services)), comm)
    assert np.array_equal(again.x, once[comm.rank].x)
    if comm.rank == 0:
        assert curves_agree(again.curve, once[0].curve)


@pytest.mark.parametrize("s", [0, 1, 3])
def test_nothing_is_older_than_the_bound_while_one_is_slow(comm, s):
    this = job(
        f"ssp:{s} / gossip:complete / identity / whole",
        comm.size,
        clocks=8,
        compute=lambda worker, step: 0.05 if worker == 1 else 1e-3,
    )
    result = run(this, comm)
    if comm.rank == 0 and s:
        ages = result.services[:, FIELDS.index("staleness")]
        assert ages.max(initial=0) <= s
        assert comm.size == 1 or ages.max() == s


@every_line
def test_divergence_is_raised_on_all_ranks(comm, line):
    this = job(line, comm.size)
    variant = Variant.parse(str(this.variant).replace("0.25", "1e200"))
    with pytest.raises(Diverged):
        run(replace(this, variant=variant, problem=problem("iso", comm.size, seed=1)), comm)
