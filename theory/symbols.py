"""The alphabet: every letter that a bound or a cost may use, once, with meaning, unit and range.

The names are ASCII because ``gamma``, ``beta``, ``zeta``, ``S``, ``N``, ``E``, ``I``, ``O`` and
``Q`` already mean something in sympy. All symbols are positive, so that sympy may pull them out of
roots; a limit such as ``sigma2 = 0`` is taken by substitution. `LOCALS` makes ``sympify`` read a
formula in these letters.

Units: steps are counts, vectors are in units of x, f in units of f. So gam is x^2/f, L and mu are
f/x^2, sigma2, zeta2 and G2 are (f/x)^2.
"""

from __future__ import annotations

import sympy as sp

__all__ = ["LOCALS", "MEANING", "RANGE", "symbol"]

MEANING: dict[str, str] = {
    "n": "workers",
    "T": "steps; averages run over t = 0..T-1",
    "H": "local steps between two synchronizations; 1 is BSP",
    "d": "entries of x",
    "t": "index of a step",
    "k": "index of a step within a round",
    "gam": "step size",
    "eta": "effective step size, gam / (1 - mom)",
    "L": "smoothness of f (of every f_i where workers differ)",
    "mu": "strong convexity",
    "kappa": "L / mu",
    "Delta": "f(x_0) - inf f",
    "R2": "||x_0 - x*||^2",
    "sigma2": "bound on E||g_i - grad f_i||^2, per worker and step, summed over entries",
    "zeta2": "bound on (1/n) sum_i ||grad f_i - grad f||^2",
    "G2": "bound on (1/n) sum_i E||g_i||^2, noise included",
    "lam": "||W - J||_2, J = 11'/n; the spectral gap is 1 - lam",
    "bW": "||I - W||_2",
    "omega": "unbiased compressor: E||Q(x) - x||^2 <= omega ||x||^2",
    "delta": "contraction: E||C(x) - x||^2 <= (1 - delta) ||x||^2",
    "mom": "momentum coefficient",
    "tau": "delay in steps",
    "s": "staleness threshold, or levels of a quantizer",
    "a": "shift of the decreasing step gam_t = 1 / (mu (t + a))",
    "C0": "||X_0 - J X_0||_F",
    "rho": "contraction factor of a gradient step",
    "r": "contraction factor of the consensus distance",
    "b": "entries of a message",
    "w": "bytes per entry",
    "al": "seconds per message",
    "be": "seconds per byte sent",
    "ga": "seconds per byte reduced",
}

_COUNTS = {"n", "T", "H", "d", "t", "k", "b", "w"}
_INDICES = {"t", "k"}

LOCALS: dict[str, sp.Symbol] = {
    name: sp.Symbol(
        name,
        integer=True if name in _COUNTS else None,
        nonnegative=True if name in _INDICES else None,
        positive=None if name in _INDICES else True,
    )
    for name in MEANING
}


def symbol(name: str) -> sp.Symbol:
    """Return the symbol called `name`.

    Raises
    ------
    KeyError
        If the alphabet has no such letter.
    """
    return LOCALS[name]


# What a letter may be wherever it is used. Theorems add their own conditions to these.
RANGE: dict[str, tuple[sp.Rel, ...]] = {
    "n": (sp.Ge(symbol("n"), 1, evaluate=False),),
    "T": (sp.Ge(symbol("T"), 1, evaluate=False),),
    "H": (sp.Ge(symbol("H"), 1, evaluate=False),),
    "gam": (sp.Gt(symbol("gam"), 0, evaluate=False),),
    "L": (sp.Gt(symbol("L"), 0, evaluate=False),),
    "mu": (
        sp.Gt(symbol("mu"), 0, evaluate=False),
        sp.Le(symbol("mu"), symbol("L")),
    ),
    "Delta": (sp.Ge(symbol("Delta"), 0, evaluate=False),),
    "R2": (sp.Ge(symbol("R2"), 0, evaluate=False),),
    "sigma2": (sp.Ge(symbol("sigma2"), 0, evaluate=False),),
    "zeta2": (sp.Ge(symbol("zeta2"), 0, evaluate=False),),
    "lam": (sp.Ge(symbol("lam"), 0, evaluate=False), sp.Lt(symbol("lam"), 1)),
    "delta": (sp.Gt(symbol("delta"), 0, evaluate=False), sp.Le(symbol("delta"), 1)),
    "C0": (sp.Ge(symbol("C0"), 0, evaluate=False),),
}
