"""The command line, and that it fails when something is not as it must be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from theory import report as reporting
from theory.__main__ import main
from theory.catalogue import THEOREMS
from theory.compressors import CONSTANTS
from theory.report import Report, as_json, verify
from theory.trials import TRIALS, Control, Trial

NAME = "bsp-sc-const"


def quick(name: str = NAME) -> Report:
    (report,) = verify([name], quick=True)
    return report


def test_verify_writes_every_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    assert main(["verify", NAME, "--quick", "--json", str(file)]) == 0
    (found,) = json.loads(file.read_text("utf-8"))
    assert found["name"] == NAME
    assert found["ok"]
    assert found["slopes"] is None
    names = [stage["name"] for stage in found["runs"][0]["stages"]]
    assert names == [
        *("conditions", "identity", "noise", "unbiased", "descent"),
        *("smoothness", "perturbation", "bound"),
    ]
    assert {one["trial"]["control"]["fails"] for one in found["controls"]} == {
        "noise",
        "conditions",
    }
    printed = capsys.readouterr().out
    assert f"{NAME}: holds" in printed
    assert "\x1b" not in printed, "no escape codes in a pipe"


def test_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in (*THEOREMS, *CONSTANTS))
    assert main(["show", "dpsgd-nonconvex-atc"]) == 0
    shown = capsys.readouterr().out
    for word in ("source", "assumes", "condition", "where", "tuned gam", "step 1 ", "limit"):
        assert f"\n{word}" in shown, word
    assert "FAILS" not in shown


@pytest.mark.parametrize("arguments", [["verify", "banana"], ["show", "banana"], []])
def test_nonsense_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code not in (0, None)


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[Trial]:
    mine = [trial for trial in TRIALS if trial.theorem == NAME]
    monkeypatch.setattr(reporting, "TRIALS", mine)
    return mine


def test_a_control_that_passes_is_a_failure(trials: list[Trial]) -> None:
    harmless = Control("nothing at all", "noise", {})
    trials.append(replace(trials[0], control=harmless))
    report = quick()
    assert not report.ok
    assert report.problems == ("not noticed at noise: nothing at all",)
    assert main(["verify", NAME, "--quick"]) == 1


def test_a_control_must_fail_at_its_own_stage(trials: list[Trial]) -> None:
    elsewhere = Control("the noise is shared", "identity", {"noise": "shared"})
    trials.append(replace(trials[0], control=elsewhere))
    assert not quick().ok


def test_a_broken_run_is_a_failure(trials: list[Trial]) -> None:
    trials.append(replace(trials[0], noise="shared"))
    (problem,) = quick().problems
    assert "noise, descent, bound broken" in problem


def test_an_untried_theorem_is_a_failure(trials: list[Trial]) -> None:
    trials.clear()
    assert set(quick().problems) == {"never tried", "no negative control"}


def test_a_loose_bound_is_not_attained(monkeypatch: pytest.MonkeyPatch) -> None:
    loose = replace(THEOREMS[NAME], bound=2 * THEOREMS[NAME].bound)
    monkeypatch.setitem(THEOREMS, NAME, loose)
    report = quick()
    assert report.worst is not None
    assert report.worst.ratio == pytest.approx(0.5)
    assert any("worst case" in problem for problem in report.problems)
    assert any("computed" in problem for problem in report.problems), "the derivation sees it too"


def test_a_wrong_constant_of_a_compressor_is_a_failure(
    trials: list[Trial], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Constants are looked at when all theorems are."""
    for name in [name for name in THEOREMS if name != NAME]:
        monkeypatch.delitem(THEOREMS, name)
    assert main(["verify", "--quick"]) == 0
    wrong = replace(CONSTANTS["topk"], value=2 * CONSTANTS["topk"].value)
    monkeypatch.setitem(CONSTANTS, "topk", wrong)
    assert main(["verify", "--quick"]) == 1
    assert "topk: violated" in capsys.readouterr().out


def test_numbers_that_are_not_finite_stay_valid_json() -> None:
    report = quick()
    run = report.runs[0]
    stages = (replace(run.stages[0], ratio=float("inf"), low=float("nan")), *run.stages[1:])
    text = json.dumps(as_json(replace(report, runs=(replace(run, stages=stages),))))
    assert "inf" in text
    assert "Infinity" not in text
    assert "NaN" not in text
