"""Algorithms of servers that do not wait for everyone, or hold what models are drawn to."""

from __future__ import annotations

from mpiddl.recipes import recipes
from mpiddl.variant import Variant

__all__ = [
    "backup_workers",
    "dc_asgd",
    "downpour_sgd",
    "easgd",
    "easgd_async",
    "ssp",
    "staleness_aware",
]


# rounds


@recipes.register("backup_workers")
def backup_workers(rate: float | str = 0.1, backup: int = 1) -> Variant:
    """Everyone waits for all but the slowest few, whose gradients come with their next ones.

    Chen et al., "Revisiting distributed synchronous SGD", 2016.  arXiv:1604.00981
    """
    return Variant.parse(f"bsp / ps:backup={backup} / identity / whole / sgd:{rate}")


@recipes.register("easgd")
def easgd(rate: float | str = 0.1, beta: float = 0.9, period: int = 4) -> Variant:
    """Everyone keeps its own model, and all are drawn to a centre that they draw along.

    Zhang, Choromanska & LeCun, "Deep learning with elastic averaging SGD", 2015.  arXiv:1412.6651
    """
    return Variant.parse(f"local:{period} / easgd:{beta} / identity / whole / sgd:{rate}")


# as it comes


@recipes.register("downpour_sgd")
def downpour_sgd(rate: float | str = 0.05, period: int = 1) -> Variant:
    """Asynchronous SGD: nobody waits for anybody.

    Dean et al., "Large scale distributed deep networks", NeurIPS 2012
    """
    return Variant.parse(f"asp:period={period} / ps / identity / whole / sgd:{rate}")


@recipes.register("ssp")
def ssp(rate: float | str = 0.1, staleness: int = 3) -> Variant:
    """Nobody waits unless somebody is too far behind.

    Ho et al., "More effective distributed ML via a stale synchronous parallel parameter server",
    NeurIPS 2013
    """
    return Variant.parse(f"ssp:{staleness} / ps / identity / whole / sgd:{rate}")


@recipes.register("staleness_aware")
def staleness_aware(rate: float | str = 0.05) -> Variant:
    """Asynchronous SGD whose steps are the shorter the older the gradient.

    Zhang, Gupta, Lian & Liu, "Staleness-aware async-SGD", IJCAI 2016.  arXiv:1511.05950
    """
    return Variant.parse(f"asp / staleness_aware / identity / whole / sgd:{rate}")


@recipes.register("dc_asgd")
def dc_asgd(rate: float | str = 0.05, lam: float = 0.04, decay: float = 0.0) -> Variant:
    """Asynchronous SGD that makes up for the age of gradients to first order.

    Zheng et al., "Asynchronous SGD with delay compensation", ICML 2017.  arXiv:1609.08326
    """
    architecture = f"dc_asgd:{lam},decay={decay}"
    return Variant.parse(f"asp / {architecture} / identity / whole / sgd:{rate}")


@recipes.register("easgd_async")
def easgd_async(rate: float | str = 0.05, beta: float = 0.9, period: int = 4) -> Variant:
    """Everyone keeps its own model and is drawn to the centre at its own pace.

    Zhang, Choromanska & LeCun, "Deep learning with elastic averaging SGD", 2015.  arXiv:1412.6651
    """
    return Variant.parse(f"asp:period={period} / easgd:{beta} / identity / whole / sgd:{rate}")
