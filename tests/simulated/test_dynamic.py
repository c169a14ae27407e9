"""Dynamic averaging against its recursion: who agrees when, and what it costs."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.problems import problem, problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_variants import Poisoned, gradients, sign, topk
from theory.cost import ALLGATHER, ALLREDUCE, dynamic
from theory.wire import PAYLOAD

GAM, D, W = 0.125, 6, 8
NETWORK = Network(2.0**-16, 2.0**-30, 2.0**-33)


def job(line, n, clocks=20, plan="whole", words="identity", every=1):
    made = problem("nc", n, seed=1, d=D, layers=2, zeta2=0.5)
    variant = Variant.parse(f"{line} / {words} / {plan} / sgd:{GAM}")
    return Run(variant, made, clocks, every=every, compute=2.0**-12)


def models(results):
    return np.array([result.x for result in results])


def recursion(run, code=lambda v: v, memory=0):
    """Return the models (n, d) after every clock, and by lane how often all agreed."""
    learnt, n, sync = run.problem, run.problem.workers, run.variant.sync
    spans = [bucket.span for bucket in run.variant.schedule.plan(learnt.layout, W).buckets]
    x, e, agreed = np.tile(learnt.start(), (n, 1)), np.zeros((n, D)), [0] * len(spans)
    last, after = x[0].copy(), [x]
    for clock in range(run.clocks):
        for step in range(sync.start(clock), sync.start(clock + 1)):
            x = x - GAM * gradients(learnt, x, step)
        for lane, span in enumerate(spans):
            moved = last[span] - x[:, span]
            if (moved**2).sum() / n > run.variant.architecture.threshold:
                agreed[lane] += 1
                p = moved + e[:, span]
                said = np.array([code(row) for row in p])
                e[:, span] = memory * (p - said)
                last[span] = last[span] - said.mean(axis=0)
                x[:, span] = last[span]
        after.append(x)
    return after, agreed


WORDS = {
    "identity": (lambda v: v, 0),
    "ef+topk:0.4": (lambda v: topk(v, 0.4), 1),
    "sign": (sign, 0),
}


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("plan", ["whole", "layerwise"])
@pytest.mark.parametrize("sync", ["bsp", "local:3", "growing:4,every=3"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_dynamic_averaging_is_its_recursion(words, plan, sync, n):
    threshold = 0.02 if sync == "bsp" else 0.15
    run = job(f"{sync} / dynamic:{threshold}", n, plan=plan, words=words)
    after, agreed = recursion(run, *WORDS[words])
    found = simulate(run, NETWORK, shuffle=3)
    assert np.allclose(models(found), after[-1], rtol=0, atol=1e-14)
    assert any(0 < times < run.clocks for times in agreed)  # sometimes, not always
    if n > 1:
        never, _ = recursion(job(f"{sync} / dynamic:inf", n, plan=plan))
        assert not np.allclose(models(found), never[-1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("plan", ["whole", "layerwise"])
@pytest.mark.parametrize("sync", ["bsp", "local:3"])
def test_with_no_distance_allowed_it_is_local_sgd_to_the_bit(plan, sync):
    always = models(simulate(job(f"{sync} / dynamic:0", 4, plan=plan)))
    line = f"{sync} / allreduce / identity / {plan} / sgd:{GAM}>sgd:1"
    made = problem("nc", 4, seed=1, d=D, layers=2, zeta2=0.5)
    assert np.array_equal(always, models(simulate(Run(Variant.parse(line), made, 20))))


def test_with_any_distance_allowed_nobody_hears_of_anybody():
    run = job("local:2 / dynamic:inf", 3)
    after, agreed = recursion(run)
    found = simulate(run)
    assert agreed == [0]
    assert np.allclose(models(found), after[-1], rtol=0, atol=1e-14)
    number = ALLREDUCE["halving_doubling"].at(n=3, b=1, w=8)
    assert found[0].curve["messages"][-1] == 20 * number.messages


@pytest.mark.parametrize("words", ["identity", "ef+topk:0.4"])
@pytest.mark.parametrize("collective", ["halving_doubling", "ring"])
@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_messages_bytes_and_time_are_those_of_what_was_agreed_on(words, collective, n):
    run = job(f"bsp / dynamic:0.02,collective={collective}", n, words=words)
    _, (agreed,) = recursion(run, *WORDS[words])
    if words == "identity":
        mean, b, w = ALLREDUCE[collective], D, W
    else:
        mean, b, w = ALLGATHER["bruck"], int(PAYLOAD["topk"](D, W, 0.4)), 1
    units = {"al": NETWORK.alpha, "be": NETWORK.beta, "ga": NETWORK.gamma}
    cost = dynamic(ALLREDUCE[collective], mean, run.clocks, agreed).at(n=n, b=b, w=w, **units)
    curve = simulate(run, NETWORK)[0].curve
    assert (curve["messages"][-1], curve["bytes"][-1]) == (cost.messages, cost.bytes)
    if collective == "ring":  # blocks of one length or none: nobody waits for a longer one
        return
    assert curve["seconds"][-1] == pytest.approx(run.clocks * 2.0**-12 + cost.time, rel=1e-12)


@pytest.mark.parametrize(("sync", "threshold"), [("bsp", 0.05), ("local:3", 0.3)])
def test_models_stay_within_the_distance_that_is_allowed(sync, threshold):
    run = job(f"{sync} / dynamic:{threshold}", 5, 40)
    apart = simulate(run)[0].curve["consensus2"]
    assert apart.max() <= threshold
    assert apart.max() > threshold / 10  # and use it
    free = simulate(job(f"{sync} / dynamic:inf", 5, 40))[0].curve["consensus2"]
    assert free.max() > threshold


def test_all_decide_alike_in_every_order_and_a_run_repeats():
    for n in (2, 3, 5):
        run = job("bsp / dynamic:0.02", n, 8, plan="layerwise", words="ef+topk:0.4", every=2)
        expected = simulate(run, NETWORK)
        for seed in range(50):
            found = simulate(run, NETWORK, shuffle=seed)
            assert np.array_equal(models(found), models(expected)), (n, seed)
            for name in ("loss", "bytes", "messages", "consensus2"):
                assert np.array_equal(found[0].curve[name], expected[0].curve[name]), (n, seed)


@pytest.mark.parametrize("threshold", [0, 1e3, inf])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_ends_the_run_on_all_ranks(threshold, value):
    learnt = Poisoned(problems["iso"](3, seed=0, layers=2), value)
    line = f"bsp / dynamic:{threshold} / identity / layerwise / sgd:{GAM}"
    with pytest.raises(Diverged, match="rank 1 .* clock 5") as error:
        simulate(Run(Variant.parse(line), learnt, 12, every=1))
    assert not np.isfinite(error.value.result.x).any()


def test_an_outer_optimizer_moves_only_when_all_agree():
    run = job("bsp / dynamic:0.02", 3)
    quiet, loud = (
        simulate(
            Run(
                Variant.parse(f"bsp / dynamic:{threshold} / identity / whole / {seats}"),
                run.problem,
                20,
            )
        )[0].x
        for threshold, seats in (("inf", "sgd:0.1>sgd:1"), ("inf", "sgd:0.1>momentum:9"))
    )
    assert np.array_equal(quiet, loud)
    both = Variant.parse("bsp / dynamic:0.02 / identity / whole / quasi_global:0.1")
    assert np.isfinite(simulate(Run(both, run.problem, 20))[0].x).all()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ssp:2 / dynamic:0.1 / identity / whole / sgd:0.1", "use bsp or local:4"),
        ("asp / dynamic:0.1 / identity / whole / sgd:0.1", "lets clocks be missing"),
        ("bsp / dynamic:0.1 / identity / whole / none>sgd:0.1", "takes an inner optimizer"),
        ("bsp / dynamic:0.1,collective=native / identity / whole / sgd:0.1", "than native"),
        ("bsp / dynamic:0.1,collective=torus:3 / identity / whole / sgd:0.1", "groups of 3"),
        ("bsp / dynamic:-1 / identity / whole / sgd:0.1", "at least 0"),
        ("bsp / dynamic:nan / identity / whole / sgd:0.1", "at least 0"),
        ("bsp / dynamic:yes / identity / whole / sgd:0.1", "at least 0"),
        ("bsp / dynamic / identity / whole / sgd:0.1", "dynamic takes threshold"),
        ("bsp / dynamic:1,gather=no / identity / whole / sgd:0.1", "no all-gather is called"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        simulate(Run(Variant.parse(line), problems["iso"](4, seed=0), 2))


@pytest.mark.parametrize("words", ["identity", "ef+topk:0.4"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_stays_on_the_device_and_gives_the_same_bits(words, dtype):
    host = problem("nc", 3, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    line = f"bsp / dynamic:0.05 / {words} / layerwise / sgd:0.25"
    here, there = (
        simulate(Run(Variant.parse(line), each, 12))
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for one, other in zip(here, there, strict=True):
        assert isinstance(other.x, FakeArray)
        assert np.array_equal(one.x, other.x.get())
