"""Gossip against its matrix recursion: both orders, any graph, with and without references."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.architecture.topology import contraction, find
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.problems import problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_variants import Poisoned, gradients, models, sign, topk

SIZES = (1, 2, 3, 5, 8)
GAM = 0.125
CODES = {
    "identity": lambda v: v,
    "topk:0.2": lambda v: topk(v, 0.2),
    "sign": sign,
}


def recursion(problem, w, steps, *, code, gamma=1.0, order="atc", refer=False, period=1):
    """Return the models X (n, d) of gossip, line by line as in gossip.py."""
    n = len(w)
    x = np.tile(problem.start(), (n, 1))
    h = x.copy()
    for t in range(0, steps, period):
        y = x
        for step in range(t, t + period):
            y = y - GAM * gradients(problem, y, step)
        moved = x - y
        said = x if order == "cta" else y
        h = (h if refer else 0) + np.array([code(v) for v in said - (h if refer else 0)])
        x = said + gamma * (w @ h - h)
        if order == "cta":
            x = x - moved
    return x


def case(graph="ring", channel="identity", gamma=1.0, order="atc", sync="bsp", plan="whole"):
    more = (f",gamma={gamma}" if gamma != 1 else "") + (f",order={order}" if order != "atc" else "")
    return f"{sync} / gossip:{graph}{more} / {channel} / {plan} / sgd:{GAM}"


CASES = [
    {},
    {"order": "cta"},
    {"gamma": 0.5},
    {"graph": "star", "order": "cta"},
    {"graph": "path"},
    {"graph": "torus"},
    {"graph": "exponential", "order": "cta"},
    {"graph": "complete", "order": "cta", "gamma": 0.7},
    {"channel": "topk:0.2", "gamma": 0.3},
    {"channel": "sign", "order": "cta"},
    {"channel": "diff+topk:0.2", "gamma": 0.2},
    {"channel": "diff+sign", "gamma": 0.1},
    {"channel": "diff+topk:0.2", "gamma": 0.2, "order": "cta"},
    {"channel": "diff+identity", "graph": "exponential"},
    {"channel": "diff+topk:0.2", "gamma": 0.2, "sync": "local:4"},
    {"order": "cta", "sync": "local:4", "plan": "layerwise"},
]


@pytest.mark.parametrize("options", CASES, ids=lambda options: case(**options))
@pytest.mark.parametrize("n", SIZES)
def test_gossip_is_its_recursion(options, n):
    problem, line = problems["nc"](n, seed=5, layers=2, zeta2=0.5), case(**options)
    channel = options.get("channel", "identity")
    expected = recursion(
        problem,
        find(options.get("graph", "ring")).matrix(n),
        40,
        code=CODES[channel.removeprefix("diff+")],
        gamma=options.get("gamma", 1.0),
        order=options.get("order", "atc"),
        refer=channel.startswith("diff"),
        period=Variant.parse(line).sync.period,
    )
    found = models(line, problem, 40 // Variant.parse(line).sync.period)
    assert np.allclose(found, expected, rtol=0, atol=1e-13)
    assert str(Variant.parse(line)) == line


def test_the_comparison_notices_order_share_and_references():
    problem, w = problems["nc"](5, seed=5, zeta2=0.5), find("ring").matrix(5)
    options = {"code": CODES["topk:0.2"], "gamma": 0.2, "refer": True}
    found = models(case(channel="diff+topk:0.2", gamma=0.2), problem, 40)
    assert np.allclose(found, recursion(problem, w, 40, **options), rtol=0, atol=1e-13)
    for change in ({"order": "cta"}, {"gamma": 0.3}, {"refer": False}):
        other = recursion(problem, w, 40, **{**options, **change})
        assert not np.allclose(found, other, rtol=0, atol=1e-4)


@pytest.mark.parametrize("order", ["atc", "cta"])
def test_a_complete_graph_is_the_exact_average(order):
    problem = problems["nc"](5, seed=1, zeta2=0.5)
    x = models(case("complete", order=order), problem, 9)
    if order == "atc":
        assert np.allclose(x, x[0], rtol=0, atol=1e-15)
        bsp = models(f"bsp / allreduce / identity / whole / sgd:{GAM}", problem, 9)
        assert np.allclose(x, bsp, rtol=0, atol=1e-14)
    else:
        assert np.abs(x - x[0]).max() > 1e-3  # the last step of each is its own


@pytest.mark.parametrize(
    "channel",
    ["topk:0.2", "diff+topk:0.2", "sign", "qsgd:2", "diff+qsgd:2", "randk:0.3", "fp16"]
    + ["diff+randk:0.3,mask=shared"],
)
@pytest.mark.parametrize("order", ["atc", "cta"])
def test_the_mean_of_all_models_never_hears_of_compression(channel, order):
    """Columns of W add up to 1, and what a rank adds for its neighbours it takes off for itself."""
    problem = problems["iso"](5, seed=3, zeta2=0.5)  # linear: the mean gradient is that of the mean
    x = models(case("exponential", channel, gamma=0.2, order=order), problem, 30)
    bsp = models(f"bsp / allreduce / identity / whole / sgd:{GAM}", problem, 30)
    assert np.allclose(x.mean(axis=0), bsp[0], rtol=0, atol=1e-13)
    assert np.abs(x - x.mean(axis=0)).max() > 1e-3


def consensus(line, clocks=400):
    problem = problems["het"](8, seed=0, sigma2=0.0, zeta2=1.0)
    x = models(line.replace(f"sgd:{GAM}", "sgd:0.02"), problem, clocks)
    return float(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())


def test_references_let_neighbours_agree_where_compressed_models_do_not():
    """CHOCO against naive compressed gossip, at equal bytes, and against no compression."""
    exact = consensus(case())
    choco = consensus(case(channel="diff+topk:0.2", gamma=0.3))
    naive = consensus(case(channel="topk:0.2", gamma=0.3))
    assert exact < choco < 20 * exact
    assert naive > 10 * choco


def test_a_share_that_is_too_large_for_the_words_drives_neighbours_apart():
    assert consensus(case(channel="diff+topk:0.1"), 300) > 1e5
    assert consensus(case(channel="diff+topk:0.1", gamma=0.3), 300) < 1


@pytest.mark.parametrize("graph", ["star", "torus", "exponential", "hypercube", "path"])
def test_averaging_alone_contracts_by_the_matrix(graph):
    w = find(graph).matrix(8)
    problem = problems["het"](8, seed=0, sigma2=0.0)
    first, last = (models(case(graph).replace("0.125", "1e-9"), problem, t) for t in (1, 6))
    away = [np.linalg.norm(x - x.mean(axis=0)) for x in (first, last)]
    assert away[1] <= 6 * away[0]  # each clock adds as much as the first
    assert contraction(w) < 1


def test_a_graph_from_a_file_is_the_graph(tmp_path):
    problem, path = problems["nc"](5, seed=2, zeta2=0.5), tmp_path / "mine.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(4)), "utf-8")
    line = f"bsp / gossip:{path},gamma=0.5 / identity / whole / sgd:0.125"
    assert str(Variant.parse(line)) == line
    assert np.array_equal(models(line, problem, 9), models(case("path", gamma=0.5), problem, 9))
    path.write_text("0 1\n2 3\n3 4\n", "utf-8")
    with pytest.raises(ConfigurationError, match=r"nothing links \{0, 1\}, \{2, 3, 4\}"):
        models(line, problem, 9)


@pytest.mark.parametrize("channel", ["identity", "topk:0.2", "diff+topk:0.2", "diff+randk:0.1"])
@pytest.mark.parametrize("order", ["atc", "cta"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_ends_the_run_whatever_the_words(channel, order, value):
    problem = Poisoned(problems["iso"](3, seed=0, layers=2), value)
    with pytest.raises(Diverged, match="rank 1 .* clock") as error:
        simulate(Run(Variant.parse(case("complete", channel, 0.5, order)), problem, 12, every=1))
    assert error.value.result.diverged == (1, 5)
    assert np.isfinite(error.value.result.curve["loss"][:6]).all()
    assert not np.isfinite(error.value.result.curve["loss"][6:]).any()


@pytest.mark.parametrize("options", CASES[:3] + CASES[8:], ids=lambda options: case(**options))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gossip_stays_on_the_device_and_gives_the_same_bits(options, dtype):
    host = problems["nc"](3, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    here, there = (
        simulate(Run(Variant.parse(case(**options)), each, 8))
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for one, other in zip(here, there, strict=True):
        assert isinstance(other.x, FakeArray)
        assert np.array_equal(one.x, other.x.get())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bsp / gossip:ring / ef+sign / whole / sgd:0.1", "remembers displacements: use"),
        ("bsp / gossip:ring / identity / whole / none>sgd:0.1", "give it an inner optimizer"),
        ("bsp / gossip:hypercube / identity / whole / sgd:0.1", "use 4 or 8 ranks"),
    ],
)
def test_what_gossip_cannot_do_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        models(line, problems["iso"](6, seed=0), 2)
