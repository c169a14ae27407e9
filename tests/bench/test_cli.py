from __future__ import annotations

import pytest

from bench.cli import parse
from bench.networks import NETWORKS, network
from bench.variants import NAMED, entry
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError


def test_no_command_is_run_with_all_named_variants():
    options = parse([])
    assert options == parse(["run"])
    assert options.command == "run"
    assert [each.line for each in options.entries] == list(NAMED.values())
    assert len(options.entries) >= 8
    assert options.out is None


def test_quick_is_smaller_in_every_way_and_gives_way_to_what_is_said():
    full, quick = parse([]), parse(["--quick"])
    assert quick.steps < full.steps
    assert quick.seeds < full.seeds
    assert 8 <= len(quick.entries) < len(full.entries)
    assert set(quick.entries) < set(full.entries)
    said = parse(["--quick", "--clocks", "40", "--seeds", "5", "--grid", "3,1"])
    assert (said.steps, said.seeds, said.grid) == (40, 5, (1.0, 3.0))


def test_variants_are_names_or_lines():
    line = "local:2 / allreduce:ring / identity / whole / sgd:0.5"
    options = parse(["--variant", "sign", "--variant", line, "--variant", NAMED["sign"]])
    assert [each.line for each in options.entries] == [NAMED["sign"], line]
    assert [each.fixed for each in options.entries] == [False, True]


@pytest.mark.parametrize(
    "argv",
    [
        ["--clocks", "0"],
        ["--clocks", "1.5"],
        ["--seed", "-1"],
        ["--problem", "nosuch"],
        ["--variant", "nosuch"],
        ["--variant", "bsp / allreduce / identity / whole / sgd:-1"],
        ["--network", "token-ring"],
        ["--network", "1,2,3"],
        ["--network=-1,1"],
        ["--network", "nan,1"],
        ["--grid", "0.1,0"],
        ["--grid", "a"],
        ["--compute", "-1"],
        ["--nosuch"],
        ["nosuch"],
        ["verify"],
        ["list", "x"],
    ],
)
def test_bad_usage_is_told_once_with_code_2(argv, capsys):
    with pytest.raises(SystemExit) as left:
        parse(argv)
    assert left.value.code == 2
    assert capsys.readouterr().err.count("error:") == 1


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"], ["verify", "-h"], ["--version"]])
def test_help_and_version_leave_with_0(argv, capsys):
    with pytest.raises(SystemExit) as left:
        parse(argv)
    assert left.value.code == 0
    assert "mpiddl" in capsys.readouterr().out


def test_networks_are_presets_or_two_numbers():
    assert network("10gbe") == NETWORKS["10gbe"].network
    given = network("1e-3,2e-9")
    assert (given.alpha, given.beta) == (1e-3, 2e-9)
    assert isinstance(given, Network)


def test_a_line_prints_as_it_parses_and_takes_a_step_size():
    found = entry("bsp /allreduce/ ef+topk:0.1 /whole")
    assert str(found.variant(0.3)) == "bsp / allreduce / ef+topk:0.1 / whole / sgd:0.3"
    assert found.steps((0.1, 0.2)) == (0.1, 0.2)
    assert entry(f"{found.line} / sgd:1").steps((0.1, 0.2)) == (None,)


@pytest.mark.parametrize("line", ["", "bsp /", "bsp / allreduce / identity", "a / b / c / d"])
def test_a_line_that_does_not_parse_is_refused(line):
    with pytest.raises(ConfigurationError):
        entry(line)


def test_every_named_variant_parses():
    for line in NAMED.values():
        assert entry(line).variant(1.0).sync.period >= 1
