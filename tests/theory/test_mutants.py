"""Every changed proof and every changed statement is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theory.catalogue import THEOREMS
from theory.check import check
from theory.derivation import Mutation
from theory.forms import Vector
from theory.mutants import derived, run, statement_mutants


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_all_mutants_are_noticed(name):
    theorem = THEOREMS[name]
    report = check(theorem)
    assert report.ok, report.problems
    assert report.noticed == report.mutants > 10
    assert all(reason for _, reason in report.excluded)


def test_every_coefficient_of_a_short_proof_is_a_place_to_mutate():
    theorem = THEOREMS["bsp-nonconvex"]
    proof, _ = run(theorem, theorem.cases[0])
    axioms = {site.split("#")[0] for site in proof.sites}
    assert {"descent", "martingale_orthogonal", "independent", "bounded_variance"} <= axioms
    assert "telescope#1.|g|^2" in proof.sites
    assert "telescope#1.start" in proof.sites
    assert "substitute |xi|^2#1" in proof.sites


def test_a_harmless_mutation_is_not_called_noticed():
    """Negative control: `derived` is True where nothing changes, and for a true equivalence."""
    theorem = THEOREMS["local-sgd-sc-iid"]
    (case,) = theorem.cases
    assert derived(theorem, case, Mutation("no such site", "doubled"))
    assert derived(theorem, case, Mutation("descent#2.f(y)", "doubled"))
    assert not derived(theorem, case, Mutation("descent#2.curvature", "doubled"))


def test_an_exclusion_must_be_declared_and_must_be_real():
    theorem = THEOREMS["gossip-consensus"]

    def with_an_idle_axiom(proof):
        proof.axiom("square", Vector.mean("u"))
        return theorem.derive(proof)

    idle = {f"square#1.square {kind}": "not used" for kind in ("dropped", "negated")}
    silent = check(replace(theorem, derive=with_an_idle_axiom))
    assert {f"mutant not noticed: {name}" for name in idle} == set(silent.problems)
    declared = check(replace(theorem, derive=with_an_idle_axiom, equivalent=idle))
    assert declared.ok
    assert declared.noticed == declared.mutants
    stale = check(replace(theorem, equivalent={"unroll#1.start doubled": "no reason"}))
    assert any("excluded, yet noticed" in problem for problem in stale.problems)


def test_statement_mutants_reach_into_roots_and_sums():
    bound = THEOREMS["local-sgd-nonconvex"].bound
    texts = [text for text, _ in statement_mutants(bound)]
    assert any("(L*gam + 1)**k" in text for text in texts)
    assert len(texts) == len(set(texts)) or len(texts) > 30
