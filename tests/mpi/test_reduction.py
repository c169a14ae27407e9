"""The public all-reduce: any memory layout gives the result of its C-contiguous copy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mpiddl
from mpiddl.errors import BufferMismatch, ConfigurationError

pytestmark = pytest.mark.mpi

LAYOUTS = {
    "plain": lambda a: a,
    "transposed": lambda a: a.T,
    "strided": lambda a: a[::2, 1::2],
    "reversed": lambda a: a[::-1, ::-1],
    "fortran": np.asfortranarray,
    "column": lambda a: a[:, 2],
    "empty": lambda a: a[:0],
    "scalar": lambda a: a[1, 1, ...],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op", ["mean", "sum"])
def test_any_layout(comm, layout, dtype, op):
    def of(rank):
        return LAYOUTS[layout](np.arange(24, dtype=dtype).reshape(4, 6) * (rank + 1))

    x = of(comm.rank)
    x.flags.writeable = False
    total = mpiddl.allreduce(x, comm, op)
    factor = sum(range(1, comm.size + 1)) / (comm.size if op == "mean" else 1)
    assert np.allclose(total, of(0) * factor, rtol=1e-6)
    assert total.shape == x.shape
    assert total.dtype == dtype
    assert total.flags.c_contiguous
    assert np.array_equal(x, of(comm.rank))


DTYPES = ["int32", "int64", "uint8", "bool", ">f4", ">f8", "float16", "longdouble"]
DTYPES += ["complex64", "complex128", "object", "U3", "M8[s]"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_other_dtypes_are_refused_on_all_ranks_by_name(comm, dtype):
    with pytest.raises(BufferMismatch, match=re.escape(f"found {np.dtype(dtype)}")):
        mpiddl.allreduce(np.zeros(3, dtype), comm)


def test_a_list_is_refused(comm):
    with pytest.raises(BufferMismatch, match="list"):
        mpiddl.allreduce([1.0, 2.0], comm)


@pytest.mark.parametrize("all_ranks", [True, False])
def test_a_mask_is_not_lost_silently(comm, all_ranks):
    masked = all_ranks or comm.rank == comm.size - 1
    x = np.ma.masked_array(np.ones(3), [0, 1, 0]) if masked else np.ones(3)
    kind = BufferMismatch if all_ranks or comm.size == 1 else ConfigurationError
    with pytest.raises(kind, match="masked float64"):
        mpiddl.allreduce(x, comm)


def test_an_unknown_op_is_refused(comm):
    with pytest.raises(ConfigurationError, match="'max'"):
        mpiddl.allreduce(np.zeros(3), comm, "max")


def test_ranks_with_different_shapes_are_told(comm):
    if comm.size == 1:
        pytest.skip("one rank cannot disagree")
    with pytest.raises(ConfigurationError, match="shape"):
        mpiddl.allreduce(np.zeros(3 + comm.rank), comm)


@pytest.mark.parametrize(
    "odd",
    [
        {"x": np.zeros(3, np.float32)},
        {"x": np.zeros(3, np.int64)},
        {"x": [0.0, 0.0, 0.0]},
        {"op": "sum"},
        {"op": "max"},
        {"collective": "ring"},
        {"collective": "nosuch"},
    ],
    ids=str,
)
def test_one_rank_that_asks_for_something_else_is_told_on_all_ranks(comm, odd):
    if comm.size == 1:
        pytest.skip("one rank cannot disagree")
    asked = {"x": np.zeros(3)} | (odd if comm.rank == comm.size - 1 else {})
    with pytest.raises(ConfigurationError, match="ranks disagree on the shape, dtype, op"):
        mpiddl.allreduce(comm=comm, **asked)
