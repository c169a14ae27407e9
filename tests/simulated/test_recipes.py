"""Recipes: each is a line, runs, and becomes another one where the papers say so."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.problems import problem
from mpiddl.recipes import meaning, recipes
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

every_recipe = pytest.mark.parametrize("name", list(recipes))


@pytest.fixture(scope="module")
def learnt():
    return problem("nc", 4, seed=2, layers=4, zeta2=0.5)


def models(variant, learnt, clocks=12):
    return np.array([result.x for result in simulate(Run(variant, learnt, clocks))])


@every_recipe
def test_a_recipe_is_its_line(name):
    variant = recipes[name]()
    assert Variant.parse(str(variant)) == variant
    assert recipes.parse(name) == variant
    assert len(str(variant).split(" / ")) == 5


@every_recipe
def test_a_recipe_says_what_it_does_and_where_it_is_from(name):
    assert meaning(name).endswith(".")
    assert any(year in recipes[name].__doc__ for year in map(str, range(2012, 2024)))


@every_recipe
def test_a_recipe_learns(name, learnt):
    variant = recipes[name]()
    variant.check(learnt, learnt.workers)
    x = models(variant, learnt, 40)
    assert np.isfinite(x).all()
    assert learnt.loss(x.mean(axis=0)) < learnt.loss(learnt.start())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wfbp", "s_sgd"),
        ("ddp:0.1,size=56B", "s_sgd"),
        ("large_minibatch:0.1,beta=0", "s_sgd"),
        ("large_minibatch:0.1@warmup:1,beta=0", "s_sgd"),
        ("local_sgd:0.1,period=1", "s_sgd"),
        ("slowmo:0.1,beta=0", "local_sgd"),
        ("fedavg", "local_sgd"),
        ("ssp:0.1,staleness=0", "s_sgd"),
        ("pipe_sgd:0.1,staleness=0", "s_sgd"),
        ("eager_sgd:0.1,quorum=4", "s_sgd"),
        ("dynamic_averaging:0.1,threshold=0", "s_sgd"),
        ("dynamic_averaging:0.1,threshold=0,period=4", "local_sgd"),
        ("backup_workers:0.1,backup=0", "s_sgd"),
        ("dc_asgd:0.05,lam=0", "downpour_sgd"),
        ("mem_sgd:0.1,ratio=1", "s_sgd"),
        ("ef21:0.1,ratio=1", "s_sgd"),
        ("qsparse_local_sgd:0.1,ratio=1", "local_sgd"),
        ("cooperative_sgd:0.1,graph=complete", "local_sgd"),
        ("post_local_sgd:0.1,after=0", "local_sgd"),
        ("post_local_sgd:0.1,period=1", "s_sgd"),
        ("growing_local_sgd:0.1,period=1", "s_sgd"),
        ("bmuf:0.1,beta=0", "local_sgd"),
        ("d2:0.1,graph=complete,gamma=1", "s_sgd"),
        ("gradient_tracking:0.1,graph=complete", "s_sgd"),
        ("sgp:0.1,graph=complete", "s_sgd"),
        ("qg_dsgdm:0.1,beta=0,graph=complete", "s_sgd"),
        ("choco_sgd:0.1,gamma=1,ratio=1,graph=complete", "s_sgd"),
        ("stale_gossip:0.1,staleness=0,graph=complete", "s_sgd"),
        ("stale_gossip:0.1,staleness=0", "cooperative_sgd:0.1,period=1"),
    ],
)
def test_at_its_limit_a_recipe_is_another_one(one, other, learnt):
    pair = [models(recipes.parse(text), learnt) for text in (one, other)]
    assert np.allclose(*pair, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("one", "other"), [("local_sgd", "s_sgd"), ("slowmo", "local_sgd"), ("mem_sgd", "s_sgd")]
)
def test_away_from_its_limit_it_is_not(one, other, learnt):
    pair = [models(recipes.parse(text), learnt) for text in (one, other)]
    assert not np.allclose(*pair, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("s-sgd", "no recipe is called 's-sgd'"),
        ("choco_sgd:0.1,delta=1", "choco_sgd takes rate, gamma, ratio, graph"),
        ("local_sgd:0.1,period=0", "at least 1"),
        ("mem_sgd:-1", "above 0"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(text, says):
    with pytest.raises(ConfigurationError) as refusal:
        recipes.parse(text)
    assert says in str(refusal.value)
