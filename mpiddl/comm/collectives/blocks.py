"""What several collectives share: equal blocks, equal groups, and the fold to a power of two.

Fold    With n = 2^k + r ranks the first 2 r join in pairs: the odd one gives its vector to the even
        one and sits out, so that 2^k members remain; afterwards it is told the sum.
Cost    If r > 0: 2 r messages of m bytes; time 2 (al + be m) + ga m.
"""

from __future__ import annotations

from math import isqrt

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.engine import Task
from mpiddl.errors import BufferMismatch, ConfigurationError

__all__ = ["block", "blocks", "fold_in", "fold_out", "levels", "rank_of"]
__all__ += ["require_groups", "require_rows", "square_side"]


def block(x: Array, index: int, blocks: int) -> Array:
    """Return block `index` (cyclic) of x (b,); the first b % blocks have one entry more."""
    index %= blocks
    floor, longer = divmod(x.size, blocks)
    start = index * floor + min(index, longer)
    return x[start : start + floor + (index < longer)]


def blocks(x: Array, count: int) -> list[Array]:
    """Return all blocks of x (b,), as `block` cuts them."""
    return [block(x, index, count) for index in range(count)]


def square_side(size: int) -> int:
    """Return the largest divisor of `size` that is at most its root: 1 if `size` is prime."""
    return next(side for side in range(isqrt(size), 0, -1) if not size % side)


def require_groups(size: int, group: int) -> None:
    """Raise ConfigurationError unless `size` ranks divide into groups of `group`."""
    if size % group:
        below, above = size // group * group, (size // group + 1) * group
        nearest = f"{below} or {above}" if below else f"{above}"
        raise ConfigurationError(
            f"{size} ranks do not divide into groups of {group}: run on {nearest} ranks, "
            "or leave out the number"
        )


def require_rows(size: int, mine: Array, out: Array) -> None:
    """Raise BufferMismatch unless `out` (n, capacity) takes `size` payloads like `mine` (used,)."""
    if out.ndim != 2 or out.shape[0] != size or mine.size > out.shape[1]:
        raise BufferMismatch(
            f"{size} rows of at least {mine.size} bytes are needed, found shape {tuple(out.shape)}"
        )


def levels(size: int) -> int:
    """Return k = floor(log2 size)."""
    return size.bit_length() - 1


def rank_of(member: int, size: int) -> int:
    """Return the rank of one of the 2^k members."""
    extra = size - (1 << levels(size))
    return 2 * member if member < extra else member + extra


def fold_in(comm: Communicator, x: Array, scratch: Array, tag: int) -> Task[int | None]:
    """Join the first 2 r ranks in pairs; x and scratch are (b,).

    Returns
    -------
    int or None
        This rank's number among the 2^k members; None if it sits out.
    """
    extra = comm.size - (1 << levels(comm.size))
    if comm.rank >= 2 * extra:
        return comm.rank - extra
    if comm.rank % 2:
        yield comm.isend(x, comm.rank - 1, tag)
        return None
    yield comm.irecv(scratch, comm.rank + 1, tag)
    yield comm.add(x, scratch)
    return comm.rank // 2


def fold_out(comm: Communicator, x: Array, tag: int) -> Task[None]:
    """Tell the ranks that sat out the sum x (b,)."""
    if comm.rank < 2 * (comm.size - (1 << levels(comm.size))):
        if comm.rank % 2:
            yield comm.irecv(x, comm.rank - 1, tag)
        else:
            yield comm.isend(x, comm.rank + 1, tag)
