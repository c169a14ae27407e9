"""The real communicator: typed messages over duplicates of the user's communicator.

Idea    Every operation is non-blocking and goes to transfers.py, which the engine polls. Two
        duplicates keep our messages from the user's: one for counted messages, one aside for
        measurements and for what ranks agree on (aside.py). Lanes are ranges of tags.
Threads None: any thread level will do, also that of an MPI which the user initialised.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import numpy as np
from mpi4py import MPI

from mpiddl.arrays import Array
from mpiddl.comm import Request, Traffic
from mpiddl.comm.aside import Aside, crowding
from mpiddl.comm.buffers import require_flat, require_peer, require_target
from mpiddl.comm.guard import check_launcher, duplicate, guard
from mpiddl.comm.messages import Incoming, Line, Outgoing, chunks, require_chunk
from mpiddl.comm.staging import Staging, require_staging, to_receive, to_send
from mpiddl.comm.transfers import Transfers
from mpiddl.devices import common_device, device_of
from mpiddl.errors import BufferMismatch, ConfigurationError, ProtocolError

__all__ = ["MPICommunicator", "opened"]

TAGS = 1 << 12  # tags of one lane
DONE = Request("nothing", done=True)

TYPES = {
    np.dtype(np.float16): MPI.BYTE,  # MPI has no such type; it only travels
    np.dtype(np.float32): MPI.FLOAT,
    np.dtype(np.float64): MPI.DOUBLE,
    np.dtype(np.int32): MPI.INT32_T,
    np.dtype(np.int64): MPI.INT64_T,
    np.dtype(np.uint8): MPI.BYTE,
}
LEVELS = ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")


class MPICommunicator(Aside):
    """The ranks of an MPI communicator; see `mpiddl.comm.Communicator` and `engine.Transport`.

    Collective.

    Parameters
    ----------
    comm : MPI.Intracomm, optional
        The ranks; COMM_WORLD if not given. It is duplicated and stays the caller's.
    chunk_bytes : int
        Longest message that MPI is given, a multiple of 8; a longer one travels as several.
    staging : {"staged", "direct"}
        How device arrays travel.

    Raises
    ------
    ConfigurationError
        If MPI is not running, launcher and library differ, or an option is wrong.
    """

    def __init__(
        self,
        comm: MPI.Intracomm | None = None,
        *,
        chunk_bytes: int = 1 << 30,
        staging: Staging = "staged",
    ) -> None:
        require_staging(staging)
        require_chunk(chunk_bytes)
        check_launcher(MPI.COMM_WORLD.size)
        base = MPI.COMM_WORLD if comm is None else comm
        self._raw = duplicate(base)
        super().__init__(duplicate(base))
        self.agree("chunk_bytes", chunk_bytes)
        self._chunk_bytes, self._staging, self._first_tag = chunk_bytes, staging, 0
        self._lines: dict[tuple[int, int, object], Line] = {}
        machine = self._beside.Split_type(MPI.COMM_TYPE_SHARED)
        self.crowding = crowding(machine)
        machine.Free()
        self._transfers = Transfers(MPI.Request.Testsome, self.crowding)
        self._start = time.perf_counter()

    @property
    def library(self) -> str:
        """Name and version of the MPI library, in one line."""
        return " ".join(MPI.Get_library_version().splitlines()[0].split(",")[0].split())

    @property
    def thread_level(self) -> str:
        """What MPI was initialised with: SINGLE, FUNNELED, SERIALIZED or MULTIPLE."""
        return next(name for name in LEVELS if getattr(MPI, f"THREAD_{name}") == MPI.Query_thread())

    def isend(self, buf: Array, dest: int, tag: int = 0) -> Request:
        """Start sending `buf` (b,), of a dtype that MPI carries: else BufferMismatch."""
        device, line = device_of(buf), self._line(buf, dest, tag)
        require_flat(buf)
        if device is not None:
            buf = to_send(buf, device, self._staging, self.traffic)
        pieces = chunks(buf, self._chunk_bytes)
        outgoing = Outgoing(line.sending, self._raw, len(pieces))
        for piece in pieces:
            request = self._raw.Isend([piece, line.datatype], dest, line.tag)
            self.traffic.send(dest, piece.nbytes)
            self._transfers.watch(request, outgoing)
        return outgoing

    def irecv(self, buf: Array, source: int, tag: int = 0) -> Request:
        """Start receiving into `buf` (b,), which can be written and has the sender's dtype."""
        device, line = device_of(buf), self._line(buf, source, tag)
        require_target(buf)
        deliver = None
        if device is not None:
            buf, deliver = to_receive(buf, device, self._staging, self.traffic)
        return self._transfers.receive(Incoming(line, buf, self._chunk_bytes, deliver))

    def _line(self, buf: Array, peer: int, tag: int) -> Line:
        """Return the line of such messages; what can be checked once is checked for the first."""
        key = peer, tag, buf.dtype
        if key not in self._lines:
            if buf.dtype not in TYPES:
                raise BufferMismatch(f"MPI carries {', '.join(map(str, TYPES))}; found {buf.dtype}")
            require_peer(self, peer, tag, TAGS)
            kind, number = TYPES[buf.dtype], self._first_tag + tag
            self._lines[key] = Line(self._raw, kind, peer, number, self.traffic)
        return self._lines[key]

    def iallreduce(self, x: Array) -> Request:
        """Sum `x` (b,) in place by MPI itself, uncounted; matched by order, so start all alike."""
        require_target(x)
        if device_of(x) is not None or TYPES.get(x.dtype, MPI.BYTE) == MPI.BYTE:
            raise BufferMismatch(f"MPI sums NumPy float32/64 and int32/64, found {x.dtype}")
        total = Outgoing("MPI's all-reduce", self._raw)
        self._transfers.watch(self._raw.Iallreduce(MPI.IN_PLACE, [x, TYPES[x.dtype]]), total)
        return total

    def native_sum(self, x: Array) -> None:
        """Sum `x` (b,) in place by MPI's own blocking call, uncounted; collective."""
        self._raw.Allreduce(MPI.IN_PLACE, x)

    def add(self, target: Array, other: Array) -> Request:
        """Add `other` to `target` in place; both on one device, else BufferMismatch."""
        device = common_device(target, other)
        (np if device is None else device.namespace).add(target, other, out=target)
        return DONE

    def spend(self, seconds: float) -> Request:
        """Return a request that is done when `seconds` have passed, at once if that is not > 0."""
        return self._transfers.timer(seconds) if seconds > 0 else DONE

    def now(self) -> float:
        """Return the seconds since this communicator was made."""
        return time.perf_counter() - self._start

    def lane(self, index: int) -> MPICommunicator:
        """Return the same ranks with tags of their own; ConfigurationError if MPI has too few."""
        if self._first_tag:
            raise ProtocolError("a lane has no lanes")
        lane, largest = copy.copy(self), int(MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) or 0)
        lane._first_tag, lane._lines = (index + 1) * TAGS, {}
        if lane._first_tag + TAGS > largest:
            raise ConfigurationError(
                f"lane {index} needs tags beyond {largest}, the last that this MPI has: "
                "cut the model into fewer buckets"
            )
        return lane

    def uncounted(self) -> MPICommunicator:
        """Return the same ranks with tags and a traffic of their own, for measurements."""
        aside = copy.copy(self)
        aside._raw, aside.traffic, aside._lines = self._beside, Traffic(), {}
        return aside

    def split(self, color: int) -> MPICommunicator:
        """Return the ranks that gave the same `color`, with a traffic of their own; collective."""
        part = cast(MPI.Intracomm, self._beside.Split(color, self.rank))
        child = MPICommunicator(part, chunk_bytes=self._chunk_bytes, staging=self._staging)
        part.Free()
        child._transfers, child._start = self._transfers, self._start  # one engine drives both
        return child

    def progress(self) -> bool:
        """Let finished operations finish if it is time to look; return whether any did."""
        return self._transfers.progress()

    def idle(self) -> None:
        """Let finished operations finish, and if there are none, give the core away."""
        self._transfers.idle()

    def close(self) -> None:
        """Complete the sends, give up receives that nobody answered, free the duplicates.

        Collective; ProtocolError if a send has not ended seconds after all ranks came here. A
        second call does nothing.
        """
        if self._raw != MPI.COMM_NULL:
            self.rendezvous()
            self._transfers.drain(self._raw, self._beside)
            self.rendezvous()
            self._transfers.cancel(self._raw, self._beside)
            self._raw.Free()
            super().close()


@contextmanager
def opened(comm: MPICommunicator | MPI.Intracomm | None = None) -> Iterator[MPICommunicator]:
    """Give a communicator for `comm`, itself if it is one; who fails alone inside ends the job."""
    given = comm if isinstance(comm, MPICommunicator) else None
    raw = given._raw if given else cast("MPI.Intracomm | None", comm)
    with guard(raw, reraise=True):
        if given:
            yield given
        else:
            with MPICommunicator(raw) as ours:
                yield ours
