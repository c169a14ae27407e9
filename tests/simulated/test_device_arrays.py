"""Collectives on arrays that are not NumPy's: only the array's own operators are used."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.comm.collectives import allgathers, allreduces
from mpiddl.comm.simulated import World
from tests.fake_device import FakeDevice

NAMES = sorted(set(allreduces) - {"native"})


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_all_reduce_stays_on_the_device(name, n):
    device = FakeDevice()
    vectors = [device.array(np.arange(10.0) * (rank + 1), np.float64) for rank in range(n)]
    World(n).run(lambda comm, _: allreduces[name](comm, vectors[comm.rank]))
    for vector in vectors:
        np.testing.assert_array_equal(vector.get(), np.arange(10.0) * (n * (n + 1) // 2))


@pytest.mark.parametrize("name", sorted(allgathers))
def test_allgather_stays_on_the_device(name):
    device = FakeDevice()
    mine = [device.array([7] * rank, np.uint8) for rank in range(3)]
    tables = [device.array(np.zeros((3, 4)), np.uint8) for _ in range(3)]
    World(3).run(lambda comm, _: allgathers[name](comm, mine[comm.rank], tables[comm.rank]))
    for table in tables:
        assert table.get().tolist() == [[0, 0, 0, 0], [7, 0, 0, 0], [7, 7, 0, 0]]
