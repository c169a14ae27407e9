"""What must never depend on what, read from the imports.

`RULES` says what a file may import besides the standard library: the entry with the longest
prefix of the file's module name counts. `a.*` is a package and all below it, `a` that module only,
and with `!` in front it is forbidden; of the rules that fit an import the longest decides.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("mpiddl", "theory", "bench")
GROUND = ("mpiddl.arrays", "mpiddl.errors", "mpiddl.layout", "mpiddl.registry")
WORLDS = ("!mpiddl.comm.mpi", "!mpiddl.comm.guard", "!mpiddl.comm.simulated")
FLOOR = ("mpiddl.comm.*", *WORLDS, *GROUND, "numpy")
RULES: dict[str, tuple[str, ...]] = {
    # everyone stands on the ground
    "mpiddl.errors": (),
    "mpiddl.registry": ("mpiddl.errors",),
    "mpiddl.layout": ("mpiddl.errors",),
    "mpiddl.devices": ("mpiddl.errors", "numpy", "cupy", "cupyx"),
    "mpiddl.arrays": ("mpiddl.errors", "mpiddl.devices", "numpy"),
    # the floor: only the real communicator and the guard know MPI, only devices knows CuPy
    "mpiddl.comm": (*FLOOR, "!mpiddl.comm.collectives.*", "mpiddl.devices"),
    "mpiddl.comm.mpi": (*FLOOR, "mpiddl.comm.guard", "mpiddl.devices", "mpi4py"),
    "mpiddl.comm.guard": (*FLOOR, "mpi4py"),
    "mpiddl.comm.collectives": FLOOR,
    # the rooms do not know each other; only architecture hears messages
    "mpiddl.synchronization": (*GROUND, "numpy", "mpiddl.synchronization.*"),
    "mpiddl.compression": (*GROUND, "numpy", "mpiddl.compression.*"),
    "mpiddl.schedule": (*GROUND, "numpy", "mpiddl.schedule.*"),
    "mpiddl.optim": (*GROUND, "numpy", "mpiddl.optim.*"),
    "mpiddl.problems": (*GROUND, "numpy", "mpiddl.problems.*"),
    "mpiddl.stragglers": (*GROUND, "numpy", "mpiddl.stragglers.*"),
    "mpiddl.ledger": FLOOR,
    "mpiddl.replica": (*FLOOR, "mpiddl.optim"),
    "mpiddl.architecture": (
        *FLOOR,
        "mpiddl.architecture.*",
        "mpiddl.compression",
        "mpiddl.compression.channels",
        "mpiddl.ledger",
        "mpiddl.optim",
        "mpiddl.replica",
        "mpiddl.synchronization",
    ),
    # the loop, the recipes and the examples join the rooms
    "mpiddl": ("mpiddl.*", "numpy"),
    "mpiddl.bench": ("bench.*",),
    # the theory knows no run; bench is the only place where a bound meets a curve
    "theory": ("theory.*", "numpy", "sympy", "mpmath", "scipy", "rich"),
    "bench": (
        "bench.*",
        "theory.*",
        "mpiddl.*",
        "numpy",
        "sympy",
        "scipy",
        "rich",
        "matplotlib",
    ),
}
RULES["bench.speed.exchanges"] = (*RULES["bench"], "mpi4py")  # a bare loop is what it compares with
HEAVY = {"cupy", "matplotlib", "rich", "scipy", "sympy"}  # on rank 0 at most, and when needed


def module_of(path: Path) -> str:
    """Import name of the file at `path`, relative to the root."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(module: str, text: str, known: set[str], package: bool) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that `text` imports, inside functions too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: len(module.split(".")) - node.level + package]
            base = ".".join([*(parents if node.level else []), *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield node.lineno, inner if inner in known else base
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in ("import_module", "__import__"):
                yield node.lineno, str(node.args[0].value)


def fits(rule: str, name: str) -> bool:
    """Whether `rule`, without its `!`, speaks of the module `name`."""
    package = rule.removesuffix(".*")
    below = rule.endswith(".*") or package.partition(".")[0] not in PACKAGES
    return name == package or (below and name.startswith(f"{package}."))


def allowed(module: str, name: str) -> bool:
    """Whether `module` may import `name`."""
    if name.partition(".")[0] in sys.stdlib_module_names:
        return True
    room = max((key for key in RULES if f"{module}.".startswith(f"{key}.")), key=len)
    speaking = [rule for rule in RULES[room] if fits(rule.removeprefix("!"), name)]
    weight = [(len(rule.strip("!.*")), not rule.startswith("!")) for rule in speaking]
    return bool(weight) and max(weight)[1]  # of two that are equal, the permission


def violations(files: dict[Path, str]) -> list[str]:
    """Say which of `files` (path from the root, text) imports what it must not know."""
    known = {module_of(path) for path in files}
    return [
        f"{path}:{line} imports {name}"
        for path, text in files.items()
        for line, name in imports(module_of(path), text, known, path.name == "__init__.py")
        if not allowed(module_of(path), name)
    ]


def test_no_file_imports_what_it_must_not_know():
    paths = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    wrong = violations({path.relative_to(ROOT): path.read_text("utf-8") for path in paths})
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("mpiddl/train.py", "from mpi4py import MPI"),
        ("mpiddl/train.py", "import cupy as cp"),
        ("mpiddl/train.py", "import theory.cost"),
        ("mpiddl/train.py", "from bench import report"),
        ("mpiddl/train.py", "def f():\n    import scipy.special"),
        ("mpiddl/train.py", "import importlib\nimportlib.import_module('theory')"),
        ("mpiddl/comm/simulated.py", "import mpi4py.MPI"),
        ("mpiddl/comm/simulated.py", "from mpiddl.comm import mpi"),
        ("mpiddl/comm/guard.py", "from mpiddl.comm.mpi import MPICommunicator"),
        ("mpiddl/comm/engine.py", "from mpiddl.comm.collectives import ring"),
        ("mpiddl/comm/collectives/ring.py", "from mpiddl.comm.mpi import MPICommunicator"),
        ("mpiddl/comm/collectives/ring.py", "from mpiddl import optim"),
        ("mpiddl/comm/collectives/ring.py", "from ...schedule import Schedule"),
        ("mpiddl/compression/topk.py", "from mpiddl.comm import Communicator"),
        ("mpiddl/compression/topk.py", "from mpiddl.optim import Optimizer"),
        ("mpiddl/compression/topk.py", "from ..optim import Optimizer"),
        ("mpiddl/architecture/gossip.py", "from mpiddl.compression.topk import TopK"),
        ("mpiddl/architecture/gossip.py", "from mpiddl.compression import topk"),
        ("mpiddl/problems/quadratic.py", "import sympy"),
        ("theory/cost.py", "from mpiddl.comm import Count"),
        ("theory/cost.py", "import bench"),
        ("theory/cost.py", "import mpi4py"),
        ("bench/runner.py", "from mpi4py import MPI"),
    ],
)
def test_a_file_that_knows_too_much_is_reported(path: str, line: str):
    names = ("mpiddl/compression/topk.py", "mpiddl/optim/__init__.py", "mpiddl/comm/mpi.py")
    assert violations({Path(name): "" for name in names} | {Path(path): line})


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("mpiddl/train.py", "from mpiddl.compression.topk import TopK"),
        ("mpiddl/comm/mpi.py", "from mpi4py import MPI\nimport mpiddl.comm.guard"),
        ("mpiddl/comm/collectives/ring.py", "from mpiddl.comm.buffers import require_flat"),
        ("mpiddl/comm/__init__.py", "from . import engine"),
        ("mpiddl/compression/topk.py", "from mpiddl.compression import Compressor"),
        ("mpiddl/compression/topk.py", "from . import wire"),
        ("mpiddl/architecture/gossip.py", "from mpiddl.compression import Channel"),
        ("mpiddl/architecture/gossip.py", "from mpiddl.comm.collectives.ring import allreduce"),
        ("mpiddl/optim/sgd.py", "import numpy.typing"),
        ("bench/runner.py", "from mpiddl.train import run\nimport theory.cost"),
    ],
)
def test_a_file_that_knows_its_place_is_not_reported(path: str, line: str):
    names = ("mpiddl/comm/engine.py", "mpiddl/compression/wire.py")
    assert not violations({Path(name): "" for name in names} | {Path(path): line})


@pytest.mark.parametrize(
    ("module", "absent"),
    [("mpiddl", HEAVY | {"numpy", "mpi4py"}), ("bench.__main__", HEAVY), ("bench.console", HEAVY)],
)
def test_starting_a_rank_imports_nothing_that_rank_0_alone_needs(module: str, absent: set[str]):
    if not (ROOT / f"{module.replace('.', '/')}.py").exists() and module != "mpiddl":
        pytest.skip(f"{module} is not written yet")
    show = f"import sys, {module}; print(*sorted({absent!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert not run.stdout.strip(), f"import {module} loads {run.stdout}"
