"""Plans: buckets partition the vector, and fused ones are as full as they may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpiddl.errors import ConfigurationError
from mpiddl.layout import Bucket, Layout, Plan
from mpiddl.schedule import schedules
from mpiddl.schedule.fused import Fused

TEXTS = ["whole", "layerwise", "fused:1B", "fused:400B", "fused:2KB", "fused:25MB"]
widths = st.sampled_from([4, 8])
limits = st.integers(1, 4000)


def layout(sizes):
    return Layout(tuple(map(str, range(len(sizes)))), tuple((size,) for size in sizes))


layouts = st.lists(st.integers(1, 300), min_size=1, max_size=30).map(layout)


def faults(plan, of, limit, width):
    """Say what is wrong with a fused plan: a property that does not hold."""
    found = []
    spans = [plan.buckets[0].span.start, *(bucket.span.stop for bucket in plan.buckets)]
    if spans[0] != 0 or spans[-1] != of.size:
        found.append("does not cover")
    if [layer for bucket in plan.buckets for layer in bucket.layers] != list(range(len(of.names))):
        found.append("layers are not each in one bucket, in order")
    for bucket in plan.buckets:
        if bucket.span != slice(of.span(bucket.layers[0]).start, of.span(bucket.layers[-1]).stop):
            found.append("cuts a layer")
        if bucket.size * width > limit and len(bucket.layers) > 1:
            found.append("too large")
    for one, next_one in zip(plan.buckets, plan.buckets[1:], strict=False):
        last = of.span(one.layers[-1])
        if (next_one.size + last.stop - last.start) * width <= limit:
            found.append("the layer before would have fitted")
    return found


@given(layouts, limits, widths)
def test_fused_buckets_partition_and_are_full(of, limit, width):
    assert not faults(Fused(f"{limit}B").plan(of, width), of, limit, width)


def test_wrong_plans_are_noticed():
    of = layout([10, 10, 10])

    def plan(*cuts):
        pairs = enumerate(zip((0, *cuts), (*cuts, 3), strict=True))
        return Plan(tuple(Bucket(i, slice(10 * a, 10 * b), range(a, b)) for i, (a, b) in pairs))

    assert not faults(plan(1), of, 80, 4)
    assert "too large" in faults(plan(), of, 80, 4)
    assert "the layer before would have fitted" in faults(plan(2), of, 80, 4)
    assert "the layer before would have fitted" in faults(plan(1, 2), of, 80, 4)
    assert "does not cover" in faults(Plan(plan(1, 2).buckets[:2]), of, 80, 4)
    cut = Plan((Bucket(0, slice(0, 15), range(2)), Bucket(1, slice(15, 30), range(1, 3))))
    assert "cuts a layer" in faults(cut, of, 80, 4)
    assert "layers are not each in one bucket, in order" in faults(cut, of, 80, 4)


@given(layouts, widths)
def test_the_ends_are_whole_and_layerwise(of, width):
    assert Fused("1GB").plan(of, width) == schedules.parse("whole").plan(of, width)
    assert Fused("1B").plan(of, width) == schedules.parse("layerwise").plan(of, width)


@given(layouts, limits)
def test_half_the_width_is_twice_the_entries(of, limit):
    assert Fused(f"{limit}B").plan(of, 4) == Fused(f"{2 * limit}B").plan(of, 8)


@pytest.mark.parametrize("text", TEXTS)
@given(of=layouts, width=widths)
def test_every_schedule_partitions_the_vector(text, of, width):
    plan = schedules.parse(text).plan(of, width)
    assert plan.buckets[0].span.start == 0
    assert plan.buckets[-1].span.stop == of.size
    for layer in range(len(of.names)):
        span = of.span(layer)
        parts = [bucket.span for bucket in plan.touching(layer)]
        held = sum(min(p.stop, span.stop) - max(p.start, span.start) for p in parts)
        assert held == span.stop - span.start


def test_every_schedule_is_tested_here():
    assert {schedules.parse(text).name for text in TEXTS} == set(schedules)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_parses_and_prints_back(text):
    schedule = schedules.parse(text)
    assert str(schedule) == text
    assert schedules.parse(str(schedule)) == schedule


@given(st.integers(1, 10**9), st.sampled_from(["B", "KB", "MB", "GB"]))
def test_units_are_powers_of_1024(count, unit):
    schedule = schedules.parse(f"fused:{count}{unit}")
    assert str(schedule) == f"fused:{count}{unit}"
    assert schedule.bytes == count * 1024 ** ["B", "KB", "MB", "GB"].index(unit)


@pytest.mark.parametrize(
    "size", ["25", "25 MB", "0MB", "00B", "2.5MB", "-1MB", "MB", "1TB", "25mb"]
)
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(ConfigurationError, match="write fused:25MB"):
        schedules.parse(f"fused:{size}")


def test_a_missing_size_is_refused():
    with pytest.raises(ConfigurationError, match="fused takes size"):
        schedules.parse("fused")
