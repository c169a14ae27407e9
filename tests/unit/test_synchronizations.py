"""How many steps a clock has, and which is its first: two ways of saying the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpiddl.errors import ConfigurationError
from mpiddl.synchronization import clocks_of, synchronizations
from mpiddl.synchronization.growing import Growing
from mpiddl.synchronization.local import Local
from mpiddl.synchronization.post_local import PostLocal
from mpiddl.synchronization.ssp import SSP

TEXTS = [
    "bsp",
    "local:4",
    "ssp:3",
    "ssp:2,period=4",
    "asp",
    "asp:period=3",
    "post_local:4,after=5",
    "post_local:3,after=0",
    "growing:8,every=3",
    "growing:1,every=1",
]
every_text = pytest.mark.parametrize("text", TEXTS)
small, clocks = st.integers(1, 9), st.integers(0, 60)


def test_every_synchronization_is_tested_here():
    assert {text.partition(":")[0] for text in TEXTS} == set(synchronizations)


@every_text
def test_a_text_parses_and_prints_back(text):
    assert str(synchronizations.parse(text)) == text


def check_clocks(sync, many=60):
    """Check that clocks follow one another without gap or overlap."""
    assert sync.start(0) == 0
    for clock in range(many):
        assert 1 <= sync.steps(clock) <= sync.period
        assert sync.start(clock + 1) == sync.start(clock) + sync.steps(clock)
    assert max(map(sync.steps, range(many))) == sync.period


@every_text
def test_clocks_follow_one_another(text):
    check_clocks(synchronizations.parse(text))


@given(
    st.one_of(
        st.builds(Local, small),
        st.builds(SSP, st.integers(0, 5), period=small),
        st.builds(PostLocal, small, after=st.integers(0, 40)),
        st.builds(Growing, st.sampled_from([1, 2, 4, 8]), every=st.integers(1, 15)),
    )
)
def test_clocks_follow_one_another_whatever_the_numbers(sync):
    check_clocks(sync)


def test_the_check_notices_a_start_that_is_off():
    class Off(PostLocal):
        def start(self, clock):
            return clock * self.period

    with pytest.raises(AssertionError):
        check_clocks(Off(4, after=5))


@every_text
@given(steps=st.integers(0, 200))
def test_whole_clocks_are_as_many_as_fit(text, steps):
    sync = synchronizations.parse(text)
    many = clocks_of(sync, steps)
    assert sync.start(many) <= steps < sync.start(many + 1)


def test_by_hand():
    assert [PostLocal(4, after=2).steps(c) for c in range(5)] == [1, 1, 4, 4, 4]
    assert [PostLocal(4, after=2).start(c) for c in range(5)] == [0, 1, 2, 6, 10]
    assert [Growing(4, every=2).steps(c) for c in range(8)] == [1, 1, 2, 2, 4, 4, 4, 4]
    assert [Growing(4, every=2).start(c) for c in range(8)] == [0, 1, 2, 4, 6, 10, 14, 18]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("post_local:0,after=3", "write post_local:4,after=3"),
        ("post_local:4,after=-1", "write post_local:4,after=100"),
        ("post_local:4", "post_local takes period, after"),
        ("growing:6,every=2", "write growing:8,every=2"),
        ("growing:8,every=0", "write growing:8,every=20"),
        ("growing:8", "growing takes period, every"),
        ("ssp:2,period=0", "write ssp:2,period=4"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_with_a_remedy(text, says):
    with pytest.raises(ConfigurationError) as refusal:
        synchronizations.parse(text)
    assert says in str(refusal.value)
