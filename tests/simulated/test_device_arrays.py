"""Collectives on arrays that are not NumPy's: only the array's own operators are used."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mpiddl import devices
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.collectives.ring import allgather
from mpiddl.comm.simulated import World

NAMES = sorted(set(allreduces) - {"native"})


class Remote:
    """An array on a pretended device: what CuPy has too, and no mixing with host arrays."""

    def __init__(self, host):
        self._host = host
        self.ndim, self.shape, self.size = host.ndim, host.shape, host.size
        self.dtype, self.nbytes, self.strides = host.dtype, host.nbytes, host.strides
        self.flags = SimpleNamespace(c_contiguous=host.flags.c_contiguous)

    def __getitem__(self, key):
        return Remote(self._host[key])

    def __setitem__(self, key, value):
        self._host[key] = on_device(value)

    def __iadd__(self, other):
        self._host += on_device(other)
        return self


def on_device(value):
    if not isinstance(value, Remote):
        raise TypeError("a host array has come to the device unasked")
    return value._host


@pytest.fixture(autouse=True)
def _device(monkeypatch):
    namespace = SimpleNamespace(empty=lambda size, dtype: Remote(np.empty(size, dtype)))
    monkeypatch.setitem(devices._FINDERS, Remote, lambda _: SimpleNamespace(namespace=namespace))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_all_reduce_stays_on_the_device(name, n):
    hosts = [np.arange(10.0) * (rank + 1) for rank in range(n)]
    World(n).run(lambda comm, _: allreduces[name](comm, Remote(hosts[comm.rank])))
    for host in hosts:
        np.testing.assert_array_equal(host, np.arange(10.0) * (n * (n + 1) // 2))


def test_allgather_stays_on_the_device():
    hosts = [np.zeros((3, 4), np.uint8) for _ in range(3)]
    World(3).run(
        lambda comm, _: allgather(
            comm, Remote(np.full(comm.rank, 7, np.uint8)), Remote(hosts[comm.rank])
        )
    )
    for host in hosts:
        assert host.tolist() == [[0, 0, 0, 0], [7, 0, 0, 0], [7, 7, 0, 0]]
