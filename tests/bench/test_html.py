from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from bench.html import write_report
from mpiddl.errors import ConfigurationError
from tests.bench import html_sample

pytest.importorskip("matplotlib")
VOID = {"br", "link", "meta"}
ODD = "<script>alert('x')</script> & \"co\""


class Checker(HTMLParser):
    """Notes what is wrong with a page: tags that do not match, ids and references."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        self.references: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            if name == "id":
                self.ids[value or ""] += 1
            if name in ("href", "src", "xlink:href"):
                self.references.add(value or "")
            self.references.update(re.findall(r"url\(([^)]*)\)", value or ""))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.text += data

    def faults(self) -> list[str]:
        lost = [ref for ref in self.references if ref.removeprefix("#") not in self.ids]
        twice = [name for name, many in self.ids.items() if many > 1]
        return [*self.wrong, *self.open, *lost, *twice]


def check(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    return checker


def change(folder: Path, name: str, edit: Callable[[Any], Any]) -> None:
    content = json.loads((folder / name).read_text("utf-8"))
    edited = edit(content)
    (folder / name).write_text(json.dumps(content if edited is None else edited), "utf-8")


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    html_sample.make(folder)
    return folder


@pytest.fixture
def folder(original, tmp_path) -> Path:
    shutil.copytree(original, tmp_path / "out")
    return tmp_path / "out"


def written(folder: Path) -> str:
    return write_report(folder).read_text("utf-8")


@pytest.mark.parametrize(
    "page",
    [
        "<p><b></p></b>",
        "<p>",
        '<a href="#there">x</a>',
        '<img src="https://example.org/x.png">',
        '<p id="a"></p><p id="a"></p>',
        '<path style="clip-path: url(#there)"/>',
    ],
)
def test_a_broken_page_is_noticed(page: str):
    assert check(page).faults()


def test_the_page_is_whole_and_needs_nothing_else(folder):
    page = written(folder)
    assert not check(page).faults()
    assert "@import" not in page
    assert "<script" not in page
    assert 'lang="en"' in page
    assert 'name="viewport"' in page
    assert len(page) < 3e6


def test_every_variant_verdict_and_picture_is_there(folder):
    page = check(written(folder))
    for row in json.loads((folder / "table.json").read_text("utf-8")):
        assert row["name"] in page.text
    verdicts = json.loads((folder / "verdicts.json").read_text("utf-8"))
    for verdict in verdicts:
        assert verdict["claim"] in page.text
        assert verdict["outcome"] in page.text
        for series in verdict["series"]:
            assert series["title"] in page.text
            assert all(line["label"] in page.text for line in series["lines"])
    for graph in ("ring", "path", "torus", "hypercube", "complete", "star", "exponential"):
        assert graph in page.text
    assert page.tags["figure"] >= 3 + 2 + 7 + 2  # rooms, claims, graphs, replays
    assert page.text.count("★") == 1


def test_every_picture_says_in_words_what_it_shows(folder):
    pictures = re.findall(r"<svg\b[^>]*>(?:\s*<title>)?", written(folder))
    assert pictures
    for start in pictures:
        assert ('aria-label="' in start and "<title>" in start) or 'aria-hidden="true"' in start


def test_odd_names_are_text(folder):
    def odd(rows: list[dict[str, Any]]) -> None:
        rows[0] |= {"name": ODD, "problem": ODD, "variant": ODD, "when": ODD, "with_whom": ODD}

    def odd_claims(verdicts: list[dict[str, Any]]) -> None:
        verdicts[0] |= {"claim": ODD, "theorem": ODD, "reason": ODD, "outcome": ODD}
        verdicts[0]["series"][0] |= {"title": ODD, "x_label": ODD, "y_label": ODD}
        verdicts[0]["series"][0]["lines"][0]["label"] = ODD

    change(folder, "table.json", odd)
    change(folder, "curves.json", odd)
    change(folder, "verdicts.json", odd_claims)
    change(folder, "machine.json", lambda machine: machine.update(processor=ODD, mpi=ODD))
    page = written(folder)
    assert not check(page).faults()
    assert "<script" not in page
    assert ODD in check(page).text
    assert escape(ODD) in page


def test_without_matplotlib_there_are_tables_and_a_remedy(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = check(written(folder))
    assert not page.faults()
    assert "matplotlib is not installed" in page.text
    assert 'pip install "mpiddl[report]"' in page.text
    assert page.tags["table"] == 2
    assert "HOLDS" in page.text


def test_with_matplotlib_nothing_is_missing(folder):
    assert "matplotlib is not installed" not in written(folder)


def test_an_empty_bench_is_a_page(folder):
    for name in ("table.json", "curves.json", "verdicts.json"):
        change(folder, name, lambda _: [])
    change(folder, "machine.json", lambda _: {})
    shutil.rmtree(folder / "replays")
    page = check(written(folder))
    assert not page.faults()
    assert "0 variants on 0 problems, 0 claims" in page.text


def test_what_is_not_known_is_a_dash_or_a_word(folder):
    optional = ("gap", "gap_low", "gap_high", "accuracy", "bytes_formula", "staleness", "same")
    optional += ("seconds_to_target", "bytes_to_target", "step_size", "virtual_seconds")

    def forget(rows: list[dict[str, Any]]) -> None:
        rows[0] |= dict.fromkeys(optional)
        for name in optional:
            del rows[1][name]

    def diverge(curves: list[dict[str, Any]]) -> None:
        for curve in curves:
            if curve["name"] == curves[0]["name"]:
                curve["diverged"] = True
                curve["loss"][2:] = [None] * len(curve["loss"][2:])

    change(folder, "table.json", forget)
    change(folder, "curves.json", diverge)
    page = check(written(folder))
    assert not page.faults()
    assert page.text.count("diverged") == 2
    assert page.text.count("never") >= 4
    assert not re.search(r"\bnan\b", page.text.lower())
    assert "None" not in page.text


def test_runs_without_snapshots_or_services_are_left_out(folder):
    def shorten(curves: list[dict[str, Any]]) -> None:
        for curve in curves:
            for name, column in curve.items():
                if isinstance(column, list):
                    curve[name] = []

    change(folder, "curves.json", shorten)
    for path in (folder / "replays").glob("*.json"):
        change(path.parent, path.name, lambda replay: replay.update(services={}))
    page = check(written(folder))
    assert not page.faults()
    assert "No curves were written" in page.text


def test_an_unknown_minimum_makes_gaps_losses(folder):
    def forget(machine: dict[str, Any]) -> None:
        for facts in machine["run"]["problems"].values():
            facts["f_star"] = None

    change(folder, "machine.json", forget)
    assert "f* unknown" in check(written(folder)).text


@pytest.mark.parametrize("name", ["machine.json", "table.json", "curves.json", "verdicts.json"])
@pytest.mark.parametrize("content", [None, "{", '"text"', "[3]", '[{"problem": 3}]'])
def test_a_missing_or_broken_file_is_named(folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content)
    with pytest.raises(ConfigurationError, match=name):
        write_report(folder)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("table.json", "gap", "0.1"),
        ("table.json", "best", 1),
        ("table.json", "n", None),
        ("curves.json", "loss", ["0.1"]),
        ("curves.json", "loss", [0.1]),
        ("verdicts.json", "series", [{"title": "x"}]),
        ("verdicts.json", "low", True),
    ],
)
def test_a_field_of_another_kind_is_named(folder, name, field, value):
    change(folder, name, lambda entries: entries[0].update({field: value}))
    with pytest.raises(ConfigurationError, match="run bench again") as caught:
        write_report(folder)
    assert field in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ranks", "four"),
        ("hosts", {"host": {"ranks": 4}}),
        ("run", 3),
        ("run", {"problems": {"x": {"f_star": "0"}}}),
        ("run", {"network": {"alpha": []}}),
        ("run", {"gradient_seconds": 3e-5}),
    ],
)
def test_a_machine_of_another_kind_is_named(folder, field, value):
    change(folder, "machine.json", lambda machine: machine.update({field: value}))
    with pytest.raises(ConfigurationError, match="run bench again") as caught:
        write_report(folder)
    assert field in str(caught.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"variant": "x", "problem": "y"}'])
def test_a_broken_replay_is_named(folder, content):
    path = next((folder / "replays").glob("*.json"))
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=re.escape(path.name)):
        write_report(folder)


@pytest.mark.parametrize("content", [None, "[{]"])
def test_the_command_refuses_in_one_line_with_2(folder, content):
    (folder / "table.json").unlink()
    if content is not None:
        (folder / "table.json").write_text(content)
    run = subprocess.run(
        [sys.executable, "-m", "mpiddl.bench", "report", str(folder)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 2
    assert str(folder / "table.json") in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def test_the_command_says_where_the_page_is(folder):
    run = subprocess.run(
        [sys.executable, "-m", "mpiddl.bench", "report", str(folder)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "report.html" in run.stdout
    assert not check((folder / "report.html").read_text("utf-8")).faults()
