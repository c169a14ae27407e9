"""The twelve cells: what is run, which is best, and what files say of it."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from xml.etree import ElementTree

import pytest

from bench.cells import CELLS, WHEN, WHOM
from bench.cells.files import picture, save
from bench.cells.results import Result, Results
from bench.cells.runs import Cells, Setting
from bench.html.cells import section
from bench.html.records import CellRecord, build
from bench.jobs import Outcome
from bench.pool import simulated
from bench.targets import Target
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError

SMALL = Setting(Network(2e-5, 8e-10), workers=4, steps=16, grid=(0.3, 3.0), seeds=2)
KEYS = {
    *("synchronization", "architecture", "algorithm", "seconds_to_target", "bytes_to_target"),
    *("final_loss", "outcome"),
}


@pytest.fixture(scope="module")
def results():
    made, found = Cells(SMALL), {}
    for job in made.trials():
        found[job.key] = Outcome.of(job, simulated(job), None, None)
    choice = made.choose(found, None)
    for job in made.finals(choice):
        found[job.key] = Outcome.of(job, simulated(job), None, None)
    return Results(made, choice, found, "10gbe")


def test_there_are_twelve_and_all_can_be_run():
    assert set(CELLS) == {(when, whom) for when in WHEN for whom in WHOM}
    assert not Cells(Setting(Network(0.0, 0.0))).left_out


def test_every_algorithm_is_of_its_cell():
    for algorithm in Cells(SMALL).wanted:
        (when, whom), variant = algorithm.cell, algorithm.entry.plain
        sync = variant.sync
        stale = "asp" if sync.staleness == inf else "ssp" if sync.staleness else ""
        assert when == (stale or ("bsp" if sync.period == 1 else "local"))
        served, gossip = variant.architecture.served, hasattr(variant.architecture, "graph")
        assert whom == ("ps" if served else "gossip" if gossip else "allreduce")


def test_where_nobody_waits_the_slow_worker_makes_fewer_clocks():
    made = Cells(SMALL)
    for algorithm in made.wanted:
        run = made.run(algorithm, 1.0, 0)
        if algorithm.cell[0] == "asp":
            assert run.ends is not None
            assert run.ends[0] == max(1, run.clocks // 4) < run.ends[1] == run.clocks
        else:
            assert run.ends is None


def test_a_run_too_short_for_a_clock_leaves_out_what_makes_longer_ones():
    made = Cells(replace(SMALL, steps=3))
    assert {one.name for one in made.wanted} < {one.name for one in Cells(SMALL).wanted}
    assert {one.entry.plain.sync.period for one in made.left_out} == {4}
    assert all("clocks = 0" in why for why in made.left_out.values())


def test_one_that_is_slow_is_one_of_the_workers():
    assert Cells(replace(SMALL, stragglers="slow:1e-3,worker=3")).wanted
    with pytest.raises(ConfigurationError, match="write a worker of 0 to 3"):
        Cells(replace(SMALL, stragglers="slow:1e-3,worker=4"))


def test_the_best_of_a_cell_is_there_first(results):
    for cell, best in results.best.items():
        others = [one for one in results.all if one.algorithm.cell == cell]
        assert all(best.rank <= one.rank for one in others)
    assert len(results.best) == 12


def test_asynchronous_algorithms_are_done_before_the_slow_worker(results):
    ends = {
        one.algorithm.name: float(one.runs[0].curve["seconds"][-1])
        for one in results.all
        if one.outcome != "diverged"
    }
    assert ends["Downpour"] < 0.5 * ends["S-SGD"]
    assert ends["AD-PSGD"] < 0.5 * ends["D-PSGD"]


def test_objects_have_what_is_promised(results):
    objects = json.loads(json.dumps(results.contents()))
    assert len(objects) == sum(map(len, CELLS.values()))
    for one in objects:
        assert one.keys() >= KEYS
        assert (one["seconds_to_target"] is None) == (one["outcome"] != "reached")
        assert (one["bytes_to_target"] is None) == (one["outcome"] != "reached")
    marked = [
        (one["synchronization"], one["architecture"]) for one in objects if one["best_of_cell"]
    ]
    assert len(marked) == len(set(marked)) == 12


def test_what_diverged_says_so(results):
    one = results.all[0]
    broken = [replace(run, diverged=True) for run in one.runs]
    told = Result(one.algorithm, one.gam, broken, None).as_dict(False, "here")
    assert (told["outcome"], told["final_loss"], told["seconds_to_target"]) == (
        "diverged",
        None,
        None,
    )


def test_a_run_that_ends_above_the_target_has_not_reached_it(results):
    made, choice = results.cells, results.choice
    found = {run.job.key: run for one in results.all for run in one.runs}
    strict = Results(made, replace(choice, target=Target(-1.0, "no")), found, "10gbe")
    assert {one.outcome for one in strict.all} == {"not reached"}
    assert strict.all[0].took is None


def test_a_target_needs_a_run_that_converges(results):
    made = Cells(replace(SMALL, grid=(0.3,)))
    found = {}
    for job in made.trials()[:1]:
        found[job.key] = replace(Outcome.of(job, simulated(job), None, None), diverged=True)
    with pytest.raises(ConfigurationError, match="diverges with every step size"):
        made.choose(found, None)


def test_files_are_made_of_the_objects(results, tmp_path):
    names = save(tmp_path, results.contents())
    assert names == ["cells.json", "cells.svg"]
    told = json.loads((tmp_path / "cells.json").read_text("utf-8"))
    root = ElementTree.parse(tmp_path / "cells.svg").getroot()
    words = "".join(root.itertext())
    assert all(whom in words for whom in WHOM.values())
    records = [build(CellRecord, one, "cells.json") for one in told]
    ((_, _, html),) = section(records, draws=True)
    for one in records:
        if one.best_of_cell:
            assert one.algorithm in html
            assert one.algorithm in words or one.outcome == "diverged"
    assert list(section([], draws=True)) == []


def test_a_curve_with_holes_is_drawn(results):
    objects = results.contents()
    objects[0]["curve"]["loss"][-1] = None
    objects[0] |= {"outcome": "diverged", "seconds_to_target": None}
    records = [build(CellRecord, one, "cells.json") for one in objects]
    ElementTree.fromstring(picture(records))
