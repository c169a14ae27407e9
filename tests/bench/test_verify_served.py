"""Trials with a server as runs of mpiddl: stages, delays, and the schedule that theory foresees."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from bench.jobs import Job
from bench.verify import _judge, _specs
from bench.verify_runs import arrays, build
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import FIELDS
from theory.delayed import plans
from theory.trials import TRIALS

SPECS = {index: spec for index, (spec, _) in _specs().items() if spec.staleness is not None}
SEEDS = 4


def make(simulated, spec, seeds=SEEDS):
    jobs = [Job((0, seed), build(spec, seed), watched=True) for seed in range(seeds)]
    found = simulated(jobs)
    return [found[0, seed] for seed in range(seeds)]


@pytest.mark.parametrize("index", SPECS, ids=lambda i: f"{TRIALS[i].theorem}-{i}")
def test_a_run_keeps_every_stage_and_a_control_fails_where_it_must(simulated, index):
    spec = SPECS[index]
    found = dict(zip(((index, seed) for seed in range(SEEDS)), make(simulated, spec), strict=True))
    (tried,) = _judge({index: (spec, SEEDS)}, found)
    assert tried.ok, tried.stages
    names = [stage.name for stage in tried.stages]
    assert names[:3] == ["conditions", "identity", "views" if spec.falling else "reads"]


@pytest.mark.parametrize("staleness", [1, 3, inf])
@pytest.mark.parametrize("pace", ["random", "slow"])
def test_the_server_takes_in_whom_theory_foresees(simulated, staleness, pace):
    """Until the first worker ends: then the others, in the theory, would go on with it."""
    trial = replace(TRIALS[next(iter(SPECS))].real(), staleness=staleness, pace=pace, seeds=1)
    spec = replace(SPECS[next(iter(SPECS))], n=trial.n, staleness=staleness, pace=pace)
    (run,), (plan,) = make(simulated, spec, seeds=1), plans(trial)
    worker, clock, delay = (run.services[:, FIELDS.index(x)] for x in ("worker", "clock", "delay"))
    known = int(np.argmax(clock == clock.max()))
    assert known > spec.T / 10
    np.testing.assert_array_equal(worker[:known], plan.worker[:known])
    np.testing.assert_array_equal(delay[:known], plan.delays[:known])


def test_what_was_read_is_what_the_server_had(simulated):
    index, spec = next(iter(SPECS.items()))
    did = arrays(spec, make(simulated, spec, seeds=2))
    assert did.y.shape == did.g.shape == (2, spec.T, 1, 10)
    assert did.v.shape == (2, spec.T + 1, 10)
    read = np.arange(spec.T) - did.delays
    then = np.take_along_axis(did.v, read[:, :, None], axis=1)
    np.testing.assert_array_equal(did.y[:, :, 0], then)
    assert not np.array_equal(did.y[:, :, 0], did.v[:, :-1]), "delays are not all 0"


def test_steps_must_be_shared_evenly():
    spec = replace(next(iter(SPECS.values())), n=7)
    with pytest.raises(ConfigurationError, match="shared"):
        build(spec, 0)
