"""Stages of the theorems of `theory.catalogue.unbiased`: what is lost is noise.

compression  avg |mean q|^2 <= (omega/n) avg (1/n) sum |g_i|^2, or omega avg |mean g|^2 with one
             mask for all
faithful     (1/n) sum_i (|sum_t q_i|^2 + |sum_t sign(g_i) q_i|^2) / (2 T) <= omega avg |g_i|^2
descent      the master lemma with gam L avg |mean q|^2 more noise
"""

from __future__ import annotations

from dataclasses import replace

from theory.descents.common import Entry, Sides, Values, average, entry, gradient, master
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _own(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """The mean loses one n-th of what a worker loses."""
    words = measured.words
    return average(words.lost), values["omega"] / values["n"] * average(words.size)


def _one_mask(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """The mean loses what a mask takes from the mean."""
    words = measured.words
    return average(words.lost), values["omega"] * average(words.mean_size)


def _faithful(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """Losses do not add up, neither as they are nor with the signs of what was to be said."""
    return measured.words.bias, values["omega"] * average(measured.words.size)


def _descent(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    left, right = master(measured, values)
    return left, right + values["gam"] * values["L"] * average(measured.words.lost)


def _unbiased(theorem: str, compression: Sides) -> Entry:
    usual = entry(theorem, _descent, gradient)
    stages = {**usual.stages, "compression": compression, "faithful": _faithful}
    return replace(usual, stages=stages, heard=True)


ENTRIES = {
    "qsgd-nonconvex": _unbiased("qsgd-nonconvex", _own),
    "qsgd-nonconvex-shared": _unbiased("qsgd-nonconvex-shared", _one_mask),
}
