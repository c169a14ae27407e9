"""Collectives and compressors on arrays that are not NumPy's: they stay where they are."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.comm.collectives import allgathers, allreduces
from mpiddl.comm.simulated import World
from mpiddl.compression import Key, compressors
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


@pytest.mark.parametrize("name", [name for name in compressors if not name.startswith("my_")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compressors_stay_on_the_device_and_say_the_same(name, dtype):
    word, key, device = compressors.parse(name), Key(0, 0, 0), FakeDevice()
    v = np.random.default_rng(0).standard_normal(37).astype(dtype)
    payload, heard = np.zeros(word.wire(v.size, v.dtype).nbytes, np.uint8), np.zeros_like(v)
    there, out = device.array(payload, np.uint8), device.array(heard, dtype)
    assert word.encode(device.array(v, dtype), there, key) == word.encode(v, payload, key)
    word.decode(there, out, key)
    word.decode(payload, heard, key)
    np.testing.assert_array_equal(there.get(), payload)
    np.testing.assert_array_equal(out.get(), heard)
