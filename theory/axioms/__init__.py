"""The proof obligations that algebra cannot discharge, by subject.

`Status.ASSUMED` marks a hypothesis (a definition, such as bounded variance), `Status.SAMPLED` a
textbook consequence that `theory.samplers` tries on random instances, `Status.PROVED` an identity
of inner products that `theory.identities` proves. The letters are those of `theory.symbols`.
"""

from theory.axiom import AXIOMS
from theory.axioms import (
    compressors,
    delays,
    functions,
    geometry,
    lengths,
    neighbours,
    pairwise,
    regret,
    sampling,
    stability,
    workers,
)

__all__ = ["AXIOMS", "compressors", "delays", "functions", "geometry", "lengths"]
__all__ += ["neighbours", "pairwise", "regret", "sampling", "stability", "workers"]
