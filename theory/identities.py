"""What the moves and the geometry rest on, each proved once: closed forms by induction, squares.

Every entry of `IDENTITIES` returns True if sympy confirms it. The letters are local; q' denotes the
next q.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from theory.algebra import is_zero
from theory.axioms import AXIOMS
from theory.delayed import THRESHOLD
from theory.events import largest_delay
from theory.forms import Form, Vector, inner
from theory.moves import geometric
from theory.positivity import Domain
from theory.symbols import symbol

__all__ = ["IDENTITIES"]

k, H = symbol("k"), symbol("H")
r, a, b, p, q, s = sp.symbols("r a b p q s", positive=True)
EVERYWHERE = Domain()

IDENTITIES: dict[str, Callable[[], bool]] = {}


def _identity(check: Callable[[], bool]) -> Callable[[], bool]:
    IDENTITIES[check.__name__] = check
    return check


def _vanishes(form: Form) -> bool:
    return all(is_zero(c) for c in form.terms.values())


@_identity
def geometric_sum() -> bool:
    """From x_0 = a, x' = r x + b gives x_k = r^k a + b (1 + r + ... + r^(k-1))."""
    closed = r**k * a + b * geometric(r, k)
    step = is_zero(closed.subs(k, k + 1) - r * closed - b)
    return step and is_zero(closed.subs(k, 0) - a)


@_identity
def pq_lemma() -> bool:
    """If X'^2 <= (r X + a)^2 + b^2 then X <= p + q, p' = r p + a, q'^2 = r^2 q^2 + b^2.

    Insert X <= p + q: (p' + q')^2 - (r (p + q) + a)^2 - b^2 = 2 p' (q' - r q), and q' >= r q.
    """
    p_next, q_next = r * p + a, sp.sqrt(r**2 * q**2 + b**2)
    room = (p_next + q_next) ** 2 - (r * (p + q) + a) ** 2 - b**2
    gain = is_zero(room - 2 * p_next * (q_next - r * q))
    return gain and EVERYWHERE.nonnegative(q_next**2 - (r * q) ** 2)


@_identity
def pq_closed_form() -> bool:
    """The closed forms of p_k and q_k^2 used by `pq_unroll` satisfy their recursions."""
    drift, noise = a * geometric(r, k), b**2 * geometric(r**2, k)
    start = is_zero(drift.subs(k, 0)) and is_zero(noise.subs(k, 0))
    follows = is_zero(drift.subs(k, k + 1) - r * drift - a)
    return start and follows and is_zero(noise.subs(k, k + 1) - r**2 * noise - b**2)


@_identity
def pq_limit() -> bool:
    """For r < 1 the closed forms stay below a/(1 - r) and b^2/(1 - r^2)."""
    rate = symbol("lam")
    domain = Domain([rate < 1])
    return all(
        domain.nonnegative((1 - geometric(x, k) * (1 - x)) / (1 - x)) for x in (rate, rate**2)
    )


@_identity
def weighted_unroll() -> bool:
    """If w' r = w then w x grows by w' c: the product telescopes."""
    w, w_next, c, x = sp.symbols("w w_next c x", positive=True)
    return is_zero((w_next * (r * x + c) - w * x - w_next * c).subs(r, w / w_next))


@_identity
def growth() -> bool:
    """r^k - 1 <= k (r - 1) r^(k-1) for r >= 1: it holds at k = 1, and C(k+1) >= r C(k)."""
    factor = 1 + symbol("gam") * symbol("L")
    claim = k * (factor - 1) * factor ** (k - 1) - factor**k + 1
    step = claim.subs(k, k + 1) - factor * claim
    return is_zero(claim.subs(k, 1)) and EVERYWHERE.nonnegative(step)


@_identity
def sums_in_a_round() -> bool:
    """The sums of k and k^2 over k < H are H(H-1)/2 and H(H-1)(2H-1)/6."""
    sums = {k: H * (H - 1) / 2, k**2: H * (H - 1) * (2 * H - 1) / 6}
    return all(
        is_zero(total.subs(H, H + 1) - total - term.subs(k, H)) and total.subs(H, 0) == 0
        for term, total in sums.items()
    )


@_identity
def one_peer_exponential() -> bool:
    """Mixings with the workers 1, 2, 4, .. 2^(m-1) before everyone average all n = 2^m exactly.

    One is (1 + z^(2^j))/2, z the shift to the worker before. They commute, and their product is
    (1 + z + .. + z^(n-1))/n: with K = 2^j, (1 + z^K)(1 + .. + z^(K-1)) = 1 + .. + z^(2K-1).
    """
    return is_zero((1 + r**k) * geometric(r, k) - geometric(r, 2 * k))


@_identity
def root_sum() -> bool:
    """1 + 1/sqrt(2) + .. + 1/sqrt(T) <= 2 sqrt(T): 2 (b - a) - 1/b = (b - a)^2 / b.

    With a = sqrt(T), b = sqrt(T + 1) the right side grows by 2 (b - a) where the left does by 1/b;
    1 is b^2 - a^2.
    """
    return is_zero(2 * (b - a) * b - (b**2 - a**2) - (b - a) ** 2)


@_identity
def gate_delays() -> bool:
    """All schedules of up to 3 workers and 3 clocks of staleness: at most (2 s + 1)(n - 1)."""
    return all(
        largest_delay(workers, s) == (2 * s + 1) * (workers - 1)
        for workers in (1, 2, 3)
        for s in (0, 1, 2, 3)
    )


@_identity
def delay_threshold() -> bool:
    """At gam L = THRESHOLD L, z = exp(2 i v) with v = pi/(2 (2 tau + 1)) is a mode of the delay.

    z - 1 = 2 i sin(v) exp(i v), so z^tau (z - 1) = 2 i sin(v) exp(i (2 tau + 1) v) must be -gam L.
    """
    tau, v = symbol("tau"), sp.pi / (2 * (2 * symbol("tau") + 1))
    z, half = sp.exp(2 * sp.I * v), 2 * sp.I * sp.sin(v) * sp.exp(sp.I * v)
    chord = is_zero(sp.expand((z - 1 - half).rewrite(sp.exp)))
    turn = sp.exp(sp.I * sp.simplify((2 * tau + 1) * v))
    return chord and is_zero(2 * sp.I * sp.sin(v) * turn + THRESHOLD * symbol("L"))


@_identity
def polarization() -> bool:
    """2 <u, v> = |u|^2 + |v|^2 - |u - v|^2."""
    u, v = Vector.stack("u"), Vector.stack("v")
    sides = inner(u, u) + inner(v, v) - inner(u - v, u - v) - 2 * inner(u, v)
    return _vanishes(sides)


@_identity
def young() -> bool:
    """Young's inequality is |sqrt(s) u - v / sqrt(s)|^2 >= 0."""
    u, v = Vector.stack("u"), Vector.stack("v")
    root = sp.sqrt(s) * u - 1 / sp.sqrt(s) * v
    return _vanishes(AXIOMS["young"].claim(u, v, s).form - inner(root, root))


@_identity
def minkowski() -> bool:
    """Young at s = |v|/|u| is (|u| + |v|)^2; more vectors by induction."""
    u, v = Vector.mean("u"), Vector.mean("v")
    right = AXIOMS["young"].claim(u, v, b / a).form + inner(u + v, u + v)
    (uu,), (vv,) = inner(u, u).terms, inner(v, v).terms
    return set(right.terms) == {uu, vv} and is_zero(
        right[uu] * a**2 + right[vv] * b**2 - (a + b) ** 2
    )


@_identity
def pythagoras() -> bool:
    """A stack is its mean plus its deviation, and <mean, deviation> = 0, so squares add up."""
    u = Vector.stack("u")
    mean, rest = u.part("mean"), u.part("deviation")
    form = inner(u, u) - inner(mean, mean) - inner(rest, rest)
    return _vanishes(form) and not inner(mean, rest).terms
