"""The options of every command, and how their words are read."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from bench.networks import NETWORKS
from bench.options import network, number, reader, steps, whole
from bench.variants import DEFAULT, STEPS, Entry, entry
from mpiddl.problems import problems

__all__ = ["ADD"]


def _problem(text: str) -> str:
    problems[text]  # refuses an unknown name
    return text


def _alone(text: str) -> tuple[Entry, ...]:
    return (entry(text),)


def _alone_problem(text: str) -> tuple[str, ...]:
    return (_problem(text),)


def _claims(text: str) -> tuple[str, ...] | None:
    if text in ("all", "none"):
        return None if text == "all" else ()
    from bench.claims import claims  # only here: mostly all are wanted

    names = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in names:
        claims[name]  # refuses an unknown name
    return names


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--problem",
        type=reader(_problem),
        action="append",
        metavar="NAME",
        help=f"what is learnt; repeatable; default: {' and '.join(DEFAULT)}",
    )
    add(
        "--variant",
        type=reader(entry),
        action="append",
        metavar="TEXT",
        help="a name from list, or a line: four parts are tried with every step size, five run "
        "as they stand; repeatable; default: those of the problem",
    )
    add("--clocks", type=partial(whole, 1), metavar="N", help=f"gradients per worker ({STEPS[0]})")
    add("--grid", type=steps, metavar="A,B,..", help="step sizes; default: by problem")
    add("--seed", type=partial(whole, 0), default=0, metavar="N", help="default: 0")
    add("--seeds", type=partial(whole, 1), metavar="N", help="repetitions of a claim (8)")
    add(
        "--network",
        type=reader(network),
        default="10gbe",
        metavar=f"{'|'.join(NETWORKS)}|FILE|ALPHA,BETA",
        help="of virtual time; default: %(default)s",
    )
    seconds = partial(number, "seconds")
    add("--compute", type=seconds, metavar="S", help="virtual seconds of a gradient; else measured")
    target = partial(number, "an f - f*")
    add("--target", type=target, metavar="F", help="the f - f* to reach; default: by table")
    names = "all|none|NAME,.."
    add("--claims", type=reader(_claims), metavar=names, help="what is claimed; default: all")
    add("--quick", action="store_true", help="fewer variants, gradients, step sizes and seeds")
    add("--out", type=Path, metavar="DIR", help="write the results there, as JSON and a page")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    told = "what python -m theory verify --json FILE wrote"
    add("--theory", type=Path, required=True, metavar="FILE", help=told)
    add("--seed", type=partial(whole, 0), default=0, metavar="N", help="default: 0")
    add("--out", type=Path, metavar="DIR", help="write theory-report.json there")


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="DIR", help="what run --out DIR wrote")


def _add_replay(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("out", type=Path, metavar="DIR", help="what run --out DIR wrote")
    add("--run", dest="name", metavar="NAME", help="one of its recorded runs; default: all")
    add(
        "--network",
        type=reader(network),
        dest="on",
        metavar=f"{'|'.join(NETWORKS)}|FILE|ALPHA,BETA",
        help="of virtual time; default: as recorded",
    )
    add("--trace", type=Path, metavar="FILE", help="write what happened when, for a trace viewer")


def _add_trace(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("entries", type=reader(_alone), metavar="VARIANT", help="a name from list, or a line")
    add(
        "--problem",
        dest="problems",
        type=reader(_alone_problem),
        default=DEFAULT[:1],
        metavar="NAME",
    )
    add("--workers", type=partial(whole, 1), default=4, metavar="N", help="default: 4")
    add("--clocks", dest="steps", type=partial(whole, 1), default=4, metavar="N", help="default: 4")
    add("--seed", type=partial(whole, 0), default=0, metavar="N", help="default: 0")
    add(
        "--network",
        type=reader(network),
        default="10gbe",
        metavar=f"{'|'.join(NETWORKS)}|FILE|ALPHA,BETA",
        help="of virtual time; default: %(default)s",
    )
    seconds = partial(number, "seconds")
    add("--compute", type=seconds, default=1e-4, metavar="S", help="seconds of a gradient (1e-4)")
    add("--out", type=Path, required=True, metavar="FILE", help="the trace, for a trace viewer")


def _add_cells(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--problem", dest="problems", type=reader(_alone_problem), default=(), metavar="NAME",
        help="what is learnt; default: breast_cancer")  # fmt: skip
    add("--workers", type=partial(whole, 2), default=8, metavar="N", help="default: 8")
    add("--clocks", dest="steps", type=partial(whole, 1), metavar="N",
        help="gradients per worker (96)")  # fmt: skip
    add("--grid", type=steps, metavar="A,B,..", help="step sizes; default: by problem")
    add("--seed", type=partial(whole, 0), default=0, metavar="N", help="default: 0")
    add("--seeds", type=partial(whole, 1), default=3, metavar="N", help="default: 3")
    add(
        "--network",
        type=reader(network),
        default="10gbe",
        metavar=f"{'|'.join(NETWORKS)}|FILE|ALPHA,BETA",
        help="of virtual time; default: %(default)s",
    )
    add(
        "--stragglers",
        default="slow:1e-3,factor=4",
        metavar="TEXT",
        help="seconds of a gradient: constant:S, slow:S,worker=0,factor=4, lognormal:S,sigma=0.5 "
        "or intermittent:S,chance=0.1,factor=10; default: %(default)s",
    )
    target = partial(number, "an f - f*")
    add("--target", type=target, metavar="F", help="the f - f* to reach; default: of S-SGD")
    add("--out", type=Path, metavar="DIR", help="write cells.json and the picture cells.svg there")


def _add_speed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", dest="out", type=Path, metavar="FILE", help="write the numbers")


ADD = {
    "run": _add_run,
    "verify": _add_verify,
    "report": _add_report,
    "replay": _add_replay,
    "trace": _add_trace,
    "cells": _add_cells,
    "speed": _add_speed,
}
