"""Every registered compressor: what its file promises, at sizes and vectors where codes break."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.randk import RandK
from mpiddl.compression.ternary import Ternary
from mpiddl.compression.topk import TopK
from mpiddl.errors import ConfigurationError
from theory.wire import PAYLOAD

SIZES = (0, 1, 7, 8, 9, 1000)
KEY = Key(seed=7, speaker=0, bucket=0)
CASES = [
    *compressors,
    *("topk:0.3", "randk:0.3", "randk:0.3,mask=shared", "qsgd:1", "qsgd:4", "qsgd:300"),
    *("ternary:0.3", "ternary:1"),
]
every_compressor = pytest.mark.parametrize("name", CASES)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def roundtrip(compressor, v, key=KEY):
    """Return what the others hear of v, and the bytes that travelled."""
    payload = np.full(compressor.wire(v.size, v.dtype).nbytes, 0xAB, np.uint8)
    used = compressor.encode(v, payload, key)
    out = np.full(v.shape, np.nan, v.dtype)
    compressor.decode(payload[:used].copy(), out, key)
    return out, used


def vectors(b, dtype, seed=0):
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal(b)
    spiky = normal**5
    outlier = np.where(np.arange(b) == b // 2, 1e6, normal)
    yield from (v.astype(dtype) for v in (normal, spiky, outlier, np.ones(b), np.zeros(b)))


@every_compressor
@every_dtype
@pytest.mark.parametrize("b", SIZES)
def test_quality_holds_on_every_vector(name, dtype, b):
    compressor = compressors.parse(name)
    quality = compressor.quality(b)
    for v in vectors(b, dtype):
        draws = [roundtrip(compressor, v, KEY.at(turn))[0] for turn in range(200)]
        errors = np.array([((draw - v.astype(float)) ** 2).sum() for draw in draws])
        lowest = errors.mean() - 4 * errors.std() / np.sqrt(len(errors))
        factor = 1 - quality.delta if isinstance(quality, Contractive) else quality.omega
        assert 0 < quality.delta <= 1
        bound = factor * (v.astype(float) ** 2).sum()
        assert lowest <= bound * (1 + 100 * np.finfo(dtype).eps) + 1e-30


def test_the_comparison_notices_a_quality_that_does_not_hold(monkeypatch):
    monkeypatch.setattr(TopK, "quality", lambda self, b: Contractive(0.9))
    with pytest.raises(AssertionError):
        test_quality_holds_on_every_vector("topk", np.float64, 1000)


@every_compressor
@every_dtype
@pytest.mark.parametrize("b", SIZES)
def test_zeros_come_back_as_zeros(name, dtype, b):
    out, _ = roundtrip(compressors.parse(name), np.zeros(b, dtype))
    assert np.array_equal(out, np.zeros(b, dtype))


@every_compressor
@pytest.mark.parametrize("b", SIZES)
def test_input_is_read_only_and_may_be_strided_or_reversed(name, b):
    compressor = compressors.parse(name)
    table = np.random.default_rng(1).standard_normal((b, 3))
    for view in (table[:, 1], table[::-1, 2], np.asfortranarray(table)[:, 0]):
        view.flags.writeable = False
        before = view.copy()
        out, used = roundtrip(compressor, view)
        again, same = roundtrip(compressor, np.ascontiguousarray(view))
        assert np.array_equal(out, again)
        assert used == same
        assert np.array_equal(view, before)


@every_compressor
@pytest.mark.parametrize("b", [1, 8, 1000])
def test_a_vector_of_nan_is_never_hidden(name, b):
    out, _ = roundtrip(compressors.parse(name), np.full(b, np.nan))
    assert not np.isfinite(out).all()


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("my_")])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [1.0, 1e30])
def test_one_entry_that_is_not_finite_is_not_hidden_either(name, bad, size):
    v = np.random.default_rng(0).standard_normal(1000) * size
    v[333] = bad
    with np.errstate(invalid="ignore"):  # numbers beside it may go the same way
        out, _ = roundtrip(compressors.parse(name), v)
    assert not np.isfinite(out).all()


@pytest.mark.filterwarnings("error")
@every_compressor
@every_dtype
@pytest.mark.parametrize("decade", [-0.9, -0.5, 0.5, 0.9])
def test_sizes_of_numbers_do_not_matter(name, dtype, decade):
    """Squares and scales of numbers near the limits of the type neither overflow nor vanish."""
    unit = np.random.default_rng(1).choice([-1.0, -0.5, 0.25, 1.0], 100).astype(dtype)
    scale = dtype(2.0 ** round(decade * np.finfo(dtype).maxexp))
    compressor = compressors.parse(name)
    small, large = roundtrip(compressor, unit)[0], roundtrip(compressor, unit * scale)[0]
    assert np.allclose(large, small * scale, rtol=30 * np.finfo(dtype).eps)


@every_compressor
def test_same_key_same_payload_and_no_global_generator(name):
    compressor, v = compressors.parse(name), np.random.default_rng(2).standard_normal(100)
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the generator that must stay untouched
    assert np.array_equal(roundtrip(compressor, v)[0], roundtrip(compressor, v)[0])
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


@every_compressor
def test_text_parses_back(name):
    assert str(compressors.parse(str(compressors.parse(name)))) == str(compressors.parse(name))


OF_THEORY = [name for name in CASES if compressors.parse(name).name in PAYLOAD]


def formula(compressor, b, dtype):
    """Return how many bytes the formula gives for b entries."""
    return PAYLOAD[compressor.name](b, np.dtype(dtype).itemsize, **asdict(compressor))


@pytest.mark.parametrize("name", [*OF_THEORY, *(f"qsgd:{s}" for s in (2, 3, 8, 255, 256, 32767))])
@every_dtype
@pytest.mark.parametrize("b", SIZES)
def test_bytes_that_travel_are_those_of_the_formula(name, dtype, b):
    compressor = compressors.parse(name)
    used = roundtrip(compressor, np.ones(b, dtype))[1]
    assert used == formula(compressor, b, dtype)
    assert used < formula(compressor, 100 * (b + 1), dtype)


@pytest.mark.parametrize("name", OF_THEORY)
def test_the_comparison_notices_a_formula_that_is_a_byte_off(name, monkeypatch):
    kind = compressors.parse(name).name
    usual = PAYLOAD[kind]
    monkeypatch.setitem(PAYLOAD, kind, lambda *told, **numbers: usual(*told, **numbers) + 1)
    with pytest.raises(AssertionError):
        test_bytes_that_travel_are_those_of_the_formula(name, np.float32, 9)


def test_every_compressor_of_the_room_has_a_formula():
    here = [name for name in compressors if "examples" not in compressors[name].__module__]
    assert set(here) <= set(PAYLOAD)


@pytest.mark.parametrize("b", [2, 3, 1000])
def test_topk_keeps_the_largest_and_breaks_ties_by_index(b):
    out, _ = roundtrip(TopK(0.5), np.ones(b))
    k = TopK(0.5).count(b)
    assert out.nonzero()[0].tolist() == list(range(k))
    v = np.random.default_rng(3).permutation(b) + 1.0
    kept = roundtrip(TopK(0.5), v)[0]
    assert sorted(kept[kept > 0]) == sorted(v)[b - k :]


@pytest.mark.parametrize("ratio", [0, -0.1, 1.5, float("nan"), "many"])
def test_a_share_outside_0_1_is_refused(ratio):
    for kind in (TopK, RandK, Ternary):
        with pytest.raises(ConfigurationError, match=f"{kind.name} needs the share of entries"):
            kind(ratio)


@pytest.mark.parametrize(
    ("ratio", "b", "k"), [(1e-9, 1000, 1), (1, 7, 7), (0.5, 3, 2), (0.1, 0, 0)]
)
def test_counts(ratio, b, k):
    assert TopK(ratio).count(b) == RandK(ratio).count(b) == k


def test_signs_of_zeros_are_their_sign_bits():
    out, used = roundtrip(compressors.parse("sign"), np.array([0.0, -0.0, 1.0, -1.0]))
    assert out.tolist() == [0.5, -0.5, 0.5, -0.5]
    assert used == 8 + 1  # one true bit per entry


def test_worst_cases_attain_the_constants():
    b = 8
    error2 = ((roundtrip(TopK(0.25), np.ones(b))[0] - 1) ** 2).sum()
    assert error2 == (1 - TopK(0.25).quality(b).delta) * b
    spike = np.zeros(b)
    spike[0] = 1.0
    error2 = ((roundtrip(compressors.parse("sign"), spike)[0] - spike) ** 2).sum()
    assert error2 == pytest.approx(1 - 1 / b, rel=1e-14)


@pytest.mark.parametrize(("name", "bits"), [("natural", 9), ("dithering", 4)])
def test_zeros_among_others_stay_zeros(name, bits):
    v = np.array([0.0, -0.0, 1.0, 0.0], np.float32)
    out = roundtrip(compressors.parse(name), v)[0]
    assert out[[0, 1, 3]].tolist() == [0, 0, 0]
    assert compressors.parse(name).wire(8, v.dtype).fields["packed"][1] == bits


def test_equal_magnitudes_attain_dithering_where_levels_are_far():
    compressor, v = compressors.parse("dithering:4"), np.ones(400)  # x = 20 / 8
    draws = [roundtrip(compressor, v, KEY.at(turn))[0] for turn in range(400)]
    errors = ((np.array(draws) - 1) ** 2).sum(axis=1) / 400
    omega = compressor.quality(400).omega
    assert omega == 1.5
    assert abs(errors.mean() - omega) < 4 * errors.std() / 20


def test_opposite_ends_and_zeros_attain_int8():
    compressor, v = compressors.parse("int8:50"), np.zeros(50)
    v[:2] = 1, -1
    lost = ((roundtrip(compressor, v)[0] - v) ** 2).sum() / 2
    assert lost == pytest.approx(1 - compressor.quality(50).delta, rel=1e-10)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_natural_neither_overflows_nor_hides_the_smallest_numbers(dtype):
    kind = np.finfo(dtype)
    v = np.array([kind.max, -kind.max, kind.tiny, kind.smallest_subnormal, 0.75 * kind.max], dtype)
    heard = [roundtrip(compressors.parse("natural"), v, KEY.at(turn))[0] for turn in range(200)]
    shares = np.array(heard)[:, [0, 1, 2, 4]] / kind.max
    assert np.array_equal(heard[0][:3], v[:3])
    assert set(shares[:, 3].round(3)) == {0.5, 1.0}


def test_bf16_rounds_to_the_nearest_and_ties_to_even():
    v = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20, 3.4e38, 2.0**-133 * 1.5])
    out = roundtrip(compressors.parse("bf16"), v.astype(np.float32))[0].astype(float)
    largest = (2 - 2.0**-7) * 2.0**127
    assert out.tolist() == [1, 1 + 2.0**-6, 1 + 2.0**-7, largest, 2.0**-132]
    assert roundtrip(compressors.parse("bf16"), v[:1])[0] == 1


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.5, 1.0])
def test_ternary_loses_most_on_equal_magnitudes_or_one_entry_alone(ratio):
    b, word = 20, Ternary(ratio)
    k, lost = word.count(b), []
    for v in (np.ones(b), np.eye(b)[3] * 4.0, np.random.default_rng(0).standard_normal(b)):
        lost.append(((roundtrip(word, v)[0] - v) ** 2).sum() / (v**2).sum())
        one = np.sort(np.abs(v))[-k:].sum()
        assert lost[-1] == pytest.approx(1 - one**2 / k / (v**2).sum(), abs=1e-14)
    assert max(lost[:2]) == pytest.approx(1 - word.quality(b).delta, abs=1e-14)
