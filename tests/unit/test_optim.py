"""Every optimizer against its paper's lines, and what must hold of all of them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpiddl.errors import ConfigurationError
from mpiddl.optim import optimizers
from mpiddl.optim.adam import Adam
from mpiddl.optim.lamb import LAMB
from mpiddl.optim.lars import LARS
from mpiddl.optim.momentum import Momentum
from mpiddl.optim.quasi_global import QuasiGlobal
from mpiddl.optim.sgd import SGD
from tests.fake_device import FakeDevice

TEXTS = [
    "sgd:0.1",
    "sgd:0.1@warmup:5@cosine:30",
    "momentum:0.1",
    "momentum:0.1,beta=0.5",
    "momentum:0.1@sqrt,nesterov=yes",
    "adam:0.001",
    "adam:0.01@step:3,beta1=0.5,beta2=0.9,eps=0.1",
    "lars:0.1,decay=0.0001",
    "lars:0.01,beta=0",
    "lamb:0.01",
    "lamb:0.01@warmup:3,beta1=0.8,decay=0.01",
    "quasi_global:0.1",
    "quasi_global:0.1@step:3,beta=0.5",
]
LAYERS = (slice(0, 5), slice(5, 6), slice(6, 12))
every_text = pytest.mark.parametrize("text", TEXTS)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def directions(steps=20, size=12, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal((steps, size)).astype(dtype)


def path(rule, start, pushes, layers=LAYERS):
    """Return the models (steps + 1, d) that `rule` visits from `start` (d,)."""
    x = start.copy()
    live = rule.open(x, layers)
    models = [x.copy()]
    for t, g in enumerate(pushes):
        live.apply(x, g, t)
        models.append(x.copy())
    return np.array(models)


START = np.random.default_rng(1).standard_normal(12)


# what must hold of all of them


def test_every_optimizer_is_tested_here():
    assert {optimizers.parse(text).name for text in TEXTS} == set(optimizers)


@every_text
def test_a_text_parses_and_prints_back(text):
    rule = optimizers.parse(text)
    assert str(rule) == text
    assert optimizers.parse(str(rule)) == rule
    assert hash(rule) == hash(optimizers.parse(text))


shares = st.floats(0, 1, exclude_max=True)


@given(
    st.one_of(
        st.builds(Momentum, st.floats(1e-9, 1e9), shares, st.booleans()),
        st.builds(Adam, st.floats(1e-9, 1e9), shares, shares, st.floats(1e-30, 1)),
        st.builds(LARS, st.floats(1e-9, 1e9), shares, st.floats(0, 1)),
        st.builds(LAMB, st.floats(1e-9, 1e9), shares, shares, st.floats(1e-30, 1), shares),
        st.builds(QuasiGlobal, st.floats(1e-9, 1e9), shares),
    )
)
def test_any_options_parse_and_print_back(rule):
    assert optimizers.parse(str(rule)) == rule


@every_text
@every_dtype
def test_models_keep_their_width_and_directions_are_only_read(text, dtype):
    pushes = directions(dtype=dtype)
    pushes.flags.writeable = False
    models = path(optimizers.parse(text), START.astype(dtype), pushes)
    assert models.dtype == dtype
    assert np.isfinite(models).all()
    assert (models[-1] != models[0]).all()


@every_text
def test_the_same_bits_run_to_run(text):
    rule = optimizers.parse(text)
    assert np.array_equal(path(rule, START, directions()), path(rule, START, directions()))


@every_text
def test_two_seats_of_one_rule_share_nothing(text):
    rule, pushes = optimizers.parse(text), directions()
    alone = path(rule, START, pushes)
    x, y = START.copy(), START.copy()
    one, other = rule.open(x, LAYERS), rule.open(y, LAYERS)
    for t, g in enumerate(pushes):
        one.apply(x, g, t)
        other.apply(y, -3 * g[::-1].copy(), t)
    assert np.array_equal(x, alone[-1])


@every_text
@every_dtype
def test_zeros_make_no_nan_and_no_warning(text, dtype):
    rule, zeros, pushes = optimizers.parse(text), np.zeros(12, dtype), directions(dtype=dtype)
    with np.errstate(all="raise"):
        assert np.array_equal(path(rule, zeros, np.zeros((3, 12), dtype))[-1], zeros)
        assert np.isfinite(path(rule, zeros, pushes)).all()
        assert np.isfinite(path(rule, START.astype(dtype), np.zeros((3, 12), dtype))).all()
        pushes[:, 5], start = 0, START.astype(dtype)
        start[:5] = 0  # one layer without weights, another without a gradient
        models = path(rule, start, pushes)
    assert np.isfinite(models).all()
    assert (models[-1, :5] != 0).all()  # a layer that starts at zero can leave it


@every_text
@every_dtype
def test_on_a_device_nothing_is_read_by_the_host_and_the_bits_are_the_same(text, dtype):
    rule, pushes, device = optimizers.parse(text), directions(dtype=dtype), FakeDevice()
    x = device.array(START, dtype)
    live = rule.open(x, LAYERS)
    for t, g in enumerate(pushes):
        live.apply(x, device.array(g, dtype), t)
    assert np.array_equal(x.get(), path(rule, START.astype(dtype), pushes)[-1])
    assert x.dtype == dtype


def allocated(rule, size=100_000):
    """Return the largest number of bytes that one step has allocated at a time."""
    x, g = np.ones(size), np.ones(size)
    live = rule.open(x, (slice(0, 1000), slice(1000, size)))
    live.apply(x, g, 0)
    tracemalloc.start()
    live.apply(x, g, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@every_text
def test_a_step_allocates_nothing_of_the_size_of_the_vector(text):
    assert allocated(optimizers.parse(text)) < 10_000


class Wasteful:
    def open(self, like, layers):
        return self

    def apply(self, x, direction, t):
        x -= 0.1 * direction


def test_an_allocation_would_be_noticed():
    assert allocated(Wasteful()) >= 800_000


@every_text
def test_a_vector_inside_another_moves_alone(text):
    rule, pushes = optimizers.parse(text), directions()
    whole = np.concatenate([np.full(3, 7.0), START, np.full(2, 7.0)])
    x = whole[3:15]
    live = rule.open(x, LAYERS)
    for t, g in enumerate(pushes):
        live.apply(x, g, t)
    assert np.array_equal(whole[3:15], path(rule, START, pushes)[-1])
    assert (whole[:3] == 7).all()
    assert (whole[15:] == 7).all()


@every_text
def test_whole_layers_says_whether_cutting_a_layer_changes_the_rule(text):
    rule, pushes = optimizers.parse(text), directions()
    whole = path(rule, START, pushes, (slice(0, 12),))[-1]
    parts = [path(rule, START[s], pushes[:, s], (slice(0, 6),)) for s in (slice(6), slice(6, 12))]
    same = np.array_equal(whole, np.concatenate([part[-1] for part in parts]))
    assert same != rule.whole_layers


@every_text
def test_vectors_of_whole_layers_move_as_the_model_does(text):
    rule, pushes = optimizers.parse(text), directions()
    whole = path(rule, START, pushes)[-1]
    first = path(rule, START[:6], pushes[:, :6], LAYERS[:2])[-1]
    last = path(rule, START[6:], pushes[:, 6:], (slice(0, 6),))[-1]
    assert np.array_equal(whole, np.concatenate([first, last]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("momentum", "momentum takes rate, beta, nesterov"),
        ("momentum:0.1,beta=1", "beta of at least 0 and below 1"),
        ("momentum:0.1,beta=-0.1", "beta of at least 0 and below 1"),
        ("momentum:0.1,beta=nan", "beta of at least 0 and below 1"),
        ("momentum:0.1,beta=yes", "beta of at least 0 and below 1"),
        ("momentum:0.1,nesterov=1", "nesterov=yes or nesterov=no"),
        ("momentum:0.1,decay=0.1", "momentum takes rate, beta, nesterov"),
        ("momentum:-1", "momentum: a step size is a finite number above 0"),
        ("adam:0.1,beta2=1", "beta2 of at least 0 and below 1"),
        ("adam:0.1,beta1=many", "beta1 of at least 0 and below 1"),
        ("adam:0.1,eps=0", "eps of at least 1e-30"),
        ("lars:0.1,decay=-1", "decay of at least 0"),
        ("lars:0.1,decay=inf", "decay of at least 0"),
        ("lamb:0.1,decay=nan", "decay of at least 0"),
        ("sdg:0.1", "there are: adam, lamb, lars, momentum, quasi_global, sgd"),
    ],
)
def test_options_out_of_range_are_refused(text, says):
    with pytest.raises(ConfigurationError) as refusal:
        optimizers.parse(text)
    assert says in str(refusal.value)


# momentum


def test_sgd_is_momentum_without_memory():
    pushes = directions()
    plain = path(SGD(0.1), START, pushes)
    assert np.array_equal(path(Momentum(0.1, beta=0.0), START, pushes), plain)
    assert np.array_equal(path(Momentum(0.1, beta=0.0, nesterov=True), START, pushes), plain)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_momentum_is_the_heavy_ball(beta):
    gam, pushes = 0.1, directions()
    models = path(Momentum(gam, beta), START, pushes)
    before = np.vstack([START, models[:-1]])
    for t, g in enumerate(pushes):  # Polyak: x+ = x - gam g + beta (x - x_before)
        expected = models[t] - gam * g + beta * (models[t] - before[t])
        assert np.allclose(models[t + 1], expected, rtol=0, atol=1e-13)


def z_sequence(models, beta):
    """Return z_t = x_t + beta / (1 - beta) (x_t - x_{t-1}), with x_{-1} = x_0."""
    before = np.vstack([models[:1], models[:-1]])
    return models + beta / (1 - beta) * (models - before)


@pytest.mark.parametrize("beta", [0.5, 0.9])
def test_the_extrapolated_sequence_is_plain_sgd_with_a_longer_step(beta):
    gam, pushes = 0.1, directions()
    z = z_sequence(path(Momentum(gam, beta), START, pushes), beta)
    plain = path(SGD(gam / (1 - beta)), START, pushes)
    assert np.allclose(z, plain, rtol=0, atol=1e-12)
    short = path(SGD(gam), START, pushes)  # a step without 1 / (1 - beta)
    assert not np.allclose(z, short, rtol=0, atol=1e-2)


def test_nesterov_looks_ahead_by_one_step_of_momentum():
    gam, beta, pushes = 0.1, 0.9, directions()
    m, x = np.zeros(12), START.copy()
    for g in pushes:
        m = beta * m + g
        x = x - gam * (g + beta * m)
    found = path(Momentum(gam, beta, nesterov=True), START, pushes)[-1]
    assert np.allclose(found, x, rtol=0, atol=1e-13)
    assert not np.allclose(found, path(Momentum(gam, beta), START, pushes)[-1], atol=1e-3)


def test_a_changing_step_leaves_the_running_sum_alone():
    pushes = directions()
    models = path(optimizers.parse("momentum:0.1@step:5"), START, pushes)
    m = np.zeros(12)
    for t, g in enumerate(pushes):
        m = 0.9 * m + g
        moved = models[t] - models[t + 1]
        assert np.allclose(moved, 0.1 * 0.1 ** (t // 5) * m, rtol=0, atol=1e-13)


# Adam


def adam(start, pushes, alpha, beta1, beta2, eps):
    """Algorithm 1 of Kingma & Ba (2015), line by line."""
    theta, m, v, t = start, np.zeros_like(start), np.zeros_like(start), 0
    for g in pushes:
        t = t + 1
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        theta = theta - alpha * m_hat / (np.sqrt(v_hat) + eps)
    return theta


@pytest.mark.parametrize("options", [(0.9, 0.999, 1e-8), (0.5, 0.9, 0.1), (0.0, 0.0, 1e-8)])
def test_adam_is_the_papers_algorithm(options):
    pushes = directions(50)
    found = path(Adam(0.01, *options), START, pushes)[-1]
    assert np.allclose(found, adam(START, pushes, 0.01, *options), rtol=0, atol=1e-12)


def test_adam_without_bias_correction_would_be_noticed():
    pushes = directions(5)
    m, v, x = np.zeros(12), np.zeros(12), START
    for g in pushes:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x = x - 0.01 * m / (np.sqrt(v) + 1e-8)
    assert not np.allclose(path(Adam(0.01), START, pushes)[-1], x, rtol=0, atol=1e-3)


def test_the_first_step_of_adam_is_a_sign():
    pushes = directions(1)
    moved = np.subtract(*path(Adam(0.01), START, pushes))
    assert np.allclose(moved, 0.01 * np.sign(pushes[0]), rtol=1e-6)


@pytest.mark.parametrize("text", ["adam:0.01,eps=1e-30", "lamb:0.01,eps=1e-30"])
@pytest.mark.parametrize("scale", [1e-6, 2.0**10, 1e5])
def test_adam_and_lamb_do_not_see_the_size_of_gradients(text, scale):
    rule, pushes = optimizers.parse(text), directions(50)
    one, other = path(rule, START, pushes), path(rule, START, scale * pushes)
    assert np.allclose(one, other, rtol=0, atol=1e-12)


def test_bias_correction_counts_updates_and_not_clocks():
    pushes = directions()
    x = START.copy()
    live = Adam(0.01).open(x, LAYERS)
    for t, g in enumerate(pushes):
        live.apply(x, g, t // 4)  # a server that takes in four pushes a clock
    assert np.array_equal(x, path(Adam(0.01), START, pushes)[-1])


# LARS and LAMB: two layers, w = (3, 4) and (6, 8), by hand

W = np.array([3.0, 4.0, 6.0, 8.0])
G = np.array([0.0, 2.0, 4.0, 3.0])
TWO = (slice(0, 2), slice(2, 4))


def test_two_steps_of_lars_by_hand():
    models = path(LARS(0.1, beta=0.5), W, [G, G], TWO)
    # |w| = 5, 10; |g| = 2, 5: ratios 2.5, 2; v = 0.1 ratio g
    v = np.array([0.0, 0.5, 0.8, 0.6])
    assert np.allclose(models[1], W - v, rtol=0, atol=1e-15)
    w = models[1]
    ratios = np.hypot(w[0], w[1]) / 2, np.hypot(w[2], w[3]) / 5
    v = 0.5 * v + 0.1 * np.repeat(ratios, 2) * G
    assert np.allclose(models[2], w - v, rtol=0, atol=1e-14)


def test_a_step_of_lars_with_weight_decay_by_hand():
    moved = np.subtract(*path(LARS(0.1, decay=0.2), W, [G], TWO))
    # ratios 5 / (2 + 0.2 * 5) and 10 / (5 + 0.2 * 10); g + decay w
    ratios = np.repeat([5 / 3, 10 / 7], 2)
    assert np.allclose(moved, 0.1 * ratios * (G + 0.2 * W), rtol=0, atol=1e-15)


def test_a_step_of_lamb_by_hand():
    # the first direction of Adam is the sign of g: |r| = 1, sqrt 2
    moved = np.subtract(*path(LAMB(0.1, eps=1e-30), W, [G], TWO))
    expected = 0.1 * np.array([0, 5, 10 / np.sqrt(2), 10 / np.sqrt(2)])
    assert np.allclose(moved, expected, rtol=0, atol=1e-14)
    moved = np.subtract(*path(LAMB(0.1, eps=1e-30, decay=0.5), W, [G], TWO))
    u = np.sign(G) + 0.5 * W
    ratios = np.repeat([5 / np.hypot(u[0], u[1]), 10 / np.hypot(u[2], u[3])], 2)
    assert np.allclose(moved, 0.1 * ratios * u, rtol=0, atol=1e-14)


@pytest.mark.parametrize("text", ["lars:0.01", "lamb:0.01,eps=1e-30"])
def test_a_layer_ten_times_as_large_takes_steps_ten_times_as_large(text):
    rule, pushes = optimizers.parse(text), directions(50)
    one = path(rule, START, pushes)
    scale = np.ones(12)
    scale[LAYERS[2]] = 10
    other = path(rule, START * scale, pushes / scale)  # gradients of f(w / 10) are a tenth
    assert np.allclose(other, one * scale, rtol=1e-10)
    plain = path(SGD(0.01), START * scale, pushes / scale)
    assert not np.allclose(plain, path(SGD(0.01), START, pushes) * scale, rtol=1e-3)


@pytest.mark.parametrize("kind", [LARS, LAMB])
def test_layers_that_do_not_cover_the_vector_are_refused(kind):
    with pytest.raises(ValueError, match="do not cover a vector of 12 entries"):
        kind(0.1).open(START, LAYERS[:2])


def test_which_rules_need_whole_layers():
    needing = {text.partition(":")[0] for text in TEXTS if optimizers.parse(text).whole_layers}
    assert needing == {"lars", "lamb"}
