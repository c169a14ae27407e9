"""What a message may be made of, and whom it may go to: the one check, for every communicator."""

from __future__ import annotations

from math import inf

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.errors import BufferMismatch, ProtocolError

__all__ = ["require_flat", "require_peer", "require_target"]


def require_flat(buf: Array) -> None:
    """Refuse what is not one-dimensional and C-contiguous.

    Raises
    ------
    BufferMismatch
        Naming what was expected and what was found.
    """
    if buf.ndim != 1 or not buf.flags.c_contiguous:
        raise BufferMismatch(
            "a message is a one-dimensional C-contiguous array, found "
            f"shape {tuple(buf.shape)}, strides {tuple(buf.strides)}, dtype {buf.dtype}"
        )


def require_target(buf: Array) -> None:
    """Refuse what cannot be written as a flat vector: see `require_flat`; nor may it be read-only.

    Raises
    ------
    BufferMismatch
        Naming what was expected and what was found.
    """
    flags = buf.flags
    if buf.ndim != 1 or not flags.c_contiguous:
        require_flat(buf)
    if not getattr(flags, "writeable", True):  # device arrays have no such flag
        raise BufferMismatch(
            f"expected an array that can be written, found a read-only {buf.dtype}"
        )


def require_peer(comm: Communicator, peer: int, tag: int, tags: float = inf) -> None:
    """Raise ProtocolError unless `peer` is another rank of `comm` and `tag` is in [0, `tags`)."""
    if peer == comm.rank or not 0 <= peer < comm.size or not 0 <= tag < tags:
        raise ProtocolError(
            f"rank {comm.rank} of {comm.size} cannot exchange tag {tag} with rank {peer}"
        )
