"""Data: the small sets that ship with mpiddl, and users' own arrays made ready.

Sources and licences: data/LICENSE-data.md.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from mpiddl.arrays import Array
from mpiddl.errors import BufferMismatch, ConfigurationError

__all__ = ["Dataset", "load", "real", "signed_rows", "signs", "standardised"]


# Not importlib.resources nor pathlib: 32 ranks on a laptop feel every module they load.
FOLDER = os.path.join(os.path.dirname(__file__), "data")


class Dataset(NamedTuple):
    """Rows and what they are.

    Parameters
    ----------
    features : float32, float64 or uint8 (m, p)
        One row per sample.
    labels : uint8 or float64 (m,)
        Class of each row, or its target.
    """

    features: Array
    labels: Array


def load(name: str) -> Dataset:
    """Return the data set `name`, fresh arrays.

    Raises
    ------
    ConfigurationError
        If no set of that name ships with mpiddl; the message lists those that do.
    """
    known = sorted(file[:-4] for file in os.listdir(FOLDER) if file.endswith(".npy"))
    if name not in known:
        raise ConfigurationError(f"no data set is called {name!r}; there are: {', '.join(known)}")
    table = np.load(os.path.join(FOLDER, f"{name}.npy"), allow_pickle=False)
    return Dataset(table["features"].copy(), table["labels"].copy())


def real(name: str, values: Any, axes: int) -> Array:
    """Return `values` as a new C-contiguous float64 array; the input is not touched.

    Parameters
    ----------
    name : str
        What it is, for messages.
    values : array-like of real floats, ints or bools
        Any memory layout and byte order.
    axes : int
        Number of axes it must have; none may be empty.

    Raises
    ------
    BufferMismatch
        A TypeError, if the dtype is not real or a mask would be lost; it names the dtype.
    ConfigurationError
        If the number of axes is another or an axis is empty.
    """
    array = np.asanyarray(values)
    if array.dtype.kind not in "fiub" or hasattr(array, "mask"):
        masked = "masked " if hasattr(array, "mask") else ""
        raise BufferMismatch(f"{name}: expected real floats or ints, found {masked}{array.dtype}")
    if array.ndim != axes or not array.size:
        raise ConfigurationError(f"{name}: expected {axes} axes, none empty, found {array.shape}")
    with np.errstate(over="ignore"):  # a long double may become inf, which is refused later
        return np.array(array, dtype=np.float64, order="C", copy=True, subok=False)


def standardised(features: Any) -> Array:
    """Return `features` with columns of mean 0 and variance 1 (divided by m); a constant one is 0.

    Parameters
    ----------
    features : array-like (m, p)
        See `real`.

    Returns
    -------
    float64 (m, p)
        A new C-contiguous array.

    Raises
    ------
    BufferMismatch
        A TypeError that names the dtype, if it is not real.
    ConfigurationError
        If a column holds a NaN, an inf or numbers whose squares are out of range; it names it.
    """
    table = real("features", features, 2)
    constant = (table == table[0]).all(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        table -= table.mean(axis=0)
        deviation = table.std(axis=0)
    usable = np.isfinite(deviation) & (constant | (deviation > 0))
    for column in np.flatnonzero(~usable):
        raise ConfigurationError(
            f"column {column} of the features cannot be standardised: it holds a NaN, an inf or "
            "numbers whose squares overflow or vanish; drop or repair it"
        )
    table[:, constant] = 0.0  # the rounding of its mean is no signal
    table /= np.where(constant, 1.0, deviation)
    return table


def signs(labels: Any) -> Array:
    """Return -1 for the smaller and +1 for the larger of two labels.

    Parameters
    ----------
    labels : array-like (m,)
        Exactly two different real numbers.

    Returns
    -------
    float64 (m,)
        A new array.

    Raises
    ------
    BufferMismatch
        A TypeError that names the dtype, if it is not real.
    ConfigurationError
        If there are not two labels, or one is a NaN.
    """
    marks = real("labels", labels, 1)
    kinds, kind_of = np.unique(marks, return_inverse=True)
    if len(kinds) != 2 or np.isnan(kinds).any():
        shown = ", ".join(f"{kind:g}" for kind in kinds[:5])
        raise ConfigurationError(f"labels: expected two classes, found {len(kinds)}: {shown}")
    return 2.0 * kind_of - 1.0


def signed_rows(features: Any, labels: Any) -> Array:
    """Return y_k (a_k, 1): standardised features and a column of ones, times the label's sign.

    Parameters
    ----------
    features : array-like (m, p)
        See `standardised`, also for errors.
    labels : array-like (m,)
        See `signs`, also for errors.

    Returns
    -------
    float64 (m, p + 1)
        A new array.

    Raises
    ------
    ConfigurationError
        If there are not as many labels as rows.
    """
    table, y = standardised(features), signs(labels)
    if len(table) != len(y):
        raise ConfigurationError(f"{len(table)} rows of features but {len(y)} labels")
    return np.column_stack((table, np.ones(len(y)))) * y[:, np.newaxis]
