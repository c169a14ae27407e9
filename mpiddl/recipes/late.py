"""Algorithms whose all-reduces come late, are begun by some, or are left out while they may be."""

from __future__ import annotations

from mpiddl.recipes import recipes
from mpiddl.variant import Variant

__all__ = ["dynamic_averaging", "eager_sgd", "pipe_sgd"]


@recipes.register("pipe_sgd")
def pipe_sgd(rate: float | str = 0.1, staleness: int = 1) -> Variant:
    """S-SGD whose mean gradient is applied a step later, so that it travels during the next one.

    Li et al., "Pipe-SGD: a decentralized pipelined SGD framework for distributed deep net
    training", NeurIPS 2018
    """
    return Variant.parse(f"ssp:{staleness} / allreduce / identity / whole / sgd:{rate}")


@recipes.register("eager_sgd")
def eager_sgd(rate: float | str = 0.1, quorum: str | int = "majority") -> Variant:
    """A mean is taken as soon as a quorum has a gradient; the others take part with what they have.

    Li et al., "Taming unbalanced training workloads in deep learning with partial collective
    operations", PPoPP 2020 (also with quorum=solo).  arXiv:1908.04207
    """
    return Variant.parse(f"asp / allreduce:quorum={quorum} / identity / whole / sgd:{rate}")


@recipes.register("dynamic_averaging")
def dynamic_averaging(rate: float | str = 0.1, threshold: float = 0.01, period: int = 1) -> Variant:
    """Everyone steps alone until the models are too far from the last mean; then all take a mean.

    Kamp et al., "Efficient decentralized deep learning by dynamic model averaging", ECML PKDD 2018
    """
    return Variant.parse(f"local:{period} / dynamic:{threshold} / identity / whole / sgd:{rate}")
