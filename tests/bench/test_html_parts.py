from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bench.html import evidence, graphs, numbers, pictures, records, svg
from bench.html.curves import WHEN
from bench.html.markup import Markup, element, join
from mpiddl.architecture.topology import contraction, cycle, find, topologies


def test_text_is_escaped_once_and_markup_never():
    inner = element("b", "a < b")
    assert element("p", inner, "&", None) == "<p><b>a &lt; b</b>&amp;</p>"
    assert join(["<", Markup("<br>")]) == "&lt;<br>"


def test_attributes_are_quoted_and_left_out_where_there_are_none():
    made = element("td", class_='a"b', aria_label="x", hidden=True, title=None, open=False)
    assert made == '<td class="a&quot;b" aria-label="x" hidden></td>'
    assert element("br") == "<br>"


@pytest.mark.parametrize("value", [1e-12, 3.96e-4, 0.02, 1.0, 17.5, 999.6, 1234.0, 4.2e9, -5e-3])
def test_numbers_are_read_back(value):
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    for show in (numbers.plain, numbers.scientific):
        text = show(value).replace(",", "").replace("·10", "e").translate(raised)
        assert float(text) == pytest.approx(value, rel=5e-3)


@pytest.mark.parametrize("value", [1e-9, 999e-9, 4.2e-3, 0.9996, 1.0, 75.0, 7200.0])
def test_units_are_read_back(value):
    text, unit = numbers.seconds(value).split()
    assert float(text) * dict(map(reversed, numbers.TIMES))[unit] == pytest.approx(value, rel=5e-3)
    text, unit = numbers.size(value * 1e9).split()
    size = dict(map(reversed, numbers.SIZES))[unit]
    assert float(text) * size == pytest.approx(value * 1e9, rel=5e-3)


@pytest.mark.parametrize("show", [numbers.plain, numbers.scientific, numbers.size, numbers.seconds])
def test_what_is_not_a_number_is_a_dash(show):
    assert show(None) == show(float("nan")) == show(float("inf")) == numbers.DASH
    assert show(0.0).startswith("0")


def test_every_graph_is_drawn_with_all_its_edges():
    drawn = graphs.graphs(6)
    figures = re.findall(r"<figure>.*?</figure>", drawn)
    assert len(figures) == len(graphs.PLACES)
    assert {text.partition(":")[0] for text in graphs.PLACES} == set(topologies)
    for name, figure in zip(graphs.PLACES, figures, strict=True):
        turn = cycle(find(name), graphs.RANKS)
        w = sum(turn)
        linked = np.triu((w + w.T) != 0, 1)
        assert name in figure
        assert figure.count("<circle") == graphs.RANKS
        assert figure.count("M") == linked.sum()
        if len(turn) == 1 and "directed" not in name:
            assert numbers.plain(1 - contraction(w), 3) in figure
    assert "1 - λ = 1 a turn of 4 clocks" in drawn
    assert "on 6 ranks: none" in drawn  # a hypercube


def test_dots_are_apart_and_inside():
    for name, place in graphs.PLACES.items():
        points = np.array(place(graphs.RANKS))
        apart = np.linalg.norm(points[:, None] - points, axis=2) + 100 * np.eye(len(points))
        assert apart.min() > 2 * graphs.DOT, name
        assert np.abs(points).max() < 54 - graphs.DOT


def stroke(label: str, y: list[float], **more: object) -> pictures.Stroke:
    return pictures.Stroke(label, np.arange(1.0, len(y) + 1), np.array(y), "blue", **more)


@pytest.mark.parametrize(("least", "most"), [(1.0, 5.0), (0.3, 0.9), (1e-9, 1.0), (3e4, 4e7)])
def test_a_logarithmic_axis_has_ticks_however_much_it_spans(least, most):
    axes = pictures.Axes("x", "y", log_y=True)
    texts = re.findall(r">([^<>]+)</text>", pictures.panel([stroke("a", [most, least])], axes, ""))
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    values = [text.replace("·10", "e") for text in texts if text not in "xy"]
    heights = [float(re.sub("^10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])", "1e", v).translate(raised)) for v in values]
    assert sum(least / 2 <= height <= most * 2 for height in heights) >= 2


def test_numbers_do_not_cover_each_other_and_stand_at_the_end_of_their_line():
    strokes = [stroke(str(k), [9.0, height], number=k) for k, height in enumerate((1, 1, 1, 7))]
    drawn = pictures.panel(strokes, pictures.Axes("x", "y"), "")
    spots = re.findall(r'x="([\d.]+)" y="([\d.]+)"[^>]*>([0-3])</text>', drawn)
    found = {name: (float(x), float(y)) for x, y, name in spots}
    heights = sorted(y for _, y in found.values())
    assert len(heights) == 4
    assert min(np.diff(heights)) >= 9
    assert heights[0] == found["3"][1] < found["0"][1] - 60


def test_an_interval_below_zero_reaches_the_bottom_of_a_logarithmic_axis():
    axes = pictures.Axes("x", "y", log_y=True)
    band = {"low": np.array([-1.0, -1.0]), "high": np.array([2.0, 2.0])}
    drawn = pictures.panel([stroke("a", [1.0, 1.0], **band)], axes, "")
    assert "nan" not in drawn.lower()


@pytest.mark.parametrize(("many", "numbered"), [(3, 6), (6, 6)])
def test_every_line_of_a_claim_is_named_however_many_there_are(many, numbered):
    kinds = [(f"{kind}-{k}", kind) for k in range(many) for kind in ("measured", "theory")]
    lines = [records.Line(name, [1.0, 2.0], [1.0, 3.0], kind=kind) for name, kind in kinds]
    series = records.Series("t", "x", "y", lines)
    page = evidence.claims([records.VerdictRecord("c", "t", "HOLDS", "r", series=[series])])
    assert all(f">{name}" in page or f", {name}" in page for name, _ in kinds)
    assert page.count("<b ") == numbered


def test_no_two_colours_of_curves_are_alike():
    assert len(set(WHEN.values())) == len(WHEN)
    assert set(WHEN.values()) <= set(svg.COLOURS)


def test_every_colour_is_defined_for_a_light_and_a_dark_page():
    style = (Path(svg.__file__).parent / "style.css").read_text("utf-8")
    for colour in svg.COLOURS:
        assert style.count(f"--{colour}: ") == 2
