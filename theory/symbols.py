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
    "Ltil": "smoothness on average: Ltil^2 = (1/n) sum_i L_i^2 will do",
    "mu": "strong convexity",
    "Lmax": "smoothness of every sample's loss",
    "kappa": "L / mu",
    "Delta": "f(x_0) - inf f",
    "R2": "||x_0 - x*||^2",
    "Fd": "(1/2) E||x_t - x*||^2 <= Fd^2 all along a run",
    "sigma2": "bound on E||g_i - grad f_i||^2, per worker and step, summed over entries",
    "ss": "(1/m) sum_j ||grad f_j(x*)||^2 over the m samples' losses f_j",
    "zeta2": "bound on (1/n) sum_i ||grad f_i - grad f||^2",
    "zs": "(1/n) sum_i ||grad f_i(x*)||^2: how workers pull apart at the minimum",
    "G2": "bound on (1/n) sum_i E||g_i||^2, noise included",
    "G0": "(1/n) sum_i ||h_i - grad f_i(x_0)||^2, h_i what is believed of worker i at the start",
    "lam": "||W - J||_2, J = 11'/n; the spectral gap is 1 - lam",
    "nu": "||E W'W - J||_2 where W is drawn at random",
    "bW": "||I - W||_2",
    "neg": "how far eigenvalues of W reach below 0",
    "skew": "root of the largest over the least w_i^2 / phi_i: 1 if all hear as much as they say",
    "omega": "unbiased compressor: E||Q(x) - x||^2 <= omega ||x||^2",
    "delta": "contraction: E||C(x) - x||^2 <= (1 - delta) ||x||^2",
    "theta": "what a step takes of the error of EF21, 1 - sqrt(1 - delta)",
    "mom": "momentum coefficient",
    "tau": "delay in steps: what the server took in between a read and the push that answers it",
    "taumax": "largest delay",
    "tauC": "most gradients under way besides the one that the server takes in",
    "tauavg": "mean delay",
    "Pw": "workers of a server that takes in one gradient a step",
    "s": "staleness threshold, or levels of a quantizer",
    "a": "shift of the decreasing step gam_t = 1 / (mu (t + a))",
    "C0": "||X_0 - J X_0||_F",
    "rho": "contraction factor of a gradient step",
    "r": "contraction factor of the consensus distance",
    "R0": "how far from v gradients are taken, in steps of eta sqrt(G2), when a round begins",
    "m": "mixings after which a one-peer exponential graph has averaged exactly, n = 2^m",
    "Tp": "steps that all average, before workers step alone",
    "b": "entries of a message",
    "w": "bytes per entry",
    "al": "seconds per message",
    "be": "seconds per byte sent",
    "ga": "seconds per byte reduced",
}

_COUNTS = {"n", "Pw", "T", "Tp", "H", "d", "t", "k", "m", "b", "w"}
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
    "Lmax": (sp.Ge(symbol("Lmax"), symbol("L")),),
    "Delta": (sp.Ge(symbol("Delta"), 0, evaluate=False),),
    "R2": (sp.Ge(symbol("R2"), 0, evaluate=False),),
    "sigma2": (sp.Ge(symbol("sigma2"), 0, evaluate=False),),
    "ss": (sp.Ge(symbol("ss"), 0, evaluate=False),),
    "zeta2": (sp.Ge(symbol("zeta2"), 0, evaluate=False),),
    "lam": (sp.Ge(symbol("lam"), 0, evaluate=False), sp.Lt(symbol("lam"), 1)),
    "zs": (sp.Ge(symbol("zs"), 0, evaluate=False),),
    "neg": (sp.Ge(symbol("neg"), 0, evaluate=False),),
    "skew": (sp.Ge(symbol("skew"), 1, evaluate=False),),
    "Fd": (sp.Ge(symbol("Fd"), 0, evaluate=False),),
    "nu": (sp.Ge(symbol("nu"), 0, evaluate=False), sp.Lt(symbol("nu"), 1)),
    "Ltil": (sp.Gt(symbol("Ltil"), 0, evaluate=False),),
    "G0": (sp.Ge(symbol("G0"), 0, evaluate=False),),
    "omega": (sp.Ge(symbol("omega"), 0, evaluate=False),),
    "delta": (sp.Gt(symbol("delta"), 0, evaluate=False), sp.Le(symbol("delta"), 1)),
    "m": (sp.Ge(symbol("m"), 0, evaluate=False),),
    "G2": (sp.Ge(symbol("G2"), 0, evaluate=False),),
    "mom": (sp.Ge(symbol("mom"), 0, evaluate=False), sp.Lt(symbol("mom"), 1)),
    "tau": (sp.Ge(symbol("tau"), 0, evaluate=False),),
    "Tp": (sp.Ge(symbol("Tp"), 0, evaluate=False), sp.Le(symbol("Tp"), symbol("T"))),
    "C0": (sp.Ge(symbol("C0"), 0, evaluate=False),),
    "s": (sp.Ge(symbol("s"), 0, evaluate=False),),
    "Pw": (sp.Ge(symbol("Pw"), 1, evaluate=False),),
    "taumax": (sp.Ge(symbol("taumax"), 0, evaluate=False),),
    "tauC": (sp.Ge(symbol("tauC"), 0, evaluate=False),),
    "tauavg": (  # a mean is below the largest, and delays add up to gradients under way
        sp.Ge(symbol("tauavg"), 0, evaluate=False),
        sp.Le(symbol("tauavg"), symbol("taumax")),
        sp.Le(symbol("tauavg"), symbol("tauC")),
    ),
}
