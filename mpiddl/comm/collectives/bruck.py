"""Bruck's all-gather: in step j every rank hands on all that it knows, to the rank 2^j below.

Idea    Before step j rank i knows the payloads of i, i+1, .., i + 2^j - 1 (cyclic); it hears the
        next 2^j from rank i + 2^j, in the last step only those that are missing. Nobody knows the
        sizes of the others' payloads, so each travels as a record: 4 bytes that say how many
        follow, then the payload. Records lie one behind the other as they came, so that what is
        sent next is one piece of memory; at the end they are copied to their rows.
Cost    n ceil(log2 n) messages. With payloads of M bytes in all, (n-1)(M + 4 n) bytes in all: a
        record crosses n-1 wires, as in the ring. With m bytes on every rank the time is
            ceil(log2 n) al + (n-1) be (m + 4),
        and at most that if m is the largest payload. The copies on a rank are not in it: n (m + 4)
        bytes at the end, so that for long payloads on few ranks the ring is the better one.
Source  Bruck, Ho, Kipnis, Upfal & Weathersby, "Efficient algorithms for all-to-all communications
        in multiport message-passing systems", 1997.
Differs from the paper: sizes may differ, hence the records.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace, on_host
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import allgathers
from mpiddl.comm.collectives.blocks import require_rows
from mpiddl.comm.engine import Task
from mpiddl.errors import BufferMismatch

__all__ = ["allgather"]

HEADER = 4  # bytes of a size, the least significant first


@allgathers.register("bruck")
def allgather(comm: Communicator, mine: Array, out: Array, tag: int = 0) -> Task[list[int]]:
    """Bring every rank's payload mine (used,) to every rank's out (n, capacity)."""
    n, rank, xp = comm.size, comm.rank, namespace(out)
    require_rows(n, mine, out)
    if mine.size >> 8 * HEADER:
        raise BufferMismatch(f"a payload of {mine.size} bytes: gather=ring has no limit")
    room = HEADER + out.shape[1]
    records = xp.empty(n * room, xp.uint8)
    records[:HEADER] = xp.array(list(mine.size.to_bytes(HEADER, "little")), xp.uint8)
    records[HEADER : HEADER + mine.size] = mine
    ends = [0, HEADER + mine.size]  # record k, of rank + k, lies between ends[k] and ends[k + 1]
    distance = 1
    while distance < n:
        count = min(distance, n - distance)
        place = records[ends[-1] : ends[-1] + count * room]
        receive = comm.irecv(place, (rank + distance) % n, tag)
        yield [receive, comm.isend(records[: ends[count]], (rank - distance) % n, tag)]
        for _ in range(count):
            ends.append(ends[-1] + HEADER + _size(records, ends[-1]))
        distance *= 2
    used = [0] * n
    for k in range(n):
        row, start = (rank + k) % n, ends[k] + HEADER
        used[row] = ends[k + 1] - start
        out[row, : used[row]] = records[start : ends[k + 1]]
    return used


def _size(records: Array, at: int) -> int:
    """Return the bytes of the payload whose record begins `at` that position."""
    return int.from_bytes(on_host(records[at : at + HEADER]).tobytes(), "little")
