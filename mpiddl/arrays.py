"""Arrays and random streams: what every room agrees on.

An array is a NumPy array or a device array (CuPy); algorithms use the array's own operators and
`namespace(x)`, so that they need no branch. Random numbers come from streams that are keyed by
(seed, purpose, ...): they depend on nothing else, so a run does not depend on the order in which
ranks start, and nobody's global generator is touched.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np

from mpiddl.devices import device_of

__all__ = ["Array", "Purpose", "namespace", "on_host", "stream"]

Array: TypeAlias = Any  # np.ndarray or cupy.ndarray: 1-D, C-contiguous unless a docstring says more


class Purpose(IntEnum):
    """What a random stream is for: streams of different purposes never meet."""

    START = 0
    SHARDS = 1
    SAMPLES = 2
    NOISE = 3
    COMPRESSION = 4
    PROBLEM = 5
    PACE = 6
    PARTNERS = 7
    GRAPH = 8


def namespace(x: Array) -> Any:
    """Return the module (numpy or cupy) whose functions take `x`."""
    device = device_of(x)
    return np if device is None else device.namespace


def on_host(x: Array) -> Any:
    """Return `x` as a NumPy array: itself, or a copy of what the device holds."""
    device = device_of(x)
    if device is None:
        return x
    host = device.host_buffer(x)
    device.to_host(host, x)
    device.synchronize()
    return host


def stream(seed: int, purpose: Purpose, *key: int) -> np.random.Generator:
    """Return the random stream of (seed, purpose, key).

    Parameters
    ----------
    seed : int
        The one seed of the run, at least 0.
    purpose : Purpose
        What the numbers are for.
    *key : int
        Worker, step, bucket ...: whatever tells this stream from the others; each at least 0.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), *key))
    return np.random.Generator(np.random.SFC64(sequence))
