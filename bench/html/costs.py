"""What an all-reduce costs on the network of the run, by collective: why none is always best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.html.markup import Markup, element
from bench.html.pictures import DASHES, Axes, Stroke, panel
from bench.html.svg import legend
from mpiddl.arrays import Array
from theory.cost import ALLREDUCE

__all__ = ["costs"]

LENGTHS = tuple(2**power for power in range(0, 25, 3))  # entries
WIDTH = 8  # bytes of an entry
COLOURS = ("blue", "green", "orange", "purple", "red")


def costs(ranks: int, network: Mapping[str, Any]) -> Markup:
    """Return the picture for `ranks` ranks; the fastest at some length are thick."""
    al, be, ga = (float(network.get(name) or 0.0) for name in ("alpha", "beta", "gamma"))
    times: dict[str, Array] = {
        name: np.array([cost.at(n=ranks, b=b, w=WIDTH, al=al, be=be, ga=ga).time for b in LENGTHS])
        for name, cost in ALLREDUCE.items()
    }
    fastest = np.argmin(np.array(list(times.values())), axis=0)
    first = [list(times)[at] for at in dict.fromkeys(fastest.tolist())]
    order = first + [name for name in times if name not in first]
    x, strokes = WIDTH * np.array(LENGTHS, dtype=np.float64), []
    for number, name in enumerate(order, 1):
        thin = name not in first
        colour = "muted" if thin else COLOURS[(number - 1) % len(COLOURS)]
        dash = DASHES[(number - 1) // len(COLOURS) % len(DASHES)] if not thin else ""
        strokes.append(Stroke(name, x, times[name], colour, dash=dash, number=number, thin=thin))
    label = f"all-reduce of {ranks} ranks, virtual time"
    axes = Axes("vector", label, True, True, "bytes", y_unit="seconds")
    alt = f"Time of an all-reduce against the length of the vector: {', '.join(first)} are fastest"
    return element(
        "figure", panel(strokes, axes, alt), element("figcaption", legend(strokes)), class_="wide"
    )
