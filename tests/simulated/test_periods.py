"""Clocks that are not all alike: post-local SGD and growing periods against their recursions."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.architecture.topology import find
from mpiddl.errors import Diverged
from mpiddl.problems import problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.simulated.test_variants import GAM, SIZES, Poisoned, gradients, models

CLOCKS = 15


def post_local(t):
    """Whether models are averaged after step t: after each of the first 6, then every 4."""
    return t < 6 or (t - 6) % 4 == 3


def growing(t):
    """Averaged after 1, 1, 1, 2, 2, 2, 4, 4, .. steps."""
    ends = [0, 1, 2, 4, 6, 8, *range(12, 200, 4)]
    return t in ends


WHEN = {"post_local:4,after=6": post_local, "growing:4,every=3": growing}


def recursion(problem, w, steps, averaged):
    """Return the models X (n, d) of SGD whose models are mixed by W after some steps."""
    x = np.tile(problem.start(), (len(w), 1))
    for t in range(steps):
        x = x - GAM * gradients(problem, x, t)
        if averaged(t):
            x = w @ x
    return x


@pytest.mark.parametrize("sync", WHEN)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    "architecture", ["allreduce", "ps", "ps:servers=2", "gossip:ring", "push_sum:exponential"]
)
@pytest.mark.parametrize("plan", ["whole", "layerwise"])
def test_it_is_its_recursion(sync, n, architecture, plan):
    problem = problems["nc"](n, seed=5, layers=2, zeta2=0.5)
    variant = Variant.parse(f"{sync} / {architecture} / identity / {plan} / sgd:{GAM}")
    graph = architecture.partition(":")[2]
    w = find(graph).matrix(n) if graph in ("ring", "exponential") else np.full((n, n), 1 / n)
    steps = variant.sync.start(CLOCKS)
    expected = recursion(problem, w, steps, WHEN[sync])
    assert np.allclose(models(variant, problem, CLOCKS), expected, rtol=0, atol=1e-13)


def test_the_comparison_notices_one_clock_too_many():
    problem = problems["nc"](3, seed=5, zeta2=0.5)
    found = models(f"post_local:4,after=7 / allreduce / identity / whole / sgd:{GAM}", problem, 15)
    steps, w = 7 + 4 * 8, np.full((3, 3), 1 / 3)
    assert not np.allclose(found, recursion(problem, w, steps, post_local), rtol=0, atol=1e-4)


@pytest.mark.parametrize("seat", ["sgd:0.125>sgd:1", "none>sgd:0.125"])
@pytest.mark.parametrize("other", ["local:1", "post_local:1,after=3", "growing:1,every=2"])
def test_clocks_of_one_step_are_bsp_to_the_bit(seat, other):
    problem = problems["breast_cancer"](4, seed=2)
    for architecture in ("allreduce", "ps:servers=1"):
        one, same = (
            models(f"{sync} / {architecture} / identity / whole / {seat}", problem, 12)
            for sync in ("bsp", other)
        )
        assert np.array_equal(one, same)


@pytest.mark.parametrize("sync", WHEN)
def test_mean_gradients_of_a_clock_are_means_over_its_own_steps(sync):
    """Without an inner optimizer a clock of H steps takes H gradients at one model."""
    problem = problems["nc"](3, seed=5, zeta2=0.5)
    variant = Variant.parse(f"{sync} / allreduce / identity / whole / none>sgd:{GAM}")
    x = np.tile(problem.start(), (3, 1))
    for clock in range(10):
        first = variant.sync.start(clock)
        steps = range(first, first + variant.sync.steps(clock))
        x = x - GAM * np.mean([gradients(problem, x, t).mean(axis=0) for t in steps], axis=0)
    assert np.allclose(models(variant, problem, 10), x, rtol=0, atol=1e-13)


@pytest.mark.parametrize("sync", WHEN)
def test_curves_count_the_steps_that_were_made(sync):
    variant = Variant.parse(f"{sync} / allreduce / identity / whole / sgd:{GAM}")
    run = Run(variant, problems["nc"](3, seed=1), 9, every=2, compute=1.0)
    curve = simulate(run)[0].curve
    assert curve["step"].tolist() == [variant.sync.start(int(clock)) for clock in curve["clock"]]
    assert np.allclose(curve["seconds"], curve["step"])


@pytest.mark.parametrize("sync", WHEN)
def test_divergence_names_the_clock_of_the_step(sync):
    problem = Poisoned(problems["iso"](3, seed=0, layers=2), np.nan)  # at step 5
    variant = Variant.parse(f"{sync} / allreduce / identity / layerwise / sgd:{GAM}")
    with pytest.raises(Diverged) as error:
        simulate(Run(variant, problem, 12, every=1))
    clock = next(c for c in range(12) if variant.sync.start(c + 1) > 5)
    assert error.value.result.diverged == (1, clock)
