"""Channels: what the two ends of a line remember."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.compression import Key, compressors
from mpiddl.compression.difference import Difference
from mpiddl.compression.direct import Direct
from mpiddl.compression.error_feedback import ErrorFeedback, ErrorFeedbackLine
from mpiddl.compression.identity import Identity
from mpiddl.compression.qsgd import QSGD
from mpiddl.compression.randk import RandK
from mpiddl.compression.topk import TopK

KEY = Key(seed=3, speaker=0, bucket=0)
CASES = [*compressors, "topk:0.3", "randk:0.3", "randk:0.3,mask=shared", "qsgd:1"]
CHANNELS = [Direct, ErrorFeedback, Difference]


@pytest.mark.parametrize("name", CASES)
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


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("make", CHANNELS)
def test_the_two_ends_agree_turn_by_turn(make, name):
    rng, start = np.random.default_rng(1), np.arange(20.0)
    channel = make(compressors.parse(name))
    speaker = channel.open(np.zeros(20), KEY, start)
    hearer = channel.open(np.zeros(20), Key(seed=3, speaker=1, bucket=0), start)
    for _ in range(3):
        payload = speaker.send(rng.standard_normal(20)).copy()
        assert np.array_equal(hearer.receive(0, payload), speaker.said())
        assert np.array_equal(speaker.receive(0, payload), speaker.said())


@pytest.mark.parametrize("make", CHANNELS)
@pytest.mark.parametrize("word", [Identity(), RandK(0.25, "shared")], ids=str)
def test_sums_say_the_same_as_words(make, word):
    """What rounds return is the mean of what each speaker would have been heard to say."""
    rng, n, start = np.random.default_rng(4), 3, np.arange(8.0)
    by_sums, by_words = (
        [make(word).open(np.zeros(8), Key(3, i, 0), start) for i in range(n)] for _ in range(2)
    )
    for _ in range(4):
        said = rng.standard_normal((n, 8))
        rounds = [line.rounds(v) for line, v in zip(by_sums, said, strict=True)]
        mean = np.mean([next(each) for each in rounds], axis=0)
        for line, v in zip(by_words, said, strict=True):
            line.send(v)
        expected = np.mean([line.said() for line in by_words], axis=0)
        for each in rounds:
            with pytest.raises(StopIteration) as stop:
                each.send(mean.copy())
            assert np.allclose(stop.value.value, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("memory", CHANNELS)
def test_rounds_return_the_mean_and_leave_the_memory_alone(memory):
    line = memory(Identity()).open(np.zeros(4), KEY)
    rounds = line.rounds(np.arange(4.0))
    part = next(rounds)
    assert np.array_equal(part, np.arange(4.0))
    with pytest.raises(StopIteration) as stop:
        rounds.send(part * 0.5)
    assert np.array_equal(stop.value.value, np.arange(4.0) / 2)
    assert not getattr(line, "memory", np.zeros(4)).any()


@pytest.mark.parametrize("make", CHANNELS)
def test_a_channel_says_what_it_is(make):
    channel = make(TopK(0.25))
    assert channel.remembers == (make is ErrorFeedback)
    assert channel.refers == (make is Difference)


@pytest.mark.parametrize("word", [TopK(0.25), QSGD(15), RandK(0.5), RandK(0.1)], ids=str)
def test_references_close_in_on_what_stays_the_same(word):
    v = np.random.default_rng(2).standard_normal(40)
    line = Difference(word).open(np.zeros(40), KEY)
    delta, gaps = word.quality(40).delta, [float(v @ v)]
    for _ in range(60):
        line.send(v)
        gaps.append(float(((v - line.said()) ** 2).sum()))
    assert gaps[-1] <= gaps[0] * (1 - delta) ** 60 * 30  # random words: in the mean
    if isinstance(word, TopK):
        assert all(b <= a * (1 - delta) * (1 + 1e-12) for a, b in zip(gaps, gaps[1:], strict=False))


def test_references_begin_where_they_are_told_and_are_made_when_heard():
    start = np.arange(6.0)
    line = Difference(Identity()).open(np.zeros(6), KEY, start)
    assert np.array_equal(line.said(), start)
    payload = line.send(start + 1)
    assert np.array_equal(payload.view(float), np.ones(6))  # the difference travels
    hearer = Difference(Identity()).open(np.zeros(6), Key(3, 1, 0), start)
    assert not hearer.theirs
    assert np.array_equal(hearer.receive(0, payload), start + 1)
    assert list(hearer.theirs) == [0]
    assert np.array_equal(start, np.arange(6.0))


@pytest.mark.parametrize("word", [RandK(0.25), RandK(0.25, "shared"), QSGD(1)], ids=str)
@pytest.mark.parametrize("make", [ErrorFeedback, Difference])
def test_memories_hear_contractions_of_unbiased_words(make, word):
    v, squares = np.ones(16), []
    for seed in range(400):
        line = make(word).open(np.zeros(16), Key(seed, 0, 0))
        line.send(v)
        squares.append(((line.said() - v) ** 2).sum())
    room = 4 * np.std(squares) / 20 + 1e-12
    delta = word.quality(16).delta
    assert abs(np.mean(squares) - (1 - delta) * 16) <= room  # attained at equal magnitudes
    assert delta == pytest.approx(0.25)


def test_a_memory_of_a_word_that_is_no_contraction_grows_without_end():
    """Negative control: what the factor 1 / (1 + omega) is for."""
    lines = {
        "scaled": ErrorFeedback(RandK(0.1)).open(np.zeros(50), KEY),
        "as it is": ErrorFeedbackLine(Direct(RandK(0.1)).open(np.zeros(50), KEY), np.zeros(50)),
    }
    for line in lines.values():
        for _ in range(200):
            line.send(np.ones(50))
    assert np.abs(lines["scaled"].memory).max() < 200
    assert np.abs(lines["as it is"].memory).max() > 1e10


def test_what_is_not_finite_can_bypass_the_memory():
    line = ErrorFeedback(TopK(0.5)).open(np.zeros(4), KEY)
    line.send(np.array([1.0, 2.0, 3.0, 4.0]))
    before = line.memory.copy()
    line.direct.send(np.full(4, np.nan))
    assert np.isnan(line.direct.said()).any()
    assert np.array_equal(line.memory, before)


def test_what_is_not_finite_can_bypass_the_references():
    line = Difference(TopK(0.5)).open(np.zeros(4), KEY)
    line.send(np.array([1.0, 2.0, 3.0, 4.0]))
    before = line.said().copy()
    line.direct.send(np.full(4, np.nan))
    assert np.isnan(line.direct.said()).any()
    assert np.array_equal(line.said(), before)
