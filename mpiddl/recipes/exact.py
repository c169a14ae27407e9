"""Algorithms in which all agree, and everything is said exactly: when, and who moves."""

from __future__ import annotations

from mpiddl.recipes import recipes
from mpiddl.variant import Variant

__all__ = [
    "adam",
    "bmuf",
    "ddp",
    "diloco",
    "fedadam",
    "fedavg",
    "growing_local_sgd",
    "lamb",
    "large_minibatch",
    "lars",
    "local_sgd",
    "post_local_sgd",
    "s_sgd",
    "slowmo",
    "wfbp",
]


# the mean gradient, uncompressed


@recipes.register("s_sgd")
def s_sgd(rate: float | str = 0.1) -> Variant:
    """Everyone waits for the mean gradient of each step.

    Dekel et al., "Optimal distributed online prediction using mini-batches", 2012. arXiv:1012.1367
    """
    return Variant.parse(f"bsp / allreduce / identity / whole / sgd:{rate}")


@recipes.register("wfbp")
def wfbp(rate: float | str = 0.1) -> Variant:
    """S-SGD that sends the gradient of a layer while those before it are computed.

    Zhang et al., "Poseidon", USENIX ATC 2017.  arXiv:1706.03292
    """
    return Variant.parse(f"bsp / allreduce / identity / layerwise / sgd:{rate}")


@recipes.register("ddp")
def ddp(rate: float | str = 0.1, size: str = "25MB") -> Variant:
    """S-SGD that sends the gradients of neighbouring layers together.

    Li et al., "PyTorch Distributed", VLDB 2020.  arXiv:2006.15704
    """
    return Variant.parse(f"bsp / allreduce / identity / fused:{size} / sgd:{rate}")


@recipes.register("large_minibatch")
def large_minibatch(rate: float | str = "0.1@warmup:20", beta: float = 0.9) -> Variant:
    """S-SGD with momentum and a warm-up; choose its rate in proportion to the workers.

    Goyal et al., "Accurate, large minibatch SGD", 2017.  arXiv:1706.02677
    """
    return Variant.parse(f"bsp / allreduce / identity / whole / momentum:{rate},beta={beta}")


@recipes.register("adam")
def adam(rate: float | str = 0.01) -> Variant:
    """S-SGD whose steps are Adam's: each entry of the mean gradient over its size so far.

    Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015.  arXiv:1412.6980
    """
    return Variant.parse(f"bsp / allreduce / identity / whole / adam:{rate}")


@recipes.register("lars")
def lars(rate: float | str = "0.01@warmup:20", decay: float = 0.0) -> Variant:
    """S-SGD for large batches: every layer goes in proportion to its weights.

    You, Gitman & Ginsburg, "Large batch training of convolutional networks", 2017. arXiv:1708.03888
    """
    return Variant.parse(f"bsp / allreduce / identity / whole / lars:{rate},decay={decay}")


@recipes.register("lamb")
def lamb(rate: float | str = "0.01@warmup:20", decay: float = 0.0) -> Variant:
    """Adam for large batches: every layer goes in proportion to its weights.

    You et al., "Large batch optimization for deep learning", ICLR 2020.  arXiv:1904.00962
    """
    return Variant.parse(f"bsp / allreduce / identity / whole / lamb:{rate},decay={decay}")


# several steps between two agreements


@recipes.register("local_sgd")
def local_sgd(rate: float | str = 0.1, period: int = 4) -> Variant:
    """Everyone steps alone for a while, then all take the mean model.

    Stich, "Local SGD converges fast and communicates little", ICLR 2019.  arXiv:1805.09767
    """
    return Variant.parse(f"local:{period} / allreduce / identity / whole / sgd:{rate}")


@recipes.register("post_local_sgd")
def post_local_sgd(rate: float | str = 0.1, period: int = 4, after: int = 10) -> Variant:
    """S-SGD in the beginning, local SGD later.

    Lin et al., "Don't use large mini-batches, use local SGD", ICLR 2020.  arXiv:1808.07217
    """
    when = f"post_local:{period},after={after}"
    return Variant.parse(f"{when} / allreduce / identity / whole / sgd:{rate}")


@recipes.register("growing_local_sgd")
def growing_local_sgd(rate: float | str = 0.1, period: int = 8, every: int = 10) -> Variant:
    """Local SGD that agrees often in the beginning and ever more seldom later.

    Haddadpour et al., "Local SGD with periodic averaging", NeurIPS 2019.  arXiv:1910.13598
    """
    when = f"growing:{period},every={every}"
    return Variant.parse(f"{when} / allreduce / identity / whole / sgd:{rate}")


@recipes.register("fedavg")
def fedavg(rate: float | str = 0.1, period: int = 4) -> Variant:
    """Local SGD through servers, all clients taking part.

    McMahan et al., "Communication-efficient learning of deep networks", 2017.  arXiv:1602.05629
    """
    return Variant.parse(f"local:{period} / ps / identity / whole / sgd:{rate}")


@recipes.register("fedadam")
def fedadam(rate: float | str = 0.1, outer: float | str = 0.01, period: int = 4) -> Variant:
    """FedAvg whose servers take what clients did together as a gradient for Adam.

    Reddi et al., "Adaptive federated optimization", ICLR 2021.  arXiv:2003.00295
    """
    return Variant.parse(f"local:{period} / ps / identity / whole / sgd:{rate}>adam:{outer}")


@recipes.register("bmuf")
def bmuf(rate: float | str = 0.1, beta: float = 0.5, period: int = 4) -> Variant:
    """Local SGD whose averages are filtered: a block goes on where the last ones went.

    Chen & Huo, "Scalable training of deep learning machines by incremental block training with
    intra-block parallel optimization and blockwise model-update filtering", ICASSP 2016 (Nesterov)
    """
    seats = f"sgd:{rate}>momentum:1,beta={beta},nesterov=yes"
    return Variant.parse(f"local:{period} / allreduce / identity / whole / {seats}")


@recipes.register("slowmo")
def slowmo(rate: float | str = 0.1, beta: float = 0.5, period: int = 4) -> Variant:
    """Local SGD with momentum from agreement to agreement.

    Wang et al., "SlowMo", ICLR 2020.  arXiv:1910.00643
    """
    seats = f"sgd:{rate}>momentum:1,beta={beta}"
    return Variant.parse(f"local:{period} / allreduce / identity / whole / {seats}")


@recipes.register("diloco")
def diloco(rate: float | str = 0.001, outer: float | str = 0.7, period: int = 16) -> Variant:
    """Adam inside (AdamW in the paper), Nesterov momentum at the agreements.

    Douillard et al., "DiLoCo", 2023.  arXiv:2311.08105
    """
    seats = f"adam:{rate}>momentum:{outer},nesterov=yes"
    return Variant.parse(f"local:{period} / allreduce / identity / whole / {seats}")
