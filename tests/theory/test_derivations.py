"""The engine computes what the catalogue states, from axioms that hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from theory import lemmas
from theory.algebra import same
from theory.axioms import AXIOMS
from theory.catalogue import THEOREMS
from theory.check import check
from theory.derivation import Proof, Refused
from theory.forms import ONE, Claim, Form, Inner, Scalar, Vector, inner
from theory.identities import IDENTITIES
from theory.lemmas import NOISE, sq
from theory.moves import average, geometric, telescope, unroll, unroll_weighted
from theory.positivity import Domain
from theory.samplers import SAMPLERS, sample
from theory.statement import Assumption, Status
from theory.symbols import LOCALS, MEANING, RANGE, symbol

n, T, H, k, t, gam, L, mu = (symbol(x) for x in ("n", "T", "H", "k", "t", "gam", "L", "mu"))
lam, delta, sigma2, Delta = (symbol(x) for x in ("lam", "delta", "sigma2", "Delta"))

NAMES = {
    "bsp-nonconvex",
    "bsp-sc-const",
    "bsp-sc-decreasing",
    "bsp-convex",
    "bsp-sc-sampling",
    "gd-convex",
    "local-sgd-convex-iid",
    "local-sgd-sc-iid",
    "local-sgd-nonconvex",
    "local-sgd-nonconvex-iid",
    "gossip-consensus",
    "dpsgd-nonconvex-atc",
    "dpsgd-nonconvex-cta",
    "ef-sgd-nonconvex",
    "ef-sgd-convex",
    "ef-sgd-sc",
    "ef21",
    "qsgd-nonconvex",
    "qsgd-nonconvex-shared",
    "asgd-nonconvex",
    "ssp-nonconvex",
    "pr-sgd",
    "post-local-sgd",
    "local-momentum-G",
    "composition-G",
    "one-peer-exp",
    "cooperative-sgd",
    "momentum-nonconvex",
    "delay-stability",
    "adpsgd-sync",
    "ssp-regret",
    "ssp-regret-published",
    "d2",
    "d2-stability",
    "gradient-tracking",
    "local-gd-bias",
    "gossip-gd-bias",
    "push-sum",
}

# Somewhere inside the domain of every theorem.
POINT = {
    "n": 8,
    "T": 96,
    "H": 4,
    "gam": 0.01,
    "L": 1.0,
    "mu": 0.25,
    "Lmax": 2.0,
    "ss": 0.7,
    "Delta": 2.0,
    "R2": 3.0,
    "sigma2": 1.5,
    "zeta2": 0.5,
    "lam": 0.6,
    "delta": 0.5,
    "a": 20.0,
    "C0": 1.0,
    "omega": 1.5,
    "Ltil": 1.2,
    "G0": 0.7,
    "Pw": 4,
    "s": 1.0,
    "taumax": 9.0,
    "tauC": 3.0,
    "tauavg": 2.5,
    "tau": 2.0,
    "G2": 3.0,
    "mom": 0.5,
    "Tp": 32,
    "nu": 0.5,
    "Fd": 1.5,
    "m": 3,
    "zs": 0.4,
    "neg": 0,
    "skew": 1.5,
}


def everywhere(*conditions: sp.Rel) -> Proof:
    return Proof(Domain(conditions))


# --- the catalogue --------------------------------------------------------------------------------


def test_the_catalogue_is_complete():
    assert set(THEOREMS) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_claimed_is_computed(name):
    report = check(THEOREMS[name], mutants=False)
    assert report.ok, report.problems
    assert report.derived
    assert report.tuned is not False
    assert report.rate is not False
    assert {step.status for step in report.steps} >= {Status.PROVED, Status.SAMPLED}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_letters_of_a_theorem_are_in_the_alphabet(name):
    theorem = THEOREMS[name]
    letters = theorem.written(theorem.bound).free_symbols - {k}
    assert letters <= set(LOCALS.values())
    again = sp.sympify(str(theorem.bound), locals=LOCALS)
    assert same(theorem.written(again), theorem.written(theorem.bound))


def test_ranges_are_about_letters_of_the_alphabet():
    assert set(RANGE) <= set(MEANING)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"bound": THEOREMS["bsp-convex"].bound * 2}, "computed bound"),
        ({"conditions": (gam * L <= 2,)}, "computed bound"),
        ({"conditions": (2 * gam * L <= 1,), "tuned": None}, None),  # narrower is safe
        ({"conditions": (2 * gam * L <= 1,)}, "tuning refused"),  # the tuned step is not inside
        ({"assumes": frozenset({Assumption.SMOOTH})}, "CONVEX"),
        ({"assumes": THEOREMS["bsp-convex"].assumes | {Assumption.MIXING}}, "MIXING"),
        ({"perturbation": sp.Integer(0)}, "computed bound"),
        ({"equivalent": {"no such mutant": "because"}}, None),
    ],
)
def test_a_wrong_statement_is_refused(change, complaint):
    report = check(replace(THEOREMS["bsp-convex"], **change), mutants=False)
    assert report.ok == (complaint is None)
    assert complaint is None or complaint in " ".join(report.problems)


def test_cases_must_cover_the_domain_and_resolve_the_letters():
    theorem = THEOREMS["bsp-sc-const"]
    short, long = theorem.cases
    assert not check(replace(theorem, cases=(short,)), mutants=False).ok
    swapped = replace(long, where=short.where)
    assert not check(replace(theorem, cases=(short, swapped)), mutants=False).ok


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(NAMES))
def test_evaluation_agrees_with_sympy(name):
    theorem = THEOREMS[name]
    point = {symbol(x): sp.nsimplify(v) for x, v in POINT.items()}
    exact = theorem.written(theorem.bound).subs(point).doit()
    assert theorem.at(**POINT) == pytest.approx(float(exact), rel=1e-12)
    assert theorem.perturbation_at(**POINT) >= 0
    assert theorem.holds(**POINT) == []


@pytest.mark.parametrize(
    ("name", "values", "violated"),
    [
        ("bsp-nonconvex", {"gam": 2.0}, "L*gam < 2"),
        ("bsp-convex", {"gam": 1.01}, "L*gam <= 1"),
        ("bsp-sc-const", {"mu": 2.0}, "mu <= L"),
        ("bsp-sc-decreasing", {"a": 2.0}, "a >="),
        ("local-sgd-nonconvex", {"T": 98}, "Mod(T, H)"),
        ("gossip-consensus", {"lam": 1.0}, "lam < 1"),
        ("dpsgd-nonconvex-atc", {"gam": 0.9}, "lam*(L*gam + 1) < 1"),
        ("dpsgd-nonconvex-cta", {"gam": 0.5}, "L*gam + lam < 1"),
        ("gd-convex", {"gam": 1.01}, "L*gam <= 1"),
        ("bsp-sc-sampling", {"gam": 1.01, "n": 1}, "gam*(L*(1 - 1/n) + 2*Lmax/n) <= 1"),
        ("bsp-sc-sampling", {"Lmax": 0.5}, "Lmax >= L"),
        ("local-sgd-convex-iid", {"T": 98}, "Mod(T, H)"),
        ("ef-sgd-nonconvex", {"delta": 0.01}, "< 1"),
        ("ef-sgd-nonconvex", {"delta": 1.5}, "delta <= 1"),
        ("bsp-nonconvex", {"sigma2": -1.0}, "sigma2 >= 0"),
        ("ef-sgd-convex", {"gam": 0.2}, "<= 1"),
        ("ef-sgd-sc", {"mu": 1.0, "gam": 0.15}, "4*gam*mu <= delta"),
        ("ef21", {"gam": 0.3}, "<= 1"),
        ("qsgd-nonconvex", {"omega": 2000.0}, "omega/n"),
        ("qsgd-nonconvex-shared", {"omega": 200.0}, "omega + 1"),
        ("asgd-nonconvex", {"taumax": 1e4}, "taumax"),
        ("asgd-nonconvex", {"tauavg": 4.0}, "tauavg <= tauC"),
        ("ssp-nonconvex", {"s": 1e3}, "<= 1"),
        ("pr-sgd", {"T": 98}, "Mod(T, H)"),
        ("post-local-sgd", {"Tp": 97}, "Tp <= T"),
        ("post-local-sgd", {"Tp": 30}, "Mod(T - Tp, H)"),
        ("local-momentum-G", {"mom": 0.995}, "<= 1 - mom"),
        ("composition-G", {"mom": 1.0}, "mom < 1"),
        ("one-peer-exp", {"n": 6}, "Eq(n, 2**m)"),
        ("cooperative-sgd", {"lam": 1.0}, "lam < 1"),
        ("momentum-nonconvex", {"mom": 0.95}, "< 1"),
        ("delay-stability", {"tau": 200.0}, "L*gam < 2*sin("),
        ("adpsgd-sync", {"nu": 1.0}, "nu < 1"),
        ("ssp-regret", {"Pw": 0.5}, "Pw >= 1"),
        ("ssp-regret-published", {"Fd": -1.0}, "Fd >= 0"),
        ("d2", {"gam": 1.7}, "<= 2"),
        ("d2", {"neg": 0.1}, "Eq(neg, 0)"),
        ("d2-stability", {"neg": 0.34}, "3*neg <= 1"),
        ("gradient-tracking", {"gam": 0.02}, "4*L**2*gam"),
        ("local-gd-bias", {"T": 98}, "Mod(T, H)"),
        ("gossip-gd-bias", {"zs": -1.0}, "zs >= 0"),
        ("push-sum", {"skew": 0.9}, "skew >= 1"),
    ],
)
def test_a_violated_condition_is_named(name, values, violated):
    theorem = THEOREMS[name]
    assert any(violated in text for text in theorem.holds(**POINT | values))
    with pytest.raises(ValueError, match="is violated") as error:
        theorem.at(**POINT | values)
    assert violated in str(error.value)


def test_limits_of_a_condition_are_inside():
    assert THEOREMS["bsp-convex"].holds(**POINT | {"gam": 1 / 3, "L": 3.0}) == []
    at_zero = POINT | {"sigma2": 0.0, "zeta2": 0.0, "lam": 0.0, "delta": 1.0}
    assert all(theorem.holds(**at_zero) == [] for theorem in THEOREMS.values())


def test_a_missing_letter_is_named():
    with pytest.raises(ValueError, match="sigma2"):
        THEOREMS["bsp-convex"].at(**{x: v for x, v in POINT.items() if x != "sigma2"})


@pytest.mark.parametrize("name", sorted(x for x in NAMES if THEOREMS[x].tuned))
@pytest.mark.parametrize("T_value", [400, 40000])
def test_the_tuned_step_keeps_its_promise(name, T_value):
    theorem = THEOREMS[name]
    values = POINT | {"T": T_value}
    point = {symbol(x): v for x, v in values.items()}
    if any(not fact.subs(point) for fact in theorem.tuned.assuming):
        pytest.skip("the tuned step is claimed for larger T")
    step = theorem.tuned.step.subs(point)
    gam_value = float(step) if step.is_number else values["gam"]  # gam_t is in the algorithm
    promised = float(theorem.tuned.value.subs(point))
    assert theorem.at(**values | {"gam": gam_value}) <= promised * (1 + 1e-12)


# --- axioms and identities ------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(IDENTITIES))
def test_identity(name):
    assert IDENTITIES[name]()


def draws(name: str) -> list[dict[str, float]]:
    rng = np.random.default_rng(7)
    return [sample(name, rng) for _ in range(60)]


def violated(name: str, slack: list[float], scale: float) -> bool:
    worst = max(map(abs, slack)) if AXIOMS[name].equality else -min(slack)
    return worst > 1e-9 * max(scale, 1.0)


@pytest.mark.parametrize("name", sorted(AXIOMS))
def test_axioms_hold_and_are_sharp(name):
    if AXIOMS[name].status is Status.ASSUMED:
        assert name not in SAMPLERS
        return
    drawn = draws(name)
    scale = max(abs(term) for terms in drawn for term in terms.values())
    slack = [sum(terms.values()) for terms in drawn]
    assert not violated(name, slack, scale)
    if len(drawn[0]) == 1:
        return
    for label in drawn[0]:  # some change of every term is refuted: no constant is idle
        changed = (
            [s + (factor - 1) * terms[label] for s, terms in zip(slack, drawn, strict=True)]
            for factor in (2, 0, -1)
        )
        assert any(violated(name, values, scale) for values in changed), label


def test_biased_noise_is_not_orthogonal():
    instance = SAMPLERS["martingale_orthogonal"](np.random.default_rng(0))
    instance.stacks = {**instance.stacks, "y": instance.stacks["y"][:5]}
    instance.stacks["x"] = instance.stacks["x"][:5]
    (form,) = AXIOMS["martingale_orthogonal"].terms(*instance.arguments).values()
    assert abs(instance.value(form)) > 1e-6


# --- lemmas ---------------------------------------------------------------------------------------

X, X_NEXT = Scalar("X"), Scalar("X'")
u, v = Vector.mean("u"), Vector.mean("v")
z, g = Vector.deviation("z"), Vector.deviation("g")


def test_noise_of_the_mean_and_of_the_rest():
    mean, rest = NOISE.part("mean"), NOISE.part("deviation")
    claim = lemmas.mean_noise(everywhere(), Claim(inner(mean, mean)))
    assert same(claim.form[ONE], sigma2 / n)
    claim = lemmas.deviation_noise(everywhere(), Claim(inner(rest, rest)))
    assert same(claim.form[ONE], sigma2 * (1 - 1 / n))
    claim = lemmas.stack_noise(everywhere(), Claim(inner(NOISE, NOISE)))
    assert same(claim.form[ONE], sigma2)


@pytest.mark.parametrize("short", [True, False])
def test_a_gradient_step_contracts(short):
    side = gam * (mu + L) <= 2 if short else gam * (mu + L) >= 2
    proof = everywhere(gam * L < 2, side)
    claim = Claim(inner(u - gam * v, u - gam * v))
    claim = lemmas.gradient_step(proof, claim, u, v)
    assert set(claim.form.terms) == {sq(u)}
    assert same(claim.form[sq(u)], (1 - gam * (mu if short else L)) ** 2)


def test_equal_workers_do_not_part():
    claim = Claim(inner(z - gam * g, z - gam * g))
    assert lemmas.nonexpansive(everywhere(gam * L <= 2), claim, z, g).form.terms == {sq(z): 1}
    with pytest.raises(Refused):
        lemmas.nonexpansive(everywhere(gam * L <= 3), claim, z, g)


def test_drift_is_linear_in_the_norms():
    claim = lemmas.drift(everywhere(), Vector.deviation("y"), z, iid=False)
    expected = {"|y~|": -1, "|z~|": 1 + gam * L, "1": gam * sp.sqrt(symbol("zeta2"))}
    assert {str(atom) for atom in claim.form.terms} == set(expected)
    assert all(same(c, sp.sympify(expected[str(a)])) for a, c in claim.form.terms.items())


def test_error_memory():
    h, e, memory = Vector.mean("h"), Vector.stack("e"), Scalar("E")
    proof = everywhere()
    claim = lemmas.error_memory(proof, h, e, memory)
    factor = 2 * gam**2 * (1 - delta) / delta
    assert same(claim.form[memory], -delta / 2)
    assert same(claim.form[sq(h)], factor)
    rest = factor * symbol("zeta2") + gam**2 * (1 - delta) * sigma2
    assert same(claim.form[ONE], rest)


def test_gossip_and_local_steps_have_the_same_drift():
    r = lam * (1 + gam * L)
    with pytest.raises(Refused, match="below 1"):
        lemmas.consensus(everywhere(), gossip=True)
    (_, local), (_, gossip) = (lemmas.consensus(everywhere(r < 1), gossip=x) for x in (0, 1))
    assert same(gossip.drift, lam * gam * sp.sqrt(symbol("zeta2")) / (1 - r))
    assert same(local.drift.subs(k, 1), gam * sp.sqrt(symbol("zeta2")))
    assert same(local.noise.subs(k, 1) ** 2, gam**2 * sigma2 * (1 - 1 / n))


# --- the engine refuses ---------------------------------------------------------------------------


def test_unroll_is_the_recursion():
    claim = Claim(Form({X: lam, ONE: sigma2, X_NEXT: sp.Integer(-1)}))
    bound = unroll(everywhere(), claim, X, X_NEXT, Delta)
    value, r, c = 2.0, 0.7, 0.3
    for steps in range(5):
        numbers = {lam: r, sigma2: c, Delta: 2.0, T: steps}
        assert float(bound.subs(numbers)) == pytest.approx(value)
        value = r * value + c


@pytest.mark.parametrize(
    "terms",
    [
        {X: 1 + lam, ONE: sigma2, X_NEXT: -1},  # grows
        {X: lam, ONE: -sigma2, X_NEXT: -1},  # negative noise
        {X: -lam, ONE: sigma2, X_NEXT: -1},  # negative factor
        {X: lam, ONE: sigma2, X_NEXT: -2},  # not normalized
        {X: lam, ONE: sigma2, X_NEXT: -1, Scalar("G"): 1},  # something left over
    ],
)
def test_unroll_refuses(terms):
    claim = Claim(Form({a: sp.sympify(c) for a, c in terms.items()}))
    with pytest.raises(Refused):
        unroll(everywhere(), claim, X, X_NEXT, Delta)


def test_telescope_keeps_what_the_step_leaves():
    claim = Claim(Form({X: 1 - delta / 2, ONE: sigma2, X_NEXT: sp.Integer(-1)}))
    proof = everywhere()
    bound = proof.isolate(telescope(proof, claim, X, X_NEXT, Delta), X)
    assert same(bound, 2 * (Delta / T + sigma2) / delta)


def test_weights_must_telescope():
    a = symbol("a")
    claim = Claim(Form({X: (1 - 1 / (t + a)) ** 2, ONE: sigma2, X_NEXT: sp.Integer(-1)}))
    with pytest.raises(Refused, match="telescope"):
        unroll_weighted(everywhere(a >= 1), claim, X, X_NEXT, Delta, weight=t + a)


def test_an_average_needs_its_closed_form():
    right = (geometric(1 + gam * L, H) - H) / (gam * L * H)
    bound = geometric(1 + gam * L, k)
    assert same(average(everywhere(), X, bound, right)[1], right)
    with pytest.raises(Refused, match="not the average"):
        average(everywhere(), X, bound, right + 1)


def test_a_multiplier_of_the_wrong_sign_is_refused():
    claim = Claim(Form({X: sp.Integer(-1), ONE: sigma2}))
    lower = Claim(Form({X: sp.Integer(-1), ONE: Delta}))
    with pytest.raises(Refused, match="multiplier"):
        everywhere().substitute(claim, lower, X)


def test_absorb_asks_for_the_exact_step_condition():
    claim = Claim(Form({X: gam**2 - 2 * gam / L, ONE: sigma2}))
    assert everywhere(gam * L <= 2).absorb(claim, X, at={gam: 2 / L}).form[X] == 0
    with pytest.raises(Refused, match="positive"):
        everywhere(gam * L <= 3).absorb(claim, X)
    with pytest.raises(Refused, match="vanish"):
        everywhere(gam * L <= 1).absorb(claim, X, at={gam: 1 / L})


def test_products_have_no_sign():
    claim = Claim(inner(u, v))
    (cross,) = claim.form.terms
    with pytest.raises(Refused, match="no sign"):
        everywhere().absorb(claim, cross)
    with pytest.raises(Refused, match="no root"):
        everywhere().root(claim)


def test_relax_only_enlarges():
    claim = Claim(Form({X: delta}))
    larger = everywhere().relax(claim, X, 2 / (2 - delta))
    assert same(larger.form[X], 2 * delta / (2 - delta))
    with pytest.raises(Refused, match="larger"):
        everywhere().relax(claim, X, delta)


def test_isolate_needs_a_positive_coefficient():
    claim = Claim(Form({X: -(1 - gam * L), ONE: sigma2}))
    assert same(everywhere(gam * L < 1).isolate(claim, X), sigma2 / (1 - gam * L))
    with pytest.raises(Refused, match="vanish"):
        everywhere(gam * L <= 1).isolate(claim, X)
    with pytest.raises(Refused, match="not solved"):
        everywhere(gam * L < 1).isolate(Claim(claim.form + Form.of(X_NEXT)), X)


def test_mean_and_deviation_are_orthogonal():
    stack = Vector.stack("s")
    assert inner(stack.part("mean"), stack.part("deviation")).terms == {}
    assert set(inner(stack, stack).terms) == {sq(Vector.mean("s")), sq(Vector.deviation("s"))}
    assert all(isinstance(atom, Inner) for atom in inner(stack, stack).terms)


# --- signs and zeros ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "conditions", "sign"),
    [
        (1 - 1 / n, (), True),
        (1 - 2 / n, (), False),
        (1 - lam**2, (), True),
        (1 - gam * L / 2, (gam * L < 2,), True),
        (1 - gam * L, (gam * L < 2,), False),
        (1 - (1 - gam * mu) ** T, (gam * L <= 1,), True),
        ((1 - gam * mu) ** T - 1, (gam * L <= 1,), False),
        ((1 + gam * L) ** k - 1, (), True),
        (sp.sqrt(1 - 1 / n) * sigma2, (), True),
        ((gam * L - 1) ** T, (gam * L < 1,), False),
        (sp.sqrt(gam * L - 1), (gam * L < 1,), False),
        (1 - delta - lam, (delta + lam < 1,), True),
    ],
)
def test_signs(expression, conditions, sign):
    assert Domain(conditions).nonnegative(expression) is sign


def test_strict_signs_see_letters_that_may_vanish():
    assert not Domain().nonnegative(sigma2, strict=True)
    assert Domain().nonnegative(1 + sigma2, strict=True)
    assert not Domain().nonnegative(1 - delta, strict=True)
    assert Domain([gam * L < 1]).nonnegative(1 - gam * L, strict=True)
    assert not Domain([gam * L <= 1]).nonnegative(1 - gam * L, strict=True)
    assert not Domain([gam * L <= 1]).nonnegative((1 - gam * mu) ** T, strict=True)
    assert Domain([gam * L < 1]).nonnegative((1 - gam * mu) ** T, strict=True)


def test_signs_are_true_where_they_are_proved():
    """A proof covers the domain: no random point of it contradicts one."""
    rng = np.random.default_rng(3)
    expressions = [
        1 - gam * L - 4 * (gam * L) ** 2 * (1 - delta) / delta**2 - sp.Rational(1, 2),
        2 / (1 - lam) - 1 / (1 - (lam * (1 + gam * L)) ** 2),
        1 - lam - gam * L,
        lam - gam * L,
    ]
    for expression in expressions:
        for limit in (delta / (4 * L), (1 - lam) / (2 * L)):
            domain = Domain([sp.Le(gam, limit)])
            value = sp.lambdify((gam, L, lam, delta), expression)
            bound = sp.lambdify((L, lam, delta), limit)
            if domain.nonnegative(expression):
                for _ in range(200):
                    L_, lam_, delta_ = 5 * rng.random(), rng.random(), 1 - rng.random()
                    gam_ = bound(L_, lam_, delta_) * (1 - rng.random() ** 3)
                    assert value(gam_, L_, lam_, delta_) >= -1e-9


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ((1 - gam * mu) ** (2 * T), ((1 - gam * mu) ** 2) ** T, True),
        ((gam * L - 1) ** (2 * T), (1 - gam * L) ** (2 * T), True),
        ((gam * L - 1) ** T, (1 - gam * L) ** T, False),
        (sp.sqrt(sigma2 * (1 - 1 / n)), sp.sqrt(sigma2) * sp.sqrt(n - 1) / sp.sqrt(n), True),
        (sp.sqrt((lam - 1) ** 2), lam - 1, False),
        (sp.cbrt(8 * sigma2**2), 2 * sigma2 ** sp.Rational(2, 3), True),
        (sp.Sum(lam**k, (k, 0, H - 1)), (1 - lam**H) / (1 - lam), True),
        (sp.Sum(lam**k, (k, 0, H - 1)), (1 - lam**H) / (1 - lam) + 1, False),
        (sp.Sum(k * lam, (k, 0, H - 1)), lam * sp.Sum(k, (k, 0, H - 1)), True),
        (sp.exp(sp.Rational(1, 2)) ** 2, sp.E, True),
    ],
)
def test_zeros(left, right, equal):
    assert same(left, right) is equal
