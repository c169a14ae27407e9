"""Algorithms in which ranks speak to their neighbours in a graph only."""

from __future__ import annotations

from mpiddl.recipes import recipes
from mpiddl.variant import Variant

__all__ = [
    "ad_psgd",
    "cooperative_sgd",
    "d2",
    "d_psgd",
    "gradient_tracking",
    "one_peer_exponential_sgd",
    "qg_dsgdm",
    "sgp",
    "stale_gossip",
]


@recipes.register("d_psgd")
def d_psgd(rate: float | str = 0.1, graph: str = "ring") -> Variant:
    """Everyone averages with its neighbours and takes its step.

    Lian et al., "Can decentralized algorithms outperform centralized ones?", 2017. arXiv:1705.09056
    """
    return Variant.parse(f"bsp / gossip:{graph},order=cta / identity / whole / sgd:{rate}")


@recipes.register("cooperative_sgd")
def cooperative_sgd(rate: float | str = 0.1, graph: str = "ring", period: int = 4) -> Variant:
    """Local SGD whose agreements are with neighbours only.

    Wang & Joshi, "Cooperative SGD", 2018.  arXiv:1808.07576;  Koloskova et al., "A unified theory
    of decentralized SGD with changing topology and local updates", ICML 2020.  arXiv:2003.10422
    """
    return Variant.parse(f"local:{period} / gossip:{graph} / identity / whole / sgd:{rate}")


@recipes.register("one_peer_exponential_sgd")
def one_peer_exponential_sgd(rate: float | str = 0.1) -> Variant:
    """Gossip with one other rank a clock, ever another: after log2 n clocks all have met.

    Ying et al., "Exponential graph is provably efficient for decentralized deep training", NeurIPS
    2021.  arXiv:2110.13363
    """
    return Variant.parse(f"bsp / gossip:one_peer_exponential / identity / whole / sgd:{rate}")


@recipes.register("d2")
def d2(rate: float | str = 0.1, graph: str = "ring", gamma: float = 0.5) -> Variant:
    """Gossip that takes off what workers differ by, by what the step before has shown.

    Tang et al., "D2: decentralized training over decentralized data", ICML 2018.  arXiv:1803.07068
    """
    return Variant.parse(f"bsp / d2:{graph},gamma={gamma} / identity / whole / sgd:{rate}")


@recipes.register("gradient_tracking")
def gradient_tracking(rate: float | str = 0.1, graph: str = "ring") -> Variant:
    """Gossip in which everyone moves along its estimate of the mean gradient.

    Pu & Nedic, "Distributed stochastic gradient tracking methods", 2021.  arXiv:1805.11454
    """
    return Variant.parse(f"bsp / tracking:{graph} / identity / whole / sgd:{rate}")


@recipes.register("sgp")
def sgp(rate: float | str = 0.1, graph: str = "one_peer_exponential") -> Variant:
    """Gossip over links one way: models and weights are pushed, and divided.

    Assran et al., "Stochastic gradient push", ICML 2019.  arXiv:1811.10792
    """
    return Variant.parse(f"bsp / push_sum:{graph} / identity / whole / sgd:{rate}")


@recipes.register("qg_dsgdm")
def qg_dsgdm(rate: float | str = 0.05, beta: float = 0.9, graph: str = "ring") -> Variant:
    """Gossip with a momentum of where mixing led, which workers that differ have in common.

    Lin et al., "Quasi-global momentum", ICML 2021.  arXiv:2102.04761
    """
    rule = f"quasi_global:{rate},beta={beta}"
    return Variant.parse(f"bsp / gossip:{graph} / identity / whole / {rule}")


@recipes.register("stale_gossip")
def stale_gossip(rate: float | str = 0.1, staleness: int = 3, graph: str = "ring") -> Variant:
    """Gossip that mixes the newest models that have come, and waits if one is too old.

    Luo et al., "Hop: heterogeneity-aware decentralized training", ASPLOS 2019.  arXiv:1902.01064
    """
    return Variant.parse(f"ssp:{staleness} / gossip:{graph} / identity / whole / sgd:{rate}")


@recipes.register("ad_psgd")
def ad_psgd(rate: float | str = 0.1, graph: str = "ring", period: int = 1) -> Variant:
    """Everyone steps at its own pace and then averages with one neighbour drawn at random.

    Lian et al., "Asynchronous decentralized parallel SGD", ICML 2018.  arXiv:1710.06952
    """
    return Variant.parse(f"asp:period={period} / pairwise:{graph} / identity / whole / sgd:{rate}")
