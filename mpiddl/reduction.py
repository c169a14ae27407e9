"""An all-reduce for users' own arrays: any shape and memory layout, over mpiddl's collectives."""

from __future__ import annotations

from typing import Any

from mpiddl.arrays import Array, namespace
from mpiddl.comm.aside import Aside
from mpiddl.comm.collectives import collective as chosen
from mpiddl.comm.engine import Engine
from mpiddl.errors import BufferMismatch, ConfigurationError

__all__ = ["allreduce"]


def allreduce(
    x: Array, comm: Any = None, op: str = "mean", collective: str = "halving_doubling"
) -> Array:
    """Return the mean or the sum of `x` over all ranks; collective.

    Parameters
    ----------
    x : float32 or float64 array, any shape and layout
        Read only; shape and dtype are the same on every rank. Any layout gives the same result.
    comm : MPICommunicator or mpi4py.MPI.Intracomm or None
        The ranks; None is COMM_WORLD. The first saves making one for every call.
    op : str
        "mean" or "sum".
    collective : str
        A file in `comm/collectives`, such as ``ring`` or ``hierarchical:4``.

    Returns
    -------
    Array
        A new C-contiguous array of the shape and dtype of `x`, the same bits on every rank.

    Raises
    ------
    BufferMismatch
        On all ranks, if `x` is not a float32 or float64 array, or is masked.
    ConfigurationError
        On all ranks, if they disagree on shape, dtype, `op` or `collective`, or one is unknown.
    """
    if isinstance(comm, Aside):
        return _allreduce(x, comm, op, str(collective))
    from mpiddl.comm.mpi import opened  # only here: who has a communicator has MPI already

    with opened(comm) as ours:
        return _allreduce(x, ours, op, str(collective))


def _allreduce(x: Array, comm: Any, op: str, collective: str) -> Array:
    dtype, shape = str(getattr(x, "dtype", type(x).__name__)), getattr(x, "shape", None)
    if hasattr(x, "mask"):  # which would be lost
        dtype = f"masked {dtype}"
    said = f"{shape} {dtype} {op} {collective}"
    comm.agree("the shape, dtype, op and collective of allreduce", said)
    if dtype not in ("float32", "float64"):
        raise BufferMismatch(f"allreduce adds float32 or float64 arrays, found {dtype}")
    if op not in ("mean", "sum"):
        raise ConfigurationError(f"allreduce knows the ops mean and sum, found {op!r}")
    total = namespace(x).array(x, order="C", copy=True).reshape(-1)
    Engine(comm).run(chosen(collective, comm.size)(comm, total))
    if op == "mean":
        total /= comm.size
    return total.reshape(shape)
