"""What mpiddl promises of its compressors is what the theory proves, and what they do."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.compression import Contractive, Key, Unbiased, compressors
from mpiddl.compression.bf16 import BFloat16
from mpiddl.compression.dithering import Dithering
from mpiddl.compression.fp16 import Half
from mpiddl.compression.identity import Identity
from mpiddl.compression.int8 import Int8
from mpiddl.compression.natural import Natural
from mpiddl.compression.onebit import OneBit
from mpiddl.compression.qsgd import QSGD
from mpiddl.compression.randk import RandK
from mpiddl.compression.sign import ScaledSign
from mpiddl.compression.ternary import Ternary
from mpiddl.compression.terngrad import TernGrad
from mpiddl.compression.topk import TopK
from theory.compressors import CONSTANTS
from theory.outcomes import SAID, adversaries

K = 2
CASES = {  # name in the theory: compressor for b entries, and its parameter
    "identity": (lambda b: Identity(), 1),
    "topk": (lambda b: TopK(K / b), K),
    "sign": (lambda b: ScaledSign(), 1),
    "randk": (lambda b: RandK(K / b), K),
    "qsgd, s = 1": (lambda b: QSGD(1), 1),
    "qsgd, s > 1": (lambda b: QSGD(4), 4),
    "fp16": (lambda b: Half(), 1),
    "terngrad": (lambda b: TernGrad(), 1),
    "natural": (lambda b: Natural(), 1),
    "onebit": (lambda b: OneBit(), 1),
    "bf16": (lambda b: BFloat16(), 1),
    "dithering": (lambda b: Dithering(4), 4),
    "int8": (lambda b: Int8(4), 4),
    "ternary": (lambda b: Ternary(K / b), K),
}


def said(compressor, x, turn):
    payload, out = np.zeros(compressor.wire(x.size, x.dtype).nbytes, np.uint8), np.empty_like(x)
    key = Key(0, 0, 0, turn)
    used = compressor.encode(x, payload, key)
    compressor.decode(payload[:used], out, key)
    return out


def test_every_compressor_is_compared():
    ours = {
        one for one in map(compressors.__getitem__, compressors) if compressors.room in str(one)
    }
    assert ours == {type(make(8)) for make, _ in CASES.values()}  # an example may have registered


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("b", [2, 8, 100, 10_000])
def test_the_promise_is_what_is_proved(name, b):
    make, parameter = CASES[name]
    promised, constant = make(b).quality(b), CONSTANTS[name]
    proved = constant.at(b=b, k=parameter, s=parameter)
    assert isinstance(promised, Unbiased if constant.unbiased else Contractive)
    value = promised.omega if constant.unbiased else promised.delta
    assert value == pytest.approx(proved, rel=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_messages_have_the_outcomes_of_the_theory(name):
    """Mean and loss over many keys are those that the theory lists, for the worst vectors too.

    Where one entry is as good as another, or 0 has a sign, only the loss is determined.
    """
    make, parameter = CASES[name]
    rows = adversaries(6, 4, np.random.default_rng(0))[:9]
    means, losses = SAID[name](rows, parameter)
    for x, mean, loss in zip(rows, means, losses, strict=True):
        random, two = isinstance(make(6).quality(6), Unbiased) and name != "identity", (x**2).sum()
        heard = np.stack([said(make(6), x, turn) for turn in range(2000 if random else 1)])
        if CONSTANTS[name].unbiased:
            np.testing.assert_allclose(heard.mean(axis=0), mean, atol=0.1 * np.sqrt(two))
        found = ((heard - x) ** 2).sum(axis=1).mean()
        assert found == pytest.approx(loss, abs=(0.05 if random else 1e-12) * two)


def test_another_number_of_levels_is_noticed():
    """Negative control: what one level loses is not what four may lose."""
    x = np.ones(6)
    heard = np.stack([said(QSGD(1), x, turn) for turn in range(2000)])
    loss = SAID["qsgd, s > 1"](x[None], 4)[1][0]
    assert ((heard - x) ** 2).sum(axis=1).mean() > 2 * loss
