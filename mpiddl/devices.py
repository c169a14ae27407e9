"""Arrays that live on a device, and the only place that knows CuPy.

A device array is told from a NumPy array by `device_of`; algorithms need not ask, they use the
array's own operators and `mpiddl.arrays.namespace`. The communicator asks, because MPI reads
memory behind the device's back: kernels still running must have ended before MPI reads a buffer,
and ordinary MPI libraries can't read device memory at all, so that a pinned host twin travels.

CuPy is imported when its first array appears or a GPU is asked for, never before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np

from mpiddl.errors import BufferMismatch, ConfigurationError

__all__ = ["Device", "common_device", "cuda", "device_of", "register"]


class Device(Protocol):
    """What the communicator needs to know about a device."""

    @property
    def namespace(self) -> Any:
        """The module whose functions take the device's arrays, as numpy takes NumPy's."""

    def synchronize(self) -> None:
        """Wait until everything that was asked of the current stream is done."""

    def host_buffer(self, like: Any) -> np.ndarray:
        """Return an empty NumPy array of `like`'s shape and dtype, in pinned memory if possible."""

    def to_host(self, host: np.ndarray, array: Any) -> None:
        """Copy `array` into `host`; it is there after the next `synchronize`."""

    def to_device(self, array: Any, host: np.ndarray) -> None:
        """Copy `host` into `array`; `host` may be reused on return."""


class Cuda:
    """One NVIDIA GPU, through CuPy.

    Parameters
    ----------
    index : int
        Number of the GPU among those that this process sees.
    """

    def __init__(self, index: int) -> None:
        import cupy  # here and nowhere else: it costs a second and needs a driver
        import cupyx

        self.namespace: Any = cupy
        self._empty_pinned = cupyx.empty_pinned
        self._index = index

    def __repr__(self) -> str:
        return f"cuda:{self._index}"

    def synchronize(self) -> None:
        """Wait for the current stream of this GPU."""
        with self.namespace.cuda.Device(self._index):
            self.namespace.cuda.get_current_stream().synchronize()

    def host_buffer(self, like: Any) -> np.ndarray:
        """Return a pinned NumPy array of `like`'s shape and dtype."""
        if not like.size:
            return np.empty(like.shape, like.dtype)
        pinned: np.ndarray = self._empty_pinned(like.shape, like.dtype)
        return pinned

    def to_host(self, host: np.ndarray, array: Any) -> None:
        """Copy `array` into `host`, in the order of the current stream."""
        with self.namespace.cuda.Device(self._index):
            array.get(out=host)

    def to_device(self, array: Any, host: np.ndarray) -> None:
        """Copy `host` into `array` and wait for it."""
        with self.namespace.cuda.Device(self._index):
            array.set(host)
            self.namespace.cuda.get_current_stream().synchronize()


_FINDERS: dict[type, Callable[[Any], Device]] = {}


def register(kind: type, find: Callable[[Any], Device]) -> None:
    """Make arrays of exactly the type `kind` known: `find` returns the device of one of them."""
    _FINDERS[kind] = find


@cache
def cuda(index: int = 0) -> Cuda:
    """Return GPU number `index`.

    Raises
    ------
    ConfigurationError
        If CuPy is not installed or does not load.
    """
    try:
        return Cuda(index)
    except ImportError as error:
        raise ConfigurationError(
            f"GPU {index} was asked for, but CuPy does not load ({error}): "
            "install mpiddl[cuda], or stay with NumPy arrays"
        ) from error


def device_of(x: Any) -> Device | None:
    """Return the device that holds `x`, or None for a NumPy array.

    Raises
    ------
    BufferMismatch
        If `x` is neither a NumPy nor a CuPy array (nor of a registered type); a masked array is
        refused too, since its mask would be lost on the way.
    """
    if type(x) is np.ndarray:
        return None
    find = _FINDERS.get(type(x))
    if find is not None:
        return find(x)
    if isinstance(x, np.ndarray) and not hasattr(x, "mask"):
        return None
    if hasattr(x, "__cuda_array_interface__"):
        return _cupy_device(x)
    raise BufferMismatch(f"expected a NumPy or CuPy array, found {type(x).__name__}")


def _cupy_device(x: Any) -> Device:
    kind = cuda().namespace.ndarray
    if not isinstance(x, kind):
        raise BufferMismatch(
            f"expected a CuPy array, found {type(x).__module__}.{type(x).__name__}: "
            "wrap it with cupy.asarray, which shares its memory"
        )
    register(type(x), lambda array: cuda(array.device.id))
    return cuda(x.device.id)


def common_device(*arrays: Any) -> Device | None:
    """Return the one device that holds all `arrays`, None for NumPy.

    Raises
    ------
    BufferMismatch
        If they lie on different devices; nothing is copied between devices unasked.
    """
    if not {*map(type, arrays)} - {np.ndarray}:  # mostly
        return None
    devices = [device_of(x) for x in arrays]
    if devices.count(devices[0]) < len(devices):
        names = ", ".join("host" if device is None else repr(device) for device in devices)
        raise BufferMismatch(f"expected arrays on one device, found them on {names}")
    return devices[0]
