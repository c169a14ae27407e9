"""Backup workers, elastic averaging, compensated staleness under MPI: the simulator's bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpiddl import stragglers
from mpiddl.comm.simulated import Network
from mpiddl.errors import Diverged
from mpiddl.ledger import FIELDS, script_of
from mpiddl.problems import problem
from mpiddl.train import run, simulate
from mpiddl.variant import Variant
from tests.mpi.test_parameter_server import NOT_MODEL, curves_agree, job

pytestmark = pytest.mark.mpi

DELAY = FIELDS.index("delay")
CHANCE = [
    "bsp / ps:backup=1 / identity / layerwise",
    "local:2 / ps:servers=1,backup=1,down=diff+topk:0.3 / ef+sign / whole",
    "asp / easgd:0.9 / identity / layerwise",
    "ssp:1,period=2 / easgd:0.5,servers=1 / diff+sign / whole",
    "asp / staleness_aware:servers=1 / identity / layerwise",
    "ssp:2 / dc_asgd:1 / identity / whole",
    "asp:period=3 / ps / ef+topk:0.2 / layerwise",
]


def uneven(line, ranks, **options):
    """Return a run whose workers are slow now and then; skip if it needs more of them."""
    this = job(line, ranks, **options)
    if getattr(this.variant.architecture, "backup", 0) >= this.problem.workers:
        pytest.skip("a round needs a worker")
    return replace(this, compute=stragglers.parse("intermittent:5e-4,chance=0.3,factor=8", 1))


@pytest.mark.parametrize("servers", ["servers=0", "servers=1", "servers=2"])
@pytest.mark.parametrize(
    "words",
    ["bsp / {} / identity / layerwise", "local:3 / {},down=diff+sign / diff+topk:0.2 / whole"],
)
def test_elastic_rounds_are_those_of_the_simulator(comm, servers, words):
    this = job(words.format(f"easgd:0.8,{servers}"), comm.size)
    real, simulated = run(this, comm), simulate(this)
    assert np.array_equal(real.x, simulated[comm.rank].x)
    if comm.rank == 0:
        assert curves_agree(real.curve, simulated[0].curve, without=["seconds"])


@pytest.mark.parametrize("line", CHANCE)
def test_a_run_is_made_again_in_the_simulator(comm, line):
    this = uneven(line, comm.size)
    real = run(this, comm)
    everyone = comm.gather(real.x)
    if comm.rank == 0:
        again = simulate(
            replace(this, script=script_of(real.services)), Network(1e-5, 1e-9), shuffle=3
        )
        assert curves_agree(real.curve, again[0].curve, NOT_MODEL)
        assert all(np.array_equal(x, other.x) for x, other in zip(everyone, again, strict=True))
        assert real.curve["bytes"][-1] == again[0].curve["bytes"][-1]
        assert len(real.services) == len(again[0].services)


@pytest.mark.parametrize("line", CHANCE)
def test_mpi_follows_a_script(comm, line):
    this = uneven(line, comm.size)
    once = simulate(this, Network(1e-5, 1e-9), shuffle=1)
    again = run(replace(this, script=script_of(once[0].services)), comm)
    assert np.array_equal(again.x, once[comm.rank].x)
    if comm.rank == 0:
        assert curves_agree(again.curve, once[0].curve, NOT_MODEL)


@pytest.mark.parametrize("servers", ["servers=1,", ""])
def test_a_round_does_not_wait_for_a_slow_worker(comm, servers):
    this = uneven(f"bsp / ps:{servers}backup=1 / identity / whole", comm.size, clocks=8)
    slow = this.problem.workers - 1
    this = replace(this, compute=lambda worker, step: 1.0 if worker == slow else 1e-3)
    result = run(this, comm)
    if comm.rank == 0:
        late = result.services[result.services[:, DELAY] > 0]
        assert late[:, FIELDS.index("worker")].tolist() == [slow] * len(late)
        assert len(late)
        assert result.curve["seconds"][-1] < 0.9  # a single clock of the slow one takes longer


@pytest.mark.parametrize("line", CHANCE)
def test_divergence_is_raised_on_all_ranks(comm, line):
    this = uneven(line, comm.size)
    variant = Variant.parse(str(this.variant).replace("sgd:0.25", "sgd:1e200"))
    with pytest.raises(Diverged):
        run(replace(this, variant=variant, problem=problem("iso", this.problem.workers, 1)), comm)
