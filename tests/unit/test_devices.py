"""Which device holds an array, what mixes are refused, and that the fake device is a strict one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from mpiddl.arrays import namespace
from mpiddl.devices import common_device, cuda, device_of
from mpiddl.errors import BufferMismatch, ConfigurationError
from tests.fake_device import FakeDevice


@pytest.fixture
def device():
    return FakeDevice()


def test_numpy_arrays_have_no_device(tmp_path):
    assert device_of(np.zeros(3)) is None
    assert device_of(np.memmap(tmp_path / "x", np.float32, "w+", shape=3)) is None
    assert namespace(np.zeros(3)) is np


@pytest.mark.parametrize(
    "x", [[1.0, 2.0], 1.0, np.float32(1), None, np.ma.zeros(3), memoryview(b"x")]
)
def test_what_is_no_array_is_refused_by_name(x):
    with pytest.raises(BufferMismatch, match=type(x).__name__):
        device_of(x)
    with pytest.raises(TypeError):
        device_of(x)


def test_cupy_is_imported_only_on_demand():
    program = "import sys, mpiddl.arrays, mpiddl.comm.engine; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


@pytest.mark.skipif("cupy" in sys.modules, reason="CuPy is here")
def test_a_missing_cupy_is_named_with_a_remedy(monkeypatch):
    class Stranger:
        __cuda_array_interface__ = {}

    monkeypatch.setitem(sys.modules, "cupy", None)  # import raises ImportError
    cuda.cache_clear()
    with pytest.raises(ConfigurationError, match=r"mpiddl\[cuda\]"):
        cuda(0)
    with pytest.raises(ConfigurationError, match="CuPy"):
        device_of(Stranger())


def test_a_mix_of_devices_is_refused(device):
    host, here, there = np.zeros(3), device.array([1, 2]), FakeDevice().array([1, 2])
    assert common_device(here, here) is device
    assert common_device(host, host) is None
    for mix in ((host, here), (here, host), (here, there)):
        with pytest.raises(BufferMismatch, match="one device"):
            common_device(*mix)


def test_operators_and_functions_stay_on_the_device(device):
    x, y = device.array([1, -2, 3]), device.array([4, 5, 6])
    half = x[1:]
    half += 1
    x *= 2
    xp = namespace(x)
    assert xp.add(x, y, out=y) is y
    total = (1 - y) / 2 + xp.abs(x).sum()
    assert total.get() == pytest.approx((1 - np.array([6, 3, 14])) / 2 + 12)
    assert not isinstance(x.sum(), float)


@pytest.mark.parametrize(
    "read", [np.asarray, list, float, int, bool, memoryview, lambda x: np.ones(1) + x]
)
def test_the_host_cannot_read_a_device_array(device, read):
    with pytest.raises(TypeError):
        read(device.array([1]))


def test_copies_arrive_with_the_synchronisation(device):
    x = device.array([1, 2])
    host = device.host_buffer(x)
    device.to_host(host, x)
    x += 1  # later in the stream
    assert host.tolist() == [77, 77]
    device.synchronize()
    assert host.tolist() == [1, 2]
    assert device.log == ["to_host", "iadd", "synchronize"]
