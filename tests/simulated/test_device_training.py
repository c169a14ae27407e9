"""Whole runs on device arrays: nothing is read from the host, and the numbers are the same."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice

LINES = [
    "bsp / allreduce / identity / layerwise / sgd:0.25",
    "local:3 / allreduce:ring / identity / whole / sgd:0.25",
    "bsp / allreduce / ef+topk:0.3 / whole / sgd:0.25",
    "bsp / allreduce / ef+ternary:0.3 / whole / sgd:0.25",
    "bsp / allreduce / sign / layerwise / sgd:0.25",
    "local:2 / allreduce / ef+sign / whole / sgd:0.25",
    "bsp / gossip:ring / identity / whole / sgd:0.25",
    "bsp / ps / ef+topk:0.3 / layerwise / sgd:0.25",
    "ssp:1 / ps:servers=2,down=diff+sign / identity / whole / sgd:0.25",
    "bsp / allreduce / identity / layerwise / lars:0.1,decay=0.01",
    "local:2 / allreduce / identity / fused:40B / lamb:0.1@warmup:5",
]


class OnDevice:
    """A problem whose vectors live on a device; its kernels may touch the storage, nobody else."""

    def __init__(self, host, device):
        self._host, self._device = host, device

    def __getattr__(self, name):
        return getattr(self._host, name)

    def start(self):
        return FakeArray(self._host.start(), self._device)

    def gradient(self, x, batch, out):
        return self._host.gradient(x.storage, batch, out.storage)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problem("nc", 3, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    on_host, on_device = (
        simulate(Run(Variant.parse(line), each, 12, every=3))
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for here, there in zip(on_host, on_device, strict=True):
        assert isinstance(there.x, FakeArray)
        assert np.array_equal(here.x, there.x.get())
    assert on_host[0].curve == on_device[0].curve
