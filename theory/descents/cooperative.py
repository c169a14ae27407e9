"""Stages of the theorem of `theory.catalogue.cooperative`: those of local SGD, with gossip."""

from __future__ import annotations

from dataclasses import replace

from theory.descents.common import lemma
from theory.descents.local_sgd import ENTRIES as LOCAL

__all__ = ["ENTRIES"]

_LOCAL = LOCAL["local-sgd-convex-iid"]

ENTRIES = {
    "cooperative-sgd": replace(
        _LOCAL, stages={**_LOCAL.stages, "perturbation": lemma("cooperative-sgd")}
    )
}
