"""The theorems, one family a file; a file is found by its `THEOREMS`.

Read `bsp` first, then `local_sgd`, `local_sgd_convex`, `gossip`, `error_feedback`, `ef_convex`,
`unbiased`, `ef21`, `delayed`, `momentum`; then `second_moment`, where mechanisms are put together,
`one_peer` and `cooperative`. In `pairwise` one worker steps at a time, `ssp_regret` is about views
and falling steps. What workers differ by keeps them beside the minimum in `bias` and is taken off
in `d2` and `tracking`; `push_sum` averages over links one way. `gd` is proved by a certificate,
`stability` by the roots of a polynomial; in `sampling` the noise is that of real data.
"""

from __future__ import annotations

import importlib
import pkgutil

from theory.theorem import Theorem

__all__ = ["THEOREMS"]

THEOREMS: dict[str, Theorem] = {
    theorem.name: theorem
    for module in pkgutil.iter_modules(__path__)
    for theorem in importlib.import_module(f"{__name__}.{module.name}").THEOREMS
}
