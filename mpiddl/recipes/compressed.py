"""Algorithms that say less than everything."""

from __future__ import annotations

from mpiddl.recipes import recipes
from mpiddl.variant import Variant

__all__ = [
    "choco_sgd",
    "ef21",
    "ef_signsgd",
    "fedpaq",
    "mem_sgd",
    "natural_compression",
    "natural_dithering",
    "one_bit_sgd",
    "qsgd",
    "qsparse_local_sgd",
    "terngrad",
    "sparse_ternary",
]


@recipes.register("qsgd")
def qsgd(rate: float | str = 0.1, levels: int = 4) -> Variant:
    """Gradients rounded at random to a few levels, right on average.

    Alistarh et al., "QSGD", NeurIPS 2017.  arXiv:1610.02132
    """
    return Variant.parse(f"bsp / allreduce / qsgd:{levels} / whole / sgd:{rate}")


@recipes.register("mem_sgd")
def mem_sgd(rate: float | str = 0.1, ratio: float = 0.1) -> Variant:
    """The largest entries are said, the others remembered and added to the next.

    Stich, Cordonnier & Jaggi, "Sparsified SGD with memory", NeurIPS 2018.  arXiv:1809.07599
    """
    return Variant.parse(f"bsp / allreduce / ef+topk:{ratio} / whole / sgd:{rate}")


@recipes.register("ef_signsgd")
def ef_signsgd(rate: float | str = 0.1) -> Variant:
    """Signs and one length are said, the error is remembered and added to the next.

    Karimireddy et al., "Error feedback fixes SignSGD and other gradient compression schemes", 2019.
    arXiv:1901.09847
    """
    return Variant.parse(f"bsp / allreduce / ef+sign / whole / sgd:{rate}")


@recipes.register("ef21")
def ef21(rate: float | str = 0.1, ratio: float = 0.1) -> Variant:
    """What a gradient differs by from what was said before, in its largest entries.

    Richtarik, Sokolov & Fatkhullin, "EF21", NeurIPS 2021.  arXiv:2106.05203
    """
    return Variant.parse(f"bsp / allreduce / diff+topk:{ratio} / whole / sgd:{rate}")


@recipes.register("qsparse_local_sgd")
def qsparse_local_sgd(rate: float | str = 0.1, period: int = 4, ratio: float = 0.1) -> Variant:
    """Local SGD that says the largest entries and remembers the others.

    Basu et al., "Qsparse-local-SGD", NeurIPS 2019.  arXiv:1906.02367
    """
    return Variant.parse(f"local:{period} / allreduce / ef+topk:{ratio} / whole / sgd:{rate}")


@recipes.register("fedpaq")
def fedpaq(rate: float | str = 0.1, period: int = 4, levels: int = 4) -> Variant:
    """FedAvg whose clients round what they say at random, right on average.

    Reisizadeh et al., "FedPAQ", AISTATS 2020.  arXiv:1909.13014
    """
    return Variant.parse(f"local:{period} / ps / qsgd:{levels} / whole / sgd:{rate}")


@recipes.register("choco_sgd")
def choco_sgd(
    rate: float | str = 0.1, gamma: float = 0.2, ratio: float = 0.1, graph: str = "ring"
) -> Variant:
    """Gossip in few words: what changed is said, and everyone keeps what it believes of others.

    Koloskova, Stich & Jaggi, ICML 2019.  arXiv:1902.00340
    """
    architecture = f"gossip:{graph},gamma={gamma}"
    return Variant.parse(f"bsp / {architecture} / diff+topk:{ratio} / whole / sgd:{rate}")


@recipes.register("terngrad")
def terngrad(rate: float | str = 0.1) -> Variant:
    """Gradients as minus, no or plus their largest magnitude, right on average.

    Wen et al., "TernGrad", NeurIPS 2017.  arXiv:1705.07878
    """
    return Variant.parse(f"bsp / allreduce / terngrad / whole / sgd:{rate}")


@recipes.register("natural_compression")
def natural_compression(rate: float | str = 0.1) -> Variant:
    """Gradients rounded at random to powers of two, right on average.

    Horvath et al., "Natural compression for distributed deep learning", 2019.  arXiv:1905.10988
    """
    return Variant.parse(f"bsp / allreduce / natural / whole / sgd:{rate}")


@recipes.register("natural_dithering")
def natural_dithering(rate: float | str = 0.1, levels: int = 7) -> Variant:
    """Gradients rounded at random to powers of two of their length, right on average.

    Horvath et al., "Natural compression for distributed deep learning", 2019.  arXiv:1905.10988
    """
    return Variant.parse(f"bsp / allreduce / dithering:{levels} / whole / sgd:{rate}")


@recipes.register("one_bit_sgd")
def one_bit_sgd(rate: float | str = 0.1) -> Variant:
    """Two means and a bit per entry are said, the error is remembered and added to the next.

    Seide et al., "1-bit stochastic gradient descent", Interspeech 2014
    """
    return Variant.parse(f"bsp / allreduce / ef+onebit / whole / sgd:{rate}")


@recipes.register("sparse_ternary")
def sparse_ternary(rate: float | str = 0.1, period: int = 4, ratio: float = 0.1) -> Variant:
    """Federated averaging in signs of the largest entries and one length, both ways.

    Workers remember what was not said. Servers answer with models, so they say what changed, where
    the paper has a second memory.

    Sattler, Wiedemann, Mueller & Samek, "Robust and communication-efficient federated learning from
    non-iid data", IEEE TNNLS 2020.  arXiv:1903.02891
    """
    down, up = f"diff+ternary:{ratio}", f"ef+ternary:{ratio}"
    return Variant.parse(f"local:{period} / ps:down={down} / {up} / whole / sgd:{rate}")
