"""One rank of a simulated world: a communicator whose messages take virtual time."""

from __future__ import annotations

from mpiddl.arrays import Array
from mpiddl.comm import Request, Traffic
from mpiddl.comm.buffers import require_flat, require_peer, require_target
from mpiddl.comm.fabric import FREE, Fabric, Network, Operation
from mpiddl.comm.together import MAKERS, Gathering
from mpiddl.errors import ConfigurationError, ProtocolError

__all__ = ["SimulatedCommunicator"]

NO_TIME = Request("nothing", done=True)


class SimulatedCommunicator:
    """One rank of a `World` (simulated.py); see `mpiddl.comm.Communicator`.

    Parameters
    ----------
    fabric : Fabric
        Carries the messages and owns the clock.
    rank, size : int
        This rank, and how many there are.
    network : Network
        What this rank's messages and additions cost.
    traffic : Traffic
        Where its messages are counted.
    where : str
        The lane: tells its messages from those of other lanes.
    gathering : Gathering or None
        Makes collectives at once; None: they are made of messages.
    """

    __slots__ = ("_fabric", "_gathering", "_where", "network", "rank", "size", "traffic")

    def __init__(
        self,
        fabric: Fabric,
        rank: int,
        size: int,
        network: Network,
        traffic: Traffic,
        where: str = "",
        gathering: Gathering | None = None,
    ) -> None:
        self._fabric, self.rank, self.size, self._gathering = fabric, rank, size, gathering
        self.network, self.traffic, self._where = network, traffic, where

    def isend(self, buf: Array, dest: int, tag: int = 0) -> Request:
        """Start sending `buf` (b,) of any dtype; see the protocol and `Fabric.post` for errors."""
        require_flat(buf)
        require_peer(self, dest, tag)
        label = f"send to {dest}, tag {tag}{self._where}"
        send = Operation(self.rank, label, self.traffic, buf, sends=True)
        self.traffic.send(dest, buf.nbytes)
        self._fabric.post((self.rank, dest, tag, self._where), send, self.network)
        return send

    def irecv(self, buf: Array, source: int, tag: int = 0) -> Request:
        """Start receiving into `buf` (b,), of the sender's dtype and at least its size."""
        require_target(buf)
        require_peer(self, source, tag)
        label = f"recv from {source}, tag {tag}{self._where}"
        receive = Operation(self.rank, label, self.traffic, buf)
        self._fabric.post((source, self.rank, tag, self._where), receive, self.network)
        return receive

    def iallreduce(self, x: Array) -> Request:
        """Refuse, with a ConfigurationError: there is no MPI here."""
        raise ConfigurationError(
            "MPI's own all-reduce exists only under MPI: choose one of mpiddl's, such as ring"
        )

    def together(self, name: str, x: Array, tag: int) -> Request | None:
        """Join the collective `name` with x (b,), if this world makes it at once; else None."""
        if self._gathering is None or name not in MAKERS:
            return None
        require_target(x)
        label = f"{name} of all ranks, tag {tag}{self._where}"
        operation = Operation(self.rank, label, self.traffic)
        self._gathering.join(name, self._where, tag, x, operation, self.network)
        return operation

    def add(self, target: Array, other: Array) -> Request:
        """Add `other` to `target` in place, at once; done gamma seconds a byte later."""
        require_target(target)
        target += other
        return self._pass(self.network.gamma * target.nbytes, "addition")

    def spend(self, seconds: float) -> Request:
        """Let `seconds` of virtual time pass; ProtocolError unless finite and at least 0."""
        if not 0 <= seconds < float("inf"):
            raise ProtocolError(f"a computation takes a finite time, at least 0: spend({seconds})")
        return self._pass(seconds, "computation")

    def _pass(self, seconds: float, label: str) -> Request:
        if seconds == 0:
            return NO_TIME
        computation = Operation(self.rank, label, self.traffic)
        self._fabric.compute(seconds, computation)
        return computation

    def now(self) -> float:
        """Return the virtual seconds since the world began."""
        return self._fabric.now

    def lane(self, index: int) -> SimulatedCommunicator:
        """Return the same rank with tags of its own and the same traffic."""
        return self._twin(self.network, self.traffic, f"{self._where}, lane {index}")

    def uncounted(self) -> SimulatedCommunicator:
        """Return the same rank with tags and traffic of its own; its messages take no time."""
        return self._twin(FREE, Traffic(), f"{self._where}, uncounted")

    def _twin(self, network: Network, traffic: Traffic, where: str) -> SimulatedCommunicator:
        rank, size = self.rank, self.size
        return SimulatedCommunicator(
            self._fabric, rank, size, network, traffic, where, self._gathering
        )
