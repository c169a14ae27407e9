"""A folder as bench leaves one, from a few runs in the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from bench.files import write
from bench.networks import NETWORKS
from mpiddl import Run, Variant, simulate
from mpiddl.job import Result
from mpiddl.ledger import FIELDS
from mpiddl.problems import problem

NETWORK, GRADIENT, SEEDS = "10gbe", 3e-5, 3
VARIANTS = (
    "bsp / allreduce / identity / whole",
    "local:4 / allreduce / identity / whole",
    "bsp / allreduce / ef+topk:0.1 / whole",
    "bsp / gossip:ring / identity / whole",
    "ssp:2 / ps / identity / whole",
    "asp / ps:servers=2 / ef+sign / whole",
)


def paces(worker: int, step: int) -> float:
    """Seconds of a gradient: workers differ, and every seventh step stumbles."""
    return GRADIENT * (1 + 0.3 * worker + 3 * ((step + 3 * worker) % 7 == 0))


def make(
    folder: Path,
    variants: Sequence[str] = VARIANTS,
    problems: Sequence[str] = ("breast_cancer",),
    n: int = 4,
    steps: int = 48,
    step_size: float = 1.0,
) -> None:
    """Write machine, table, curves, verdicts and replays into `folder`."""
    rows: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    about = {}
    for name in problems:
        learnt = problem(name, n, 0)
        gam = step_size if name == "breast_cancer" else 0.3 / (learnt.constants.L or 1.0)
        f_star = learnt.constants.f_star
        own = []
        for text in variants:
            variant = Variant.parse(f"{text} / sgd:{gam!r}")
            clocks = steps // variant.sync.period
            results = []
            for seed in range(SEEDS):
                run = Run(variant, problem(name, n, seed), clocks, compute=paces)
                results.append(simulate(run, NETWORKS[NETWORK].network)[0])
            own.append(_row(name, text, variant, n, clocks, f_star, results, gam))
            for seed, result in enumerate(results):
                curves.append(_curve(name, text, n, seed, gam, result))
            if results[0].services is not None and len(results[0].services):
                _replay(folder, name, text, results[0], n, clocks)
        least = min((row["gap"] for row in own if row["gap"] is not None), default=None)
        for row in own:
            row["best"] = row["gap"] == least
        rows += own
        facts = {"d": learnt.layout.size, "n": n, "f_star": f_star, "steps": steps}
        about[name] = facts | {"grid": [gam], "target": own[0]["target"]}
    network = {"name": NETWORK, **asdict(NETWORKS[NETWORK].network)}
    write(folder / "machine.json", _machine(n, about, network))
    write(folder / "table.json", rows)
    write(folder / "curves.json", curves)
    write(folder / "verdicts.json", verdicts())


def _row(
    name: str,
    text: str,
    variant: Variant,
    n: int,
    clocks: int,
    f_star: float | None,
    results: Sequence[Result],
    gam: float,
) -> dict[str, Any]:
    gaps = np.array([result.curve["loss"][-1] - (f_star or 0) for result in results])
    start = results[0].curve["loss"][0] - (f_star or 0)
    curve, half = results[0].curve, 4.3 * gaps.std(ddof=1) / np.sqrt(len(gaps))
    when, whom, words = (part.strip() for part in text.split("/")[:3])
    target = 0.02 * start
    reached = np.flatnonzero(curve["loss"] - (f_star or 0) <= target)
    first = int(reached[0]) if len(reached) else None
    services = results[0].services
    stale = None
    if services is not None and len(services) and when[:3] in ("asp", "ssp"):
        ages = services[:, FIELDS.index("staleness")]
        stale = {"mean": float(ages.mean()), "max": int(ages.max())}
    total = float(curve["bytes"][-1])
    accuracy = float(curve["accuracy"][-1])
    diverged = any(result.diverged for result in results) or not isfinite(gaps.mean())
    return {
        "problem": name,
        "name": text.replace(" / identity", "").replace(" / whole", ""),
        "variant": str(variant),
        "when": when,
        "with_whom": whom,
        "words": words,
        "step_size": gam,
        "edge": False,
        "n": n,
        "servers": variant.architecture.servers,
        "clocks": clocks,
        "gap": None if diverged else float(gaps.mean()),
        "gap_low": None if diverged else float(gaps.mean() - half),
        "gap_high": None if diverged else float(gaps.mean() + half),
        "accuracy": accuracy if isfinite(accuracy) else None,
        "bytes_per_clock": total / clocks,
        "bytes_formula": total / clocks,
        "total_bytes": total,
        "messages": float(curve["messages"][-1]),
        "wall_seconds": 0.5,
        "virtual_seconds": float(curve["seconds"][-1]),
        "target": target,
        "seconds_to_target": None if first is None else float(curve["seconds"][first]),
        "bytes_to_target": None if first is None else float(curve["bytes"][first]),
        "staleness": stale,
        "same": True,
        "best": False,
    }


def _curve(name: str, text: str, n: int, seed: int, gam: float, result: Result) -> dict[str, Any]:
    return {
        "variant": f"{text} / sgd:{gam!r}",
        "name": text.replace(" / identity", "").replace(" / whole", ""),
        "problem": name,
        "n": n,
        "seed": seed,
        "world": "simulator",
        "step_size": gam,
        "chosen": True,
        "diverged": result.diverged is not None,
        **result.curve.as_dict(),
        "bytes_predicted": None,
    }


def _replay(folder: Path, name: str, text: str, result: Result, n: int, clocks: int) -> None:
    services = dict(zip(FIELDS, result.services.T.tolist(), strict=True))
    entry = {"variant": text, "problem": name, "n": n, "clocks": clocks, "services": services}
    (folder / "replays").mkdir(exist_ok=True)
    file = "-".join(part.strip() for part in text.replace(":", "_").split("/"))
    write(folder / "replays" / f"{file}--{name}.json", entry)


def _machine(n: int, problems: dict[str, Any], network: dict[str, Any]) -> dict[str, Any]:
    return {
        "mpi": "MPICH Version: 5.0.2",
        "thread_level": "MULTIPLE",
        "ranks": n,
        "hosts": {"host-1": {"ranks": n, "cores": 2}},
        "oversubscribed": n > 2,
        "blas_threads": 1,
        "mpiddl": "0.1.0",
        "python": "3.11.7",
        "numpy": "2.4.6",
        "mpi4py": "4.1.2",
        "processor": "AMD EPYC",
        "system": "Linux",
        "run": {
            "problems": problems,
            "seed": 0,
            "seeds": SEEDS,
            "network": network,
            "gradient_seconds": dict.fromkeys(problems, GRADIENT),
        },
    }


def verdicts() -> list[dict[str, Any]]:
    """Return one verdict of each outcome; two have pictures."""
    n = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    speedup = {
        "title": "Stationary error against workers",
        "x_label": "workers n",
        "y_label": "E f(x) - f*",
        "log_x": True,
        "log_y": True,
        "lines": [
            {
                "label": "measured",
                "x": n,
                "y": [1.02 / k for k in n],
                "low": [0.95 / k for k in n],
                "high": [1.1 / k for k in n],
                "kind": "measured",
            },
            {"label": "theory: 1/n", "x": n, "y": [1 / k for k in n], "kind": "theory"},
            {"label": "bound", "x": n, "y": [2 / k for k in n], "kind": "bound"},
        ],
    }
    t = [float(k) for k in range(40)]
    memory = {
        "title": "Top-k with and without memory",
        "x_label": "clock",
        "y_label": "|grad f|^2",
        "log_x": False,
        "log_y": True,
        "lines": [
            {"label": "with memory", "x": t, "y": [0.9**k for k in t], "kind": "measured"},
            {"label": "without", "x": t, "y": [1.08**k for k in t], "kind": "measured"},
            {"label": "ef-sgd-nonconvex", "x": t, "y": [3.0] * 40, "kind": "bound"},
        ],
    }
    base = {"theorem": "bsp-sc-const", "reason": "slope over n = 1 .. 32, 8 seeds", "name": "a"}
    held = {"claim": "n workers divide the noise by n", "predicted": -1.0, "measured": -0.999}
    failed = {"claim": "top-k keeps its bound with memory only", "predicted": 1.0, "measured": 4.5}
    nothing = {"claim": "a ring of two mixes", "predicted": None, "measured": None}
    return [
        base | held | {"low": -1.02, "high": -0.97, "outcome": "HOLDS", "series": [speedup]},
        base | failed | {"low": 4.1, "high": 4.9, "outcome": "FAILS", "series": [memory]},
        base | nothing | {"low": None, "high": None, "outcome": "UNDECIDED", "series": []},
    ]
