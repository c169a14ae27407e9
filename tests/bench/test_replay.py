"""Recorded runs: what is written reads back the same, and the simulator makes it again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.files import write
from bench.networks import NETWORKS
from bench.replay import differences, made_again, trace_path
from bench.replays import content, load, load_all
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.ledger import FIELDS
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

LINES = {
    "asp": "asp / ps / identity / whole / sgd:1",
    "ssp": "ssp:2 / ps:servers=2 / ef+topk:0.1 / layerwise / sgd:0.3",
    "noisy": "asp / ps:servers=1,down=diff+topk:0.5 / qsgd:4 / whole / sgd:1",
}
NETWORK = NETWORKS["1gbe"]


def record(folder, name, learnt="breast_cancer", **options):
    """Write what a network that mixes up all messages makes of a variant; return the file."""
    run = Run(Variant.parse(LINES[name]), problem(learnt, 3, 5, **options), clocks=12, every=3)
    result = simulate(run, NETWORK.network, shuffle=8)[0]
    path = folder / "replays" / f"{name}--{learnt}.json"
    path.parent.mkdir(exist_ok=True)
    write(path, content(run, result.curve, result.services, NETWORK, 1e-5))
    return path


@pytest.fixture
def path(tmp_path):
    return record(tmp_path, "asp")


@pytest.mark.parametrize("name", LINES)
def test_a_recorded_run_is_made_again_to_the_bit(tmp_path, name):
    again = made_again(load(record(tmp_path, name)))
    assert not again.wrong
    assert again.network.network == NETWORK.network
    assert again.same["seconds"][-1] > 0
    assert again.recorded.service("staleness").max() > 0


def test_options_of_the_problem_are_recorded(tmp_path):
    path = record(tmp_path, "asp", sharding="disjoint", sort=True)
    recorded = load(path)
    assert dict(recorded.run.problem.options) == {"sharding": "disjoint", "sort": True}
    assert not made_again(recorded).wrong


def test_another_network_changes_seconds_and_the_order_by_itself_but_not_the_curve(path):
    slow, fast = made_again(load(path)), made_again(load(path), NETWORKS["ib100"])
    assert not fast.wrong
    assert fast.same["seconds"][-1] < slow.same["seconds"][-1]
    assert not np.array_equal(slow.free["loss"], slow.same["loss"])


def changed(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def test_another_order_is_another_run(path):
    def swap(content):
        """Let two services of one server, of different workers, change places."""
        services = content["services"]
        rows = list(zip(*(services[name] for name in FIELDS), strict=True))
        at = next(
            i
            for i in range(9, len(rows))
            if rows[i][:2] == rows[i + 1][:2] and rows[i][2] != rows[i + 1][2]
        )
        rows[at], rows[at + 1] = rows[at + 1], rows[at]
        content["services"] = dict(zip(FIELDS, map(list, zip(*rows, strict=True)), strict=True))

    assert made_again(load(changed(path, swap))).wrong


@pytest.mark.parametrize("column", ["loss", "distance2", "consensus2", "clock"])
def test_the_last_bit_of_a_curve_is_compared(path, column):
    again = made_again(load(path))
    value = again.recorded.curve[column][1]
    changed(path, lambda content: content["curve"][column].__setitem__(1, np.nextafter(value, 9e9)))
    (said,) = differences(load(path), again.same)
    assert said.startswith(f"{column}, row 1: recorded ")


def test_bytes_are_compared_at_the_end(path):
    again = made_again(load(path))
    changed(path, lambda content: content["curve"]["bytes"].__setitem__(1, 1.0))
    assert not differences(load(path), again.same)
    changed(path, lambda content: content["curve"]["bytes"].__setitem__(-1, 1.0))
    assert differences(load(path), again.same)


def test_a_run_that_diverges_is_made_again(tmp_path):
    """Its numbers are not finite, which a file says as null."""
    run = Run(Variant.parse("asp / ps / identity / whole / sgd:1e200"), problem("iso", 3), 6, 1)
    with pytest.raises(Diverged) as ended:
        simulate(run, NETWORK.network, shuffle=8)
    result = ended.value.result
    path = tmp_path / "wild.json"
    write(path, content(run, result.curve, result.services, NETWORK, 0.0))
    again = made_again(load(path))
    assert again.recorded.curve["loss"][-1] is None
    assert not again.wrong


BROKEN = {
    "another format": lambda content: content.update(format=99),
    "no format": lambda content: content.pop("format"),
    "no variant": lambda content: content.pop("variant"),
    "an unknown variant": lambda content: content.update(variant="bsp / nosuch"),
    "a variant without servers": lambda content: content.update(
        variant="bsp / allreduce / identity / whole / sgd:1"
    ),
    "another number of servers": lambda content: content.update(servers=7),
    "an unknown problem": lambda content: content.update(problem="nosuch"),
    "an unknown option": lambda content: content.update(options={"nosuch": 1}),
    "more clocks than services": lambda content: content.update(clocks=13),
    "no column": lambda content: content["services"].pop("worker"),
    "a column too many": lambda content: content["curve"].update(more=[1]),
    "a short column": lambda content: content["curve"]["loss"].pop(),
    "a word": lambda content: content["services"]["worker"].__setitem__(0, "x"),
    "half a worker": lambda content: content["services"]["worker"].__setitem__(0, 0.5),
    "no services": lambda content: content.update(services={name: [] for name in FIELDS}),
    "no network": lambda content: content.update(network={}),
    "a network that costs less than nothing": lambda content: content["network"].update(alpha=-1),
    "a text for a number": lambda content: content.update(n="3"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_file_that_is_no_run_is_refused_by_name(path, what):
    with pytest.raises(ConfigurationError, match=r"asp--breast_cancer\.json"):
        load(changed(path, BROKEN[what]))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"format": NaN}'])
def test_a_file_that_is_no_object_is_refused_by_name(path, text):
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"asp--breast_cancer\.json"):
        load(path)


def test_a_folder_without_runs_and_an_unknown_run_are_refused(tmp_path, path):
    assert [one.name for one in load_all(tmp_path)] == ["asp--breast_cancer"]
    assert load_all(tmp_path, path.name)
    with pytest.raises(ConfigurationError, match="there are: asp--breast_cancer"):
        load_all(tmp_path, "nosuch")
    with pytest.raises(ConfigurationError, match="no recorded run"):
        load_all(tmp_path / "nosuch")


def test_every_run_has_a_trace_of_its_own(tmp_path):
    assert trace_path(tmp_path / "t.json", "a", many=False) == tmp_path / "t.json"
    assert trace_path(tmp_path / "t.json", "a", many=True) == tmp_path / "t-a.json"
