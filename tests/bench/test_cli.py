from __future__ import annotations

import pytest

from bench.cli import COMMANDS, parse
from bench.networks import NETWORKS, is_file, preset, read
from bench.variants import DEFAULT, NAMED, SEEDS, STEPS, entries_of, entry, grid_of
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problem


def test_no_command_is_run_with_everything():
    options = parse([])
    assert options == parse(["run"])
    assert options.command == "run"
    assert options.problems == options.entries == ()
    assert options.claims is None
    assert options.out is None
    assert len(options.claimed) >= 6


def test_quick_is_smaller_in_every_way_and_gives_way_to_what_is_said():
    full, quick = parse([]), parse(["--quick"])
    assert quick.seeds < full.seeds
    for values in (SEEDS, STEPS):
        assert values[False] > values[True] >= 3
    for name in DEFAULT:
        few, all_ = (entries_of(name, quick) for quick in (True, False))
        assert 4 <= len(few) < len(all_)
        assert set(few) < set(all_)
        learnt = problem(name, 2, 0)
        assert len(grid_of(learnt, quick=True)) < len(grid_of(learnt))
    said = parse(["--quick", "--clocks", "40", "--seeds", "5", "--grid", "3,1"])
    assert (said.steps, said.seeds, said.grid) == (40, 5, (1.0, 3.0))


def test_the_default_tables_answer_every_question_in_many_ways():
    tables = {name: [one.plain for one in entries_of(name, quick=False)] for name in DEFAULT}
    every = {variant for variants in tables.values() for variant in variants}
    assert len(every) == len(NAMED) >= 24
    assert all(len(variants) >= 12 for variants in tables.values())
    for architecture in ("AllReduce", "ParameterServer", "Gossip"):
        periods = {v.sync.period for v in every if type(v.architecture).__name__ == architecture}
        assert {1, 4} <= periods
    assert {str(variant.sync).partition(":")[0] for variant in every} >= {"ssp", "asp"}
    assert len({type(variant.channel.compressor) for variant in every}) >= 6


def test_variants_are_names_recipes_or_lines_and_problems_repeat():
    line = "local:2 / allreduce:ring / identity / whole / sgd:0.5"
    words = ["sign", line, NAMED["sign"], "choco_sgd:0.05"]
    options = parse(
        ["--problem", "iso", "--problem", "nc", *(f"--variant={word}" for word in words)]
    )
    assert options.problems == ("iso", "nc")
    assert [each.line for each in options.entries[:2]] == [NAMED["sign"], line]
    assert [each.fixed for each in options.entries] == [False, True, True]
    assert [each.name for each in options.entries][0] == "sign"
    assert "diff+topk" in options.entries[2].line


def test_claims_are_all_none_or_named():
    assert parse(["--claims", "all"]).claims is None
    assert parse(["--claims", "none"]).claimed == ()
    assert parse(["--claims", "error_feedback, linear_speedup"]).claimed == (
        "error_feedback",
        "linear_speedup",
    )


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
        ["--target", "x"],
        ["--claims", "nosuch"],
        ["--nosuch"],
        ["nosuch"],
        ["verify"],
        ["report"],
        ["list", "x"],
    ],
)
def test_bad_usage_is_told_once_with_code_2(argv, capsys):
    with pytest.raises(SystemExit) as left:
        parse(argv)
    assert left.value.code == 2
    assert capsys.readouterr().err.count("error:") == 1


@pytest.mark.parametrize(
    ("argv", "meant"),
    [
        (["--variant", "gosip-ring"], "gossip-ring"),
        (["--variant", "choco_sdg"], "choco_sgd"),
        (["--variant", "bsp / gossip:rnig / identity / whole"], "ring"),
        (["--variant", "bps / allreduce / identity / whole"], "bsp"),
        (["--problem", "digit_mlp"], "digits_mlp"),
        (["--network", "10gb"], "10gbe"),
        (["--claims", "errorfeedback"], "error_feedback"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(argv, meant, capsys):
    with pytest.raises(SystemExit):
        parse(argv)
    assert f"did you mean {meant!r}?" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_leaves_with_0(command, capsys):
    with pytest.raises(SystemExit) as left:
        parse([command, "--help"])
    assert left.value.code == 0
    assert command in capsys.readouterr().out


@pytest.mark.parametrize("argv", [["--help"], ["--version"]])
def test_help_and_version_leave_with_0(argv, capsys):
    with pytest.raises(SystemExit) as left:
        parse(argv)
    assert left.value.code == 0
    assert "mpiddl" in capsys.readouterr().out


def test_networks_are_presets_or_two_numbers():
    assert preset("10gbe") == NETWORKS["10gbe"]
    given = preset("1e-3,2e-9")
    assert (given.network.alpha, given.network.beta, given.name) == (1e-3, 2e-9, "1e-3,2e-9")
    assert isinstance(given.network, Network)


def test_networks_are_files(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text("alpha = 1e-3\nbeta = 2e-9\ngamma = 0\n")
    assert is_file(str(path))
    assert not any(is_file(name) for name in (*NETWORKS, "1e-5,2e-9"))
    assert parse(["--network", str(path)]).network == str(path)
    assert read(path).name == "ours"
    assert read(path).network == Network(1e-3, 2e-9, 0.0)
    path.write_text('name = "lab"\nalpha = 1\nbeta = 0\n')
    assert read(path).name == "lab"
    assert read(path).network.gamma == NETWORKS["10gbe"].network.gamma


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alpha = 1",
        "alpha = 1\nbeta = 'x'",
        "alpha = 1\nbeta = true",
        "alpha = -1\nbeta = 1",
        "alpha = inf\nbeta = 1",
        "alpha = 1\nbeta = 1\ndelta = 1",
        "alpha = 1\nbeta = 1\nname = 3",
        "{}}",
    ],
)
def test_a_file_that_describes_no_network_is_named(text, tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="odd.toml"):
        read(path)
    with pytest.raises(ConfigurationError, match="nosuch.toml"):
        read(tmp_path / "nosuch.toml")


def test_a_line_prints_as_it_parses_and_takes_a_step_size():
    found = entry("bsp /allreduce/ ef+topk:0.1 /whole")
    assert str(found.variant(0.3)) == "bsp / allreduce / ef+topk:0.1 / whole / sgd:0.3"
    assert str(found.variant(3.0)) == "bsp / allreduce / ef+topk:0.1 / whole / sgd:3"
    assert found.steps((0.1, 0.2)) == (0.1, 0.2)
    assert entry(f"{found.line} / sgd:1").steps((0.1, 0.2)) == (None,)


@pytest.mark.parametrize("line", ["", "bsp /", "bsp / allreduce / identity", "a / b / c / d"])
def test_a_line_that_does_not_parse_is_refused(line):
    with pytest.raises(ConfigurationError):
        entry(line)


@pytest.mark.parametrize("name", NAMED)
def test_a_named_variant_is_written_as_it_prints(name):
    assert str(entry(name).plain).startswith(NAMED[name])
    assert entry(name).name == name
