"""Random words: right in the mean, as far off as they say, each speaker for itself."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.fp16 import Half
from mpiddl.compression.qsgd import QSGD
from mpiddl.compression.randk import RandK
from mpiddl.compression.sign import ScaledSign
from mpiddl.compression.topk import TopK
from mpiddl.errors import ConfigurationError

B, DRAWS = 24, 4000
WORDS = [
    *(compressors.parse(name) for name in compressors),
    *(RandK(0.3), RandK(0.3, "shared"), QSGD(1), QSGD(2), QSGD(3), QSGD(300)),
]
UNBIASED = [word for word in WORDS if isinstance(word.quality(B), Unbiased)]
unbiased = pytest.mark.parametrize("word", UNBIASED, ids=str)


def heard(word, v, speaker=0, turn=0):
    """Return what the others hear of v."""
    payload, key = np.empty(word.wire(v.size, v.dtype).nbytes, np.uint8), Key(5, speaker, 0, turn)
    used = word.encode(v, payload, key)
    out = np.empty_like(v)
    word.decode(payload[:used], out, key)
    return out


def vector(b=B, dtype=np.float64):
    v = np.random.default_rng(1).standard_normal(b).astype(dtype)
    v[0], v[1] = 0, 0.1
    return v


def worst_z(word, v):
    """Return by how many standard errors the mean of many draws misses v, at most."""
    draws = np.array([heard(word, v, turn=turn) for turn in range(DRAWS)], np.float64)
    room = draws.std(axis=0) / np.sqrt(DRAWS) + 1e-6 * np.abs(v)  # what is sure is off by rounding
    return np.abs((draws.mean(axis=0) - v)[v != 0] / room[v != 0]).max()


@unbiased
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_mean_of_what_is_heard_is_what_was_meant(word, dtype):
    assert worst_z(word, vector(dtype=dtype)) < 4.5


@pytest.mark.parametrize("word", [TopK(0.3), ScaledSign()], ids=str)
def test_the_comparison_notices_a_bias(word):
    assert worst_z(word, vector()) > 100


def mean_error2(word, v, speakers, draws=1000):
    """Return mean and standard error, over draws, of |mean over speakers of C(v) - v|^2 / |v|^2."""
    found = [
        ((np.mean([heard(word, v, i, turn) for i in range(speakers)], axis=0) - v) ** 2).sum()
        for turn in range(draws)
    ]
    return np.mean(found) / (v @ v), np.std(found) / np.sqrt(draws) / (v @ v)


@unbiased
def test_errors_of_independent_speakers_average_out(word):
    quality, n = word.quality(B), 5
    mean, se = mean_error2(word, vector(), n, draws=400)
    assert mean - 4 * se <= quality.omega / (n if quality.independent else 1) + 1e-12


@pytest.mark.parametrize("ratio", [0.1, 0.5])
def test_a_shared_mask_does_not_average_out_and_says_so(ratio):
    shared, private = RandK(ratio, "shared"), RandK(ratio)
    assert private.quality(B).independent
    assert not shared.quality(B).independent
    mean, se = mean_error2(shared, vector(), 5, draws=400)
    assert mean - 4 * se > 2 * shared.quality(B).omega / 5  # what independence would promise


@pytest.mark.parametrize("word", [RandK(0.1), RandK(0.5), RandK(0.5, "shared")], ids=str)
def test_randk_is_as_far_off_as_it_says_on_every_vector(word):
    omega = word.quality(B).omega
    for v in (np.ones(B), -np.ones(B)):
        assert ((heard(word, v) - v) ** 2).sum() == pytest.approx(omega * B, rel=1e-14)
    mean, se = mean_error2(word, vector(), 1)
    assert abs(mean - omega) <= 4.5 * se + 1e-12


@pytest.mark.parametrize("b", [1, 4, 25, 100])
def test_one_level_is_as_far_off_as_it_says_on_equal_magnitudes(b):
    v = np.where(np.arange(b) % 2, 1.0, -1.0)
    mean, se = mean_error2(QSGD(1), v, 1)
    assert abs(mean - QSGD(1).quality(b).omega) <= 4.5 * se + 1e-12
    assert QSGD(1).quality(b).omega == np.sqrt(b) - 1


@pytest.mark.parametrize("s", [1, 2, 4, 16])
def test_exact_variance_of_levels_stays_within_omega(s):
    """sum_j r_j (1 - r_j) (|v| / s)^2, r_j the fraction of a level, on vectors near the worst."""
    rng, worst = np.random.default_rng(s), 0.0
    for b in (1, 2, 8, 64, 1000):
        half = np.full(b, 0.5) / s  # every entry half way between two levels: the worst that fits
        for v in (*rng.standard_normal((20, b)), np.ones(b), half, np.abs(half - 0.1 / b)):
            ratio = s * np.abs(v) / np.linalg.norm(v)
            share = ratio - np.floor(ratio)
            variance = (share * (1 - share)).sum() / s**2
            omega = QSGD(s).quality(b).omega
            assert variance <= omega + 1e-12
            worst = max(worst, variance / omega if omega else 0)
    assert worst > 0.7


@pytest.mark.parametrize("word", [RandK(0.5), RandK(0.5, "shared"), RandK(1e-9), RandK(1)], ids=str)
@pytest.mark.parametrize("b", [1, 2, 3, 10, 1000])
def test_indices_are_distinct_and_drawn_anew_for_every_message(word, b):
    masks = [heard(word, np.ones(b), turn=turn) for turn in range(6)]
    for mask in masks:
        assert set(mask[mask != 0]) == {b / word.count(b)}
        assert np.count_nonzero(mask) == word.count(b)
    if 3 <= b and word.count(b) < b:
        assert len({mask.tobytes() for mask in masks}) > 1


def test_speakers_share_a_mask_only_if_asked():
    v = np.ones(100)
    for mask, same in (("private", False), ("shared", True)):
        word = RandK(0.5, mask)
        assert np.array_equal(heard(word, v, speaker=0), heard(word, v, speaker=1)) == same
        assert word.linear == same


@unbiased
@pytest.mark.filterwarnings("error")
def test_nobodys_generator_is_touched(word):
    state = np.random.get_state()  # noqa: NPY002 - the generator that must stay untouched
    heard(word, vector())
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(a, b) for a, b in zip(state, after, strict=True))


@pytest.mark.parametrize("b", [1, 7, 8, 9, 1000])
@pytest.mark.parametrize("s", [1, 2, 3, 7, 100, 32767])
def test_every_entry_lands_on_one_of_the_two_levels_beside_it(b, s):
    v = np.random.default_rng(b).standard_normal(b)
    out, unit = heard(QSGD(s), v), np.linalg.norm(v) / s
    assert np.abs(out / unit - np.rint(out / unit)).max() < 1e-9
    assert np.abs(out - v).max() < unit * (1 + 1e-9)
    assert (out * v >= 0).all()


@pytest.mark.parametrize("levels", [0, -1, 2.5, 32768, "many", float("nan")])
def test_levels_that_cannot_be_are_refused(levels):
    with pytest.raises(ConfigurationError, match="whole number of levels"):
        QSGD(levels)


def test_a_mask_of_another_word_is_refused():
    with pytest.raises(ConfigurationError, match="private and shared"):
        RandK(0.1, "mine")


# half precision: nothing random, but the same questions


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [60000.0, 1e-7, 1e6, 1e30, 1e-30])
def test_sums_of_halves_neither_overflow_nor_vanish(dtype, size):
    """Eight ranks: what is narrow is the message, not the sum, and the exponent is the vector's."""
    total = np.zeros(3, dtype)
    for _ in range(8):
        total += heard(Half(), np.array([size, -size, size / 2], dtype))
    assert np.allclose(total / 8, [size, -size, size / 2], rtol=2.0**-11, atol=0)
    if size == 60000:
        assert total[0] / 8 == 60000
        with np.errstate(over="ignore"):
            assert not np.isfinite(np.float16(size) + np.float16(size))  # a sum of halves


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_halves_are_off_by_2_to_the_minus_11_of_each_or_39_of_the_largest(dtype):
    rng = np.random.default_rng(0)
    v = (rng.standard_normal(2000) * 10.0 ** rng.uniform(-14, 0, 2000)).astype(dtype)
    error = np.abs(heard(Half(), v).astype(float) - v.astype(float))
    assert (error <= np.maximum(2.0**-11 * np.abs(v), 2.0**-39 * np.abs(v).max())).all()
    assert error.max() > 2.0**-14 * np.abs(v).max()
