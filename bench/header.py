"""The header of a run: on what it ran, for the screen and for machine.json.

Seconds mean something only where every rank has a core of its own; the header says when not.
Counts, bytes and curves do not depend on it.
"""

from __future__ import annotations

import os
import platform
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import mpiddl

__all__ = ["Place", "describe", "lines", "peak", "place"]

Place: TypeAlias = tuple[str, tuple[int, ...]]  # host name, the cores on which a rank may run


def place() -> Place:
    """Return where this rank runs; to be gathered on rank 0."""
    try:
        cores = tuple(sorted(os.sched_getaffinity(0)))
    except AttributeError:  # not Linux
        cores = tuple(range(os.cpu_count() or 1))
    return platform.node(), cores


def peak() -> float:
    """Return the most memory that this rank has held so far, in MB."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = (row.partition(":")[2].strip() for row in text.splitlines() if "model name" in row)
    return next(names, platform.machine())


def _blas_threads() -> int | None:
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    return None


def describe(library: str, thread_level: str, places: Sequence[Place]) -> dict[str, Any]:
    """Return the header of a run, ready for JSON.

    Parameters
    ----------
    library : str
        Name and version of the MPI library, one line.
    thread_level : str
        The level of thread support that MPI gave.
    places : sequence of Place
        What `place` returned on each rank, in rank order.

    Returns
    -------
    dict
        Under "hosts" the ranks and cores per host: a launcher may bind each rank to one core, so
        the cores of a host are those that any of its ranks may use. "oversubscribed" says whether
        some host has more ranks than cores. "blas_threads" is None where nobody has set it.
    """
    from importlib.metadata import version  # a heavy module, and only rank 0 comes here

    cores: defaultdict[str, set[int]] = defaultdict(set)
    ranks: defaultdict[str, int] = defaultdict(int)
    for host, own in places:
        cores[host].update(own)
        ranks[host] += 1
    return {
        "mpi": library,
        "thread_level": thread_level,
        "ranks": len(places),
        "hosts": {host: {"ranks": ranks[host], "cores": len(cores[host])} for host in ranks},
        "oversubscribed": any(ranks[host] > len(cores[host]) for host in ranks),
        "blas_threads": _blas_threads(),
        "mpiddl": mpiddl.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "mpi4py": version("mpi4py"),
        "processor": _processor(),
        "system": platform.platform(),
    }


def lines(header: dict[str, Any]) -> list[str]:
    """Return the header as two lines of text, and a third where ranks share cores."""
    hosts = header["hosts"]
    cores = sum(host["cores"] for host in hosts.values())
    threads = header["blas_threads"] or "unset"
    counts = {"rank": header["ranks"], "core": cores, "host": len(hosts)}
    where = ", ".join(f"{count} {thing}{'s' * (count > 1)}" for thing, count in counts.items())
    text = [
        f"mpiddl {header['mpiddl']} | {header['mpi']} ({header['thread_level']}) | "
        f"Python {header['python']}, NumPy {header['numpy']}, mpi4py {header['mpi4py']}",
        f"{where} | {header['processor']} | BLAS threads a rank: {threads}",
    ]
    if header["oversubscribed"]:
        text.append(
            f"{header['ranks']} ranks on {cores} cores: seconds are not comparable; "
            "counts, bytes and curves are"
        )
    return text
