"""The doorway to bench/: `mpirun -np 32 python -m mpiddl.bench`.

It holds BLAS to one thread a rank, which must happen before NumPy is imported, and makes sure that
`bench` and `theory`, two common names, are the packages that came with mpiddl.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
QUEUE = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS"  # MPICH: cells of 64 KB that a rank maps
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
RANK = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")  # as launchers tell it


def stranger(name: str) -> str | None:
    """Return where the package `name` would come from, or None if it came with mpiddl."""
    spec = find_spec(name)
    if spec is None:
        return f"no folder {name} beside {HOME / 'mpiddl'}: install mpiddl again"
    if spec.origin and Path(spec.origin).resolve() == HOME / name / "__init__.py":
        return None
    place = spec.origin or ", ".join(spec.submodule_search_locations or ())
    return (
        f"another {name!r} is in the way: {place}. Rename it, or start from another folder, or "
        "leave the current folder out of the search: python -P -m mpiddl.bench"
    )


def refuse(message: str) -> int:
    """Say once, on rank 0, why bench cannot start; return the exit code on every rank."""
    if any(os.environ.get(name, "0") != "0" for name in RANK):
        time.sleep(1.0)  # a launcher may kill rank 0 unheard when another rank leaves first
    else:
        print(f"mpiddl.bench: {message}", file=sys.stderr, flush=True)
    return 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run bench with the options `argv` (default: the command line); return the exit code."""
    if __name__ == "__main__" and not __package__:
        return refuse("start it as a module: python -m mpiddl.bench")
    for name in THREADS:
        os.environ.setdefault(name, "1")
    os.environ.setdefault(QUEUE, "8")  # the default of 64 costs each of 32 ranks 10 MB
    for package in ("bench", "theory"):
        problem = stranger(package)
        if problem is not None:
            return refuse(problem)
    from bench.__main__ import main as bench

    return bench(argv)


if __name__ == "__main__":
    sys.exit(main())
