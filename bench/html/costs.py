"""What an all-reduce costs on the network of the run, by collective: why none is always best."""

from __future__ import annotations

import numpy as np

from bench.html.machine import Network
from bench.html.markup import Markup, element
from bench.html.pictures import DASHES, Axes, Stroke, panel
from bench.html.svg import legend
from mpiddl.arrays import Array
from theory.cost import ALLREDUCE

__all__ = ["costs"]

LENGTHS = tuple(2**power for power in range(0, 25, 3))  # entries
WIDTH = 8  # bytes of an entry
COLOURS = ("blue", "green", "orange", "purple", "red")


def costs(ranks: int, network: Network) -> Markup:
    """Return the picture for `ranks` ranks; the fastest at some length are thick."""
    al, be, ga = network.alpha, network.beta, network.gamma
    times: dict[str, Array] = {
        name: np.array([cost.at(n=ranks, b=b, w=WIDTH, al=al, be=be, ga=ga).time for b in LENGTHS])
        for name, cost in ALLREDUCE.items()
    }
    table = np.array(list(times.values()))
    first = [list(times)[at] for at in dict.fromkeys(table.argmin(axis=0).tolist())]
    order = first + [name for name in times if name not in first]
    x, strokes = WIDTH * np.array(LENGTHS, dtype=np.float64), []
    for number, name in enumerate(order, 1):
        thin = name not in first
        colour = "muted" if thin else COLOURS[(number - 1) % len(COLOURS)]
        dash = DASHES[(number - 1) // len(COLOURS) % len(DASHES)] if not thin else ""
        strokes.append(
            Stroke(
                name,
                x,
                times[name] / table.min(axis=0),
                colour,
                dash=dash,
                number=number,
                thin=thin,
            )
        )
    axes = Axes("length of the vector", "time / that of the fastest", True, True, "bytes")
    alt = f"Time of an all-reduce against the length of the vector: {', '.join(first)} are fastest"
    return element(
        "figure", panel(strokes, axes, alt), element("figcaption", legend(strokes)), class_="wide"
    )
