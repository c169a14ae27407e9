from __future__ import annotations

import re

import numpy as np
import pytest

from bench.html import graphs, numbers
from bench.html.markup import Markup, element, join
from mpiddl.architecture.topology import contraction, find, topologies


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
    assert len(figures) == len(graphs.PLACES) == len(list(topologies))
    for name, figure in zip(graphs.PLACES, figures, strict=True):
        w = find(name).matrix(graphs.RANKS)
        linked = np.triu((w + w.T) != 0, 1)
        assert name in figure
        assert figure.count("<circle") == graphs.RANKS
        assert figure.count("M") == linked.sum()
        assert numbers.plain(1 - contraction(w), 3) in figure
    assert "on 6 ranks: none" in drawn  # a hypercube


def test_dots_are_apart_and_inside():
    for name, place in graphs.PLACES.items():
        points = np.array(place(graphs.RANKS))
        apart = np.linalg.norm(points[:, None] - points, axis=2) + 100 * np.eye(len(points))
        assert apart.min() > 2 * graphs.DOT, name
        assert np.abs(points).max() < 54 - graphs.DOT
