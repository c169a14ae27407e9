"""The shipped data is whole, and users' arrays are taken in any shape that makes sense."""

from __future__ import annotations

import warnings
from importlib import resources

import numpy as np
import pytest

from mpiddl.errors import BufferMismatch, ConfigurationError
from mpiddl.problems.datasets import load, real, signed_rows, signs, standardised

RANDOM = np.random.default_rng(3)
TABLE = RANDOM.integers(0, 100, (12, 4)).astype(np.float64)
LAYOUTS = {
    "fortran": np.asfortranarray(TABLE),
    "transposed": TABLE.T.copy().T,
    "strided": np.repeat(TABLE, 2, axis=0)[::2],
    "reversed": TABLE[::-1].copy()[::-1],
    "column view": np.pad(TABLE, ((0, 0), (1, 1)))[:, 1:-1],
    "big endian": TABLE.astype(">f4"),
    "half": TABLE.astype(np.float16),
    "long double": TABLE.astype(np.longdouble),
    "int32": TABLE.astype(np.int32),
    "uint8": TABLE.astype(np.uint8),
    "list": TABLE.tolist(),
}


def test_breast_cancer_is_the_known_set():
    features, labels = load("breast_cancer")
    assert features.shape == (569, 30)
    assert features.dtype == np.float64
    assert np.bincount(labels).tolist() == [212, 357]
    assert features[:, 0].min() == 6.981
    assert features[:, 23].max() == 4254.0
    assert np.isfinite(features).all()


def test_diabetes_is_the_known_set():
    features, targets = load("diabetes")
    assert features.shape == (442, 10)
    assert features[0].tolist() == [59, 2, 32.1, 101, 157, 93.2, 38, 4, 4.8598, 87]
    assert np.bincount(features[:, 1].astype(int)).tolist() == [0, 235, 207]
    assert (targets.min(), targets.max(), targets[0]) == (25, 346, 151)


def test_digits_are_the_known_set():
    features, labels = load("digits")
    assert features.shape == (1797, 64)
    assert features.dtype == np.uint8
    assert (features.min(), features.max()) == (0, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert labels[:12].tolist() == [*range(10), 0, 1]


def test_every_set_that_ships_loads_and_comes_with_its_licence():
    folder = resources.files("mpiddl.problems") / "data"
    notice = (folder / "LICENSE-data.md").read_text("utf-8")
    names = [file.name for file in folder.iterdir() if file.name.endswith(".npy")]
    assert names
    for name in names:
        features, labels = load(name.removesuffix(".npy"))
        assert features.dtype.name in ("float32", "float64", "uint8")
        assert labels.dtype in (np.uint8, np.float64)
        assert len(features) == len(labels)
        assert name in notice


def test_an_unknown_set_is_refused_with_the_names_of_the_known():
    with pytest.raises(ConfigurationError, match=r"'iris'.*breast_cancer"):
        load("iris")
    with pytest.raises(ConfigurationError):
        load("../breast_cancer")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_and_real_dtype_is_copied_and_left_alone(layout):
    given = LAYOUTS[layout]
    kept = np.array(given, copy=True)
    if isinstance(given, np.ndarray):
        given = given.view()
        given.flags.writeable = False
    taken = real("features", given, 2)
    assert taken.flags.c_contiguous
    assert taken.flags.owndata
    assert taken.dtype == np.float64
    assert np.array_equal(taken, TABLE)
    assert np.array_equal(standardised(given), standardised(TABLE))
    assert np.array_equal(np.asarray(given), kept)
    assert not np.shares_memory(taken, np.asarray(given))


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (TABLE.astype(object), "object"),
        (TABLE.astype(np.complex64), "complex64"),
        (TABLE.astype(str), "<U"),
        (TABLE.astype("M8[s]"), "datetime64"),
        (np.ma.masked_less(TABLE, 3), "masked"),
    ],
)
def test_what_is_not_real_is_a_type_error_that_names_the_dtype(values, word):
    for call in (standardised, lambda v: signs(v[:, 0])):
        with pytest.raises(TypeError, match=word) as caught:
            call(values)
        assert isinstance(caught.value, BufferMismatch)


def test_columns_have_mean_0_and_variance_1():
    table = standardised(TABLE * [1, 1e-6, 1e8, -1] + [0, 5, 1e9, 0])
    assert np.abs(table.mean(axis=0)).max() < 1e-9
    assert np.allclose(table.std(axis=0), 1.0)


def test_a_constant_column_becomes_0():
    table = TABLE.copy()
    table[:, 2] = 0.1
    assert np.array_equal(standardised(table)[:, 2], np.zeros(12))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, np.longdouble("1e4000")])
def test_a_column_that_cannot_be_standardised_is_named(value):
    table = TABLE.astype(np.longdouble)
    table[3, 2] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConfigurationError, match="column 2"):
            standardised(table)


def test_a_column_of_infs_or_of_numbers_with_vanishing_squares_is_named_too():
    for column in (np.full(12, np.inf), 1e-200 * TABLE[:, 0]):
        table = TABLE.copy()
        table[:, 1] = column
        with pytest.raises(ConfigurationError, match="column 1"):
            standardised(table)


def test_the_larger_label_is_positive():
    for low, high in ((0, 1), (-1, 1), (3, 7), (False, True), (0.25, 0.5)):
        assert signs(np.array([high, low, high])).tolist() == [1.0, -1.0, 1.0]


@pytest.mark.parametrize("labels", [[1, 1, 1], [0, 1, 2], [0.0, np.nan, 1.0], [0.0, np.nan]])
def test_other_than_two_labels_are_refused(labels):
    with pytest.raises(ConfigurationError, match="labels"):
        signs(labels)


def test_shapes_must_fit():
    with pytest.raises(ConfigurationError, match="features.*2 axes"):
        standardised(TABLE[0])
    with pytest.raises(ConfigurationError, match="none empty"):
        standardised(TABLE[:0])
    with pytest.raises(ConfigurationError, match="labels.*1 axes"):
        signs(TABLE)
    with pytest.raises(ConfigurationError, match="12 rows.*3 labels"):
        signed_rows(TABLE, [0, 1, 0])


def test_signed_rows_are_features_and_a_one_times_the_sign():
    labels = np.arange(12) % 2
    rows = signed_rows(TABLE, labels)
    assert rows.shape == (12, 5)
    assert np.array_equal(rows[:, -1], 2.0 * labels - 1)
    assert np.array_equal(rows[:, :-1] * rows[:, -1:], standardised(TABLE))
