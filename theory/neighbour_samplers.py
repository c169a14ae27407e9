"""Random instances of the axioms of workers on a graph: matrices W, P, and roots of I - W."""

from __future__ import annotations

import numpy as np

from theory.forms import Scalar, Vector
from theory.instances import ENTRIES, WORKERS, Draw, Floats, Instance, points
from theory.radius import whole
from theory.remembering import largest
from theory.sharing import contraction, perron

__all__ = ["SAMPLERS"]

GROWTH = Scalar("growth")
U, MOVED, V, MOVED_V = (Vector.deviation(name) for name in "usvt")


def _ring(rng: np.random.Generator, most: float) -> Floats:
    """Return a ring (WORKERS, WORKERS) with a random weight of neighbours, up to `most`."""
    eye, weight = np.eye(WORKERS), rng.uniform(0.05, most)
    w: Floats = (1 - 2 * weight) * eye + weight * (np.roll(eye, 1, 0) + np.roll(eye, -1, 0))
    return w


def _times(matrix: Floats, stack: Floats) -> Floats:
    product: Floats = np.einsum("ij,mjd->mid", matrix, stack)
    return product


def _root(rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Return S, an eigenvector of W (WORKERS, 1), now the slowest, now the fastest, and lam."""
    values, vectors = np.linalg.eigh(_ring(rng, 0.25))
    root = (vectors * np.sqrt(np.maximum(1 - values, 0))) @ vectors.T
    which = 0 if rng.random() < 0.5 else WORKERS - 2
    return root, vectors[:, which : which + 1], float(values[-2])


def _stack(rng: np.random.Generator, mode: Floats) -> Floats:
    """Return a random stack, or one along `mode`."""
    if rng.random() < 0.5:
        return points(rng)
    return np.broadcast_to(mode, (1, WORKERS, ENTRIES))


def _symmetric(rng: np.random.Generator) -> Instance:
    root, _, _ = _root(rng)
    u, v = points(rng), points(rng)
    stacks = {"u": u, "s": _times(root, u), "v": v, "t": _times(root, v)}
    return Instance((U, MOVED, V, MOVED_V), stacks)


def _moved(rng: np.random.Generator) -> Instance:
    root, mode, lam = _root(rng)
    u = _stack(rng, mode)
    return Instance((U, MOVED), {"u": u, "s": _times(root, u)}, {}, {"lam": lam})


def _attained(rng: np.random.Generator) -> Instance:
    """As `_moved`; the fastest mode of a ring with weights 1/4 has eigenvalue 0."""
    instance = _moved(rng)
    if rng.random() < 0.5:
        u = np.broadcast_to(np.array([1.0, -1, 1, -1])[:, None], (1, WORKERS, ENTRIES))
        instance.stacks = {"u": u, "s": u}
    return instance


def _doubly(rng: np.random.Generator) -> Instance:
    """Any stack, now and then one that all share."""
    before = points(rng)
    if rng.random() < 0.5:
        before = np.broadcast_to(before[:, :1], before.shape)
    after = _times(_ring(rng, 0.5), before)
    return Instance((whole("u"), whole("s")), {"u": before, "s": after})


def _settles(rng: np.random.Generator) -> Instance:
    """Eigenvalues down to -1/3 and any curvature; now and then both at their ends."""
    eigenvalue = rng.uniform(-1 / 3, 1) if rng.random() < 0.5 else -1 / 3
    curvature = rng.uniform(0.01, 1.99) if rng.random() < 0.5 else 1e-9
    return Instance((GROWTH,), {}, {GROWTH: largest(eigenvalue, curvature)})


def _shares(rng: np.random.Generator) -> Instance:
    """Random shares; now and then what they contract least."""
    p = rng.uniform(0.1, 1, size=(WORKERS, WORKERS)) + np.eye(WORKERS)
    p /= p.sum(axis=0)
    phi = perron(p)
    scaled = np.sqrt(phi)[:, None]
    before = points(rng) / scaled
    before = before - before.sum(axis=1, keepdims=True) * phi[:, None]
    if rng.random() < 0.5:
        centred = (p - phi[:, None]) / scaled * scaled.T
        mode = np.linalg.svd(centred)[2][0][:, None] * scaled
        before = np.broadcast_to(mode, (1, WORKERS, ENTRIES))
    stacks = {"u": before / scaled, "s": _times(p, before) / scaled}
    arguments = (whole("u"), whole("s"))
    return Instance(arguments, stacks, {}, {"lam": contraction(p)})


def _weights(rng: np.random.Generator) -> Instance:
    """Ratios w_i^2 / phi_i between 1 and skew^2, now and then all at one end."""
    apart, skew = points(rng), rng.uniform(1.5, 3)
    ratios = rng.uniform(1, skew**2, size=(WORKERS, 1))
    ratios = (ratios, np.ones((WORKERS, 1)), np.full((WORKERS, 1), skew**2))[rng.integers(3)]
    stacks = {"u": np.sqrt(ratios) * apart, "s": apart}
    return Instance((whole("u"), whole("s")), stacks, {}, {"skew": skew})


SAMPLERS: dict[str, Draw] = {
    "no_farther": _doubly,
    "symmetric": _symmetric,
    "root_shrinks": _attained,
    "root_keeps": _moved,
    "settles": _settles,
    "sharing": _shares,
    "read_out": _weights,
    "written_in": _weights,
}
