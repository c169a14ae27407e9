"""Trials of the theorems of `theory.catalogue.second_moment` and `one_peer`.

Workers disagree more than anything else (zeta2 = 25), so that gradients are about as long as G2
says wherever they are taken.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from theory.trials.common import ALONE, FORGETS, SHARED, SLOW, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

APART = {"d": 2, "zeta2": 25.0, "sigma2": 0.5}
FLAT_OUT = {"zeta2": 25.0, "sigma2": 0.1, "spectrum": (0.1,) * 10}

LONGER = Control("64 steps alone, 4 are claimed", "perturbation", {"H": 64})
LOUDER = Control(
    "noise of three times the length", "steepness", {"options": {"d": 2, "sigma2": 9.0}}
)
EARLY = Control("workers part at once", "perturbation", {"after": 0})
FORGOTTEN = Control("momentum runs, a step gam is claimed", "identity", {"mom": 0.9})
RING = Control("a ring runs", "perturbation", {"topology": "ring"})
SIX = Control("6 workers are no power of two", "conditions")
NO_GATE = Control("nobody waits for the slow one", "delays", {"staleness": inf})
LATER = Control("gradients are 60 steps late, 2 are claimed", "perturbation", {"late": 60})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    local = Trial("pr-sgd", "nc", n=8, T=192, gam=0.02, options=APART, H=4)
    quiet = replace(local, options={"d": 2})
    flat = replace(local, problem="pseudo_huber", T=200, options=FLAT_OUT, H=10)
    post = replace(flat, theorem="post-local-sgd", after=100)
    peer = replace(local, theorem="one-peer-exp", H=1, topology="one_peer_exponential")
    return [
        *broken_by(local, LONGER, SHARED),
        *broken_by(quiet, LOUDER)[1:],
        *broken_by(local, TOO_FAR, gam=1.5)[1:],
        *broken_by(flat, ALONE),
        *broken_by(post, EARLY, SHARED),
        replace(post, problem="nc", options=APART, H=20, after=40),
        *broken_by(peer, RING, SHARED),
        *broken_by(peer, SIX, n=6)[1:],
        replace(peer, problem="pseudo_huber", options=FLAT_OUT, n=4),
        *_momentum(),
        *_composed(),
    ]


def _momentum() -> list[Trial]:
    """Every worker has a momentum of its own."""
    half = Trial("local-momentum-G", "nc", 8, 200, 0.01, APART, H=4, mom=0.5)
    forgotten = replace(half, options={"d": 2}, mom=0.0)
    return [
        *broken_by(half, ALONE, SHARED),
        *broken_by(forgotten, FORGOTTEN)[1:],
        *broken_by(half, TOO_FAR, gam=0.6)[1:],
        replace(half, problem="pseudo_huber", options=FLAT_OUT, H=10, mom=0.9, gam=0.002),
    ]


def _composed() -> list[Trial]:
    """Two or three mechanisms at once; all five are in the tests."""
    gossip = Trial("composition-G", "nc", 8, 200, 0.01, APART, H=4, topology="ring")
    cube = replace(gossip, topology="hypercube")
    three = replace(gossip, mom=0.5, gam=0.005)
    sparse = replace(gossip, topology="complete", n=4, compressor="topk", k=1)
    served = Trial("composition-G", "nc", n=4, T=200, gam=0.02, staleness=1)
    pipe = replace(gossip, topology="complete", n=4, H=1, late=2)
    return [
        *broken_by(gossip, ALONE, SHARED),
        *broken_by(cube, SLOW),
        three,
        *broken_by(sparse, FORGETS),
        *broken_by(served, TOO_FAR, gam=1.5),
        *broken_by(replace(served, staleness=0, pace="slow"), NO_GATE)[1:],
        *broken_by(pipe, LATER),
    ]
