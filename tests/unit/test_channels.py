"""Channels: what the two ends of a line remember."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.compression import Key, compressors
from mpiddl.compression.direct import Direct
from mpiddl.compression.error_feedback import ErrorFeedback
from mpiddl.compression.identity import Identity
from mpiddl.compression.topk import TopK

KEY = Key(seed=3, speaker=0, bucket=0)


@pytest.mark.parametrize("name", list(compressors))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_said_plus_memory_is_all_that_was_meant(name, dtype):
    rng = np.random.default_rng(0)
    line = ErrorFeedback(compressors.parse(name)).open(np.zeros(37, dtype), KEY)
    meant, said = np.zeros(37), np.zeros(37)
    for _ in range(50):
        v = rng.standard_normal(37).astype(dtype)
        line.send(v)
        meant += v
        said += line.said()
        largest = max(1, np.abs(said).max(), np.abs(line.memory).max())
        room = 200 * np.finfo(dtype).eps * largest
        assert np.allclose(said + line.memory, meant, rtol=0, atol=room)


def test_without_memory_the_sum_is_not_kept():
    line = Direct(TopK(0.25)).open(np.zeros(4), KEY)
    said = np.zeros(4)
    for _ in range(20):
        line.send(np.array([4.0, 3.0, 2.0, 1.0]))
        said += line.said()
    assert said.tolist() == [80, 0, 0, 0]  # entries 2 to 4 are never sent


def test_with_memory_every_entry_is_sent():
    line = ErrorFeedback(TopK(0.25)).open(np.zeros(4), KEY)
    said = np.zeros(4)
    for _ in range(20):
        line.send(np.array([4.0, 3.0, 2.0, 1.0]))
        said += line.said()
    assert (said > 0).all()
    assert np.array_equal(said + line.memory, [80, 60, 40, 20])


def test_memory_of_a_lossless_compressor_stays_empty():
    line = ErrorFeedback(Identity()).open(np.zeros(5), KEY)
    line.send(np.arange(5.0))
    assert not line.memory.any()


@pytest.mark.parametrize("name", list(compressors))
def test_the_two_ends_agree_turn_by_turn(name):
    rng = np.random.default_rng(1)
    channel = Direct(compressors.parse(name))
    speaker = channel.open(np.zeros(20), KEY)
    hearer = channel.open(np.zeros(20), Key(seed=3, speaker=1, bucket=0))
    for _ in range(3):
        payload = speaker.send(rng.standard_normal(20)).copy()
        assert np.array_equal(hearer.receive(0, payload), speaker.said())


@pytest.mark.parametrize("memory", [Direct, ErrorFeedback])
def test_rounds_return_the_mean_and_leave_the_memory_alone(memory):
    line = memory(Identity()).open(np.zeros(4), KEY)
    rounds = line.rounds(np.arange(4.0))
    part = next(rounds)
    assert np.array_equal(part, np.arange(4.0))
    with pytest.raises(StopIteration) as stop:
        rounds.send(part * 0.5)
    assert np.array_equal(stop.value.value, np.arange(4.0) / 2)
    assert not getattr(line, "memory", np.zeros(4)).any()


def test_what_is_not_finite_can_bypass_the_memory():
    line = ErrorFeedback(TopK(0.5)).open(np.zeros(4), KEY)
    line.send(np.array([1.0, 2.0, 3.0, 4.0]))
    before = line.memory.copy()
    line.direct.send(np.full(4, np.nan))
    assert np.isnan(line.direct.said()).any()
    assert np.array_equal(line.memory, before)
