"""Shards are disjoint, cover the data, agree on all ranks, and weigh what they hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpiddl.errors import ConfigurationError
from mpiddl.problems.sharding import disjoint, replicated

sizes = st.integers(1, 80)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(samples=sizes, workers=sizes, seed=st.integers(0, 9), sort=st.booleans())
def test_disjoint_shards_cover_the_rows_once(samples, workers, seed, sort):
    labels = np.arange(samples) % 2 if sort else None
    shards = disjoint(samples, workers, seed, labels)
    lengths = [len(rows) for rows in shards.rows]
    assert len(lengths) == workers
    assert np.array_equal(np.sort(np.concatenate(shards.rows)), np.arange(samples))
    assert max(lengths) - min(lengths) <= 1
    assert shards.weights == tuple(workers * length / samples for length in lengths)
    assert sum(shards.weights) == pytest.approx(workers)
    assert shards.distinct == range(workers)


def test_every_rank_makes_the_same_cut_and_another_seed_another():
    one, two, other = disjoint(103, 4, 1), disjoint(103, 4, 1), disjoint(103, 4, 2)
    assert [len(rows) for rows in one.rows] == [26, 26, 26, 25]
    assert all(np.array_equal(a, b) for a, b in zip(one.rows, two.rows, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one.rows, other.rows, strict=True))
    assert not np.array_equal(np.concatenate(one.rows), np.arange(103)), "the rows are shuffled"


def test_sorted_shards_hold_one_label_each():
    labels = np.array([1.0, -1.0] * 30)
    shards = disjoint(60, 4, 0, labels)
    assert [set(labels[rows]) for rows in shards.rows] == [{-1.0}, {-1.0}, {1.0}, {1.0}]
    assert not np.array_equal(shards.rows[0], np.sort(shards.rows[0])), "shuffled inside"


def test_more_workers_than_rows_leaves_empty_shards():
    shards = disjoint(3, 5, 0)
    assert [len(rows) for rows in shards.rows] == [1, 1, 1, 0, 0]
    assert shards.weights == (5 / 3, 5 / 3, 5 / 3, 0.0, 0.0)


def test_replicated_workers_share_all_rows():
    shards = replicated(7, 3)
    assert all(np.array_equal(rows, np.arange(7)) for rows in shards.rows)
    assert shards.weights == (1.0, 1.0, 1.0)
    assert shards.shared
    assert shards.distinct == range(1)


def test_one_worker_shares_with_nobody_but_itself():
    assert disjoint(7, 1, 0).shared
    assert not disjoint(7, 2, 0).shared


@pytest.mark.parametrize(("samples", "workers", "word"), [(0, 2, "samples"), (5, 0, "workers")])
def test_nothing_to_shard_is_refused(samples, workers, word):
    with pytest.raises(ConfigurationError, match=word):
        disjoint(samples, workers, 0)
    with pytest.raises(ConfigurationError, match=word):
        replicated(samples, workers)
