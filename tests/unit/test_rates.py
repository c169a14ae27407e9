"""Step sizes over time: the texts, the values at both ends, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpiddl.errors import ConfigurationError
from mpiddl.optim import optimizers
from mpiddl.optim.factors import Cosine, Decay, Sqrt, Step, Warmup, factors
from mpiddl.optim.rates import Rate, as_rate, decreasing, rate_at

lengths = st.integers(1, 10**6)
positive = st.floats(1e-300, 1e300)
some_factor = st.one_of(
    st.builds(Sqrt),
    st.builds(Decay, positive),
    *(st.builds(kind, lengths) for kind in (Step, Warmup, Cosine)),
)
rates = st.builds(
    Rate, st.one_of(positive, st.integers(1, 10**9)), st.lists(some_factor).map(tuple)
)


@given(rates)
def test_a_rate_parses_and_prints_back(rate):
    again = Rate.parse(str(rate))
    assert again == rate
    assert str(again) == str(rate)


@given(rates)
def test_a_rate_survives_the_text_of_an_optimizer(rate):
    rule = optimizers.parse(f"sgd:{rate}")
    assert str(rule) == f"sgd:{rate}"
    assert rule.rate == as_rate(rate)


@given(some_factor, st.integers(0, 10**7))
def test_factors_stay_between_0_and_1(factor, t):
    assert 0 <= factor.at(t) <= 1


@given(st.lists(some_factor).map(tuple), st.integers(0, 1000))
def test_factors_are_multiplied(some, t):
    expected = 0.5
    for factor in some:
        expected *= factor.at(t)
    assert Rate(0.5, some)(t) == expected


def test_every_factor_is_in_the_strategy():
    assert set(factors) == {"sqrt", "decay", "step", "warmup", "cosine"}


@given(lengths)
def test_a_warm_up_ends_after_its_length_and_grows_in_equal_strides(length):
    warmup = Warmup(length)
    assert warmup.at(0) == 1 / length
    assert warmup.at(length - 1) == warmup.at(length) == warmup.at(10 * length) == 1
    for t in {0, length // 2, length - 1} - {0}:
        assert warmup.at(t) - warmup.at(t - 1) == pytest.approx(1 / length)


@given(lengths)
def test_a_cosine_goes_from_1_to_0_and_stays(length):
    cosine = Cosine(length)
    assert cosine.at(0) == 1
    assert Cosine(2 * length).at(length) == pytest.approx(0.5)
    assert cosine.at(length) == cosine.at(2 * length) == 0
    assert cosine.at(length - 1) > 0


def test_steps_are_tenths():
    values = [Step(100).at(t) for t in (0, 99, 100, 199, 200)]
    assert values == pytest.approx([1, 1, 0.1, 0.1, 0.01], rel=1e-15)


def test_sqrt_and_decay():
    assert [Sqrt().at(t) for t in (0, 3, 99)] == pytest.approx([1, 1 / 2, 1 / 10])
    assert [Decay(5).at(t) for t in (0, 5, 45)] == pytest.approx([1, 1 / 2, 1 / 10])


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 10**6))
def test_decreasing_is_what_its_docstring_says(mu, a, t):
    assert decreasing(mu, a)(t) == pytest.approx(1 / (mu * (t + a)), rel=1e-12)


def test_a_rate_without_factors_is_a_number():
    assert as_rate("0.1") == as_rate(Rate(0.1)) == as_rate(0.1) == 0.1
    assert str(optimizers.parse("sgd:1")) == "sgd:1"
    assert rate_at(0.1, 10**9) == 0.1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sgd:0", "above 0"),
        ("sgd:-0.1", "above 0"),
        ("sgd:nan", "above 0"),
        ("sgd:inf", "above 0"),
        ("sgd:fast", "warmup"),
        ("sgd:yes", "above 0"),
        ("sgd:@sqrt", "above 0"),
        ("sgd:0.1@", "there are: cosine, decay, sqrt, step, warmup"),
        ("sgd:0.1@linear", "there are: cosine, decay, sqrt, step, warmup"),
        ("sgd:0.1@warmup", "warmup takes length"),
        ("sgd:0.1@sqrt:2", "sqrt takes no argument"),
        ("sgd:0.1@warmup:0", "write warmup:20"),
        ("sgd:0.1@step:2.5", "whole number"),
        ("sgd:0.1@cosine:-3", "whole number"),
        ("sgd:0.1@cosine:yes", "whole number"),
        ("sgd:0.1@decay:0", "above 0"),
        ("sgd:0.1@decay:inf", "above 0"),
    ],
)
def test_what_is_no_step_size_is_refused_with_what_is_allowed(text, says):
    with pytest.raises(ConfigurationError, match="sgd") as refusal:
        optimizers.parse(text)
    assert says in str(refusal.value)


@pytest.mark.parametrize(("mu", "a"), [(0, 1), (1, 0), (-1, 2), (float("nan"), 1)])
def test_decreasing_steps_need_a_strongly_convex_problem(mu, a):
    with pytest.raises(ConfigurationError, match="mu > 0"):
        decreasing(mu, a)
