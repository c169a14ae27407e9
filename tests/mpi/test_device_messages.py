"""Device arrays under real MPI, on a device that only tests know (see tests/fake_device.py)."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.comm.engine import Engine
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.errors import BufferMismatch
from tests.fake_device import FakeDevice

pytestmark = pytest.mark.mpi(min_size=2)


def exchange(comm, x, y):
    receive = comm.irecv(y, (comm.rank - 1) % comm.size)
    yield [comm.isend(x, (comm.rank + 1) % comm.size), receive]
    return receive.nbytes


@pytest.fixture(params=["staged", "direct"])
def comm(request):
    with MPICommunicator(staging=request.param, chunk_bytes=64) as ours:
        ours.staging = request.param
        yield ours


@pytest.mark.parametrize("size", [0, 5, 100])  # the last in chunks
def test_they_arrive(comm, size):
    device = FakeDevice()
    x, y = device.array(np.arange(size) + comm.rank), device.array(np.zeros(size + 2))
    x *= 2  # a kernel that is still running
    assert Engine(comm).run(exchange(comm, x, y)) == 4 * size
    expected = 2 * (np.arange(size) + (comm.rank - 1) % comm.size)
    assert y.get().tolist() == [*expected, 0, 0]
    assert comm.traffic.staged_bytes == (8 * size if comm.staging == "staged" else 0)
    comm.reconcile()


def test_the_stream_is_waited_for_before_mpi_reads(comm):
    device = FakeDevice()
    x = device.array([1, 2])
    x += 1
    request = comm.isend(x, (comm.rank + 1) % comm.size)
    assert device.log[-1] == "synchronize"
    assert device.log.count("synchronize") == 1
    Engine(comm).run(receive(comm))
    assert request.done or comm.traffic.sent.messages == 1


def receive(comm):
    y = np.zeros(2, np.float32)
    yield comm.irecv(y, (comm.rank - 1) % comm.size)
    assert y.tolist() == [2, 3]


def test_without_the_wait_the_numbers_are_wrong():
    """Negative control of the fake device."""
    device = FakeDevice()
    device.synchronize = lambda: None
    with MPICommunicator() as comm:
        y = np.zeros(2, np.float32)
        Engine(comm).run(exchange(comm, device.array([1, 2]), y))
        assert y.tolist() == [77, 77]


def test_host_and_device_are_not_mixed(comm):
    device = FakeDevice()
    x, y = device.array([1, 2]), np.ones(2, np.float32)
    for pair in ((x, y), (y, x)):
        with pytest.raises(BufferMismatch, match="one device"):
            comm.add(*pair)
    assert comm.add(x, x).done
    assert x.get().tolist() == [2, 4]
