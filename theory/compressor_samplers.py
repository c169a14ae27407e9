"""Random instances of the axioms of compressors and of functions that differ between workers.

The compressor is a mask: one entry of three is said, three times as large, so omega = 2. Every
outcome of the masks of all workers is listed, so expectations are exact.
"""

from __future__ import annotations

import itertools

import numpy as np

from theory.forms import Scalar, Vector
from theory.instances import ENTRIES, SMOOTHNESS, WORKERS, Draw, Floats, Instance, points

__all__ = ["SAMPLERS"]

x, y = Vector.stack("x"), Vector.stack("y")
LOST = Scalar("lost")


def _said(rng: np.random.Generator) -> Floats:
    """Return what workers want to say, now and then all the same, (1, WORKERS, ENTRIES)."""
    vectors = points(rng)
    return np.broadcast_to(vectors[:, :1], vectors.shape) if rng.random() < 0.3 else vectors


def _masks(*, shared: bool) -> Floats:
    """Return the factors of every entry in every outcome, (outcomes, WORKERS, ENTRIES)."""
    kept = (
        np.repeat(np.arange(ENTRIES)[:, None], WORKERS, axis=1)
        if shared
        else np.array(list(itertools.product(range(ENTRIES), repeat=WORKERS)))
    )
    factors: Floats = ENTRIES * np.eye(ENTRIES)[kept]
    return factors


def _known_and_loss(rng: np.random.Generator) -> Instance:
    said = _said(rng)
    loss = (_masks(shared=False) - 1) * said
    known = said if rng.random() < 0.5 else points(rng)
    return Instance((x, y), {"x": np.broadcast_to(known, loss.shape), "y": loss})


def _relative(rng: np.random.Generator) -> Instance:
    said = _said(rng)
    lost = float((((_masks(shared=True) - 1) * said) ** 2).sum(axis=2).mean())
    return Instance((x, LOST), {"x": said}, {LOST: lost}, {"omega": ENTRIES - 1})


def _own(rng: np.random.Generator) -> Instance:
    loss = (_masks(shared=False) - 1) * _said(rng)
    lost = float((loss**2).sum(axis=2).mean())
    return Instance((x, LOST), {"x": loss}, {LOST: lost}, {"n": WORKERS})


def _one(rng: np.random.Generator) -> Instance:
    said, masks = _said(rng), _masks(shared=True)
    mean = (masks[:, 0] - 1) * said.mean(axis=1)
    lost = float((mean**2).sum(axis=1).mean())
    return Instance((x, LOST), {"x": (masks - 1) * said}, {LOST: lost})


def _on_average(rng: np.random.Generator) -> Instance:
    """Every worker its own quadratic, all of them at the same two points."""
    curvatures = SMOOTHNESS * rng.random((1, WORKERS, 1))
    apart = np.broadcast_to(points(rng)[:, :1], (1, WORKERS, ENTRIES))
    arguments = (y, Vector.mean("x"))
    average = float(np.sqrt((curvatures**2).mean()))
    return Instance(arguments, {"x": apart, "y": curvatures * apart}, {}, {"Ltil": average})


SAMPLERS: dict[str, Draw] = {
    "loss_orthogonal": _known_and_loss,
    "relative_loss": _relative,
    "own_losses": _own,
    "one_mask": _one,
    "smooth_on_average": _on_average,
}
