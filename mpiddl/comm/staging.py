"""How device buffers meet MPI, which reads and writes memory behind the device's back.

Staged  A pinned host twin travels. Works with every MPI; costs one copy at either end.
Direct  The device's own memory travels. Needs a CUDA-aware MPI: an ordinary one crashes, and
        can't be told from the other by asking it.

In both cases the stream is waited for here, before MPI is called, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from mpiddl.arrays import Array
from mpiddl.comm import Traffic
from mpiddl.devices import Device
from mpiddl.errors import ConfigurationError

__all__ = ["Staging", "require_staging", "to_receive", "to_send"]

Staging: TypeAlias = Literal["staged", "direct"]


def require_staging(staging: str) -> None:
    """Raise ConfigurationError for an unknown way of staging."""
    if staging not in ("staged", "direct"):
        raise ConfigurationError(f"staging is 'staged' or 'direct', found {staging!r}")


def to_send(buf: Array, device: Device, staging: Staging, traffic: Traffic) -> Array:
    """Return what MPI may read for the device array `buf`."""
    wire = buf
    if staging == "staged":
        wire = device.host_buffer(buf)
        device.to_host(wire, buf)
        traffic.staged_bytes += buf.nbytes
    device.synchronize()
    return wire


def to_receive(
    buf: Array, device: Device, staging: Staging, traffic: Traffic
) -> tuple[Array, Callable[[int], None] | None]:
    """Return what MPI may overwrite for `buf`, and what to call with the bytes that came."""
    if staging == "direct":
        device.synchronize()
        return buf, None
    wire = device.host_buffer(buf)

    def deliver(nbytes: int) -> None:
        came = nbytes // buf.itemsize
        device.to_device(buf[:came], wire[:came])
        traffic.staged_bytes += nbytes

    return wire, deliver
