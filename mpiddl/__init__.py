"""mpiddl: distributed SGD over MPI, from scratch, with the theory that predicts it.

    import mpiddl
    problem = mpiddl.problem("breast_cancer", workers=4, seed=0)
    variant = mpiddl.Variant.parse("bsp / allreduce / ef+topk:0.1 / whole / sgd:0.1")
    job = mpiddl.Run(variant, problem, clocks=100)
    results = mpiddl.simulate(job)      # in one process
    result = mpiddl.run(job)            # under mpirun -np 4

Names are imported when they are first used, so that a rank loads only what it runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "MPICommunicator": "mpiddl.comm.mpi",
    "Network": "mpiddl.comm.simulated",
    "Result": "mpiddl.train",
    "Run": "mpiddl.train",
    "Variant": "mpiddl.variant",
    "allreduce": "mpiddl.reduction",
    "guard": "mpiddl.comm.guard",
    "problem": "mpiddl.problems",
    "run": "mpiddl.train",
    "simulate": "mpiddl.train",
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mpiddl' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
