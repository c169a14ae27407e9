"""Sizes: a file that cannot be read in one sitting is two files. `make size` prints the table."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("mpiddl", "theory", "bench")
FILE, ALGORITHM, FUNCTION = 220, 120, 40
ALGORITHMS = (
    "mpiddl/architecture",
    "mpiddl/comm/collectives",
    "mpiddl/compression",
    "mpiddl/optim",
    "mpiddl/schedule",
    "mpiddl/synchronization",
)
# Algorithm files that may be as long as any other file, and why.
LONGER: dict[str, str] = {}


def limit(path: str) -> int:
    """Lines that the file at `path` may have; a room's __init__ is its page, not an algorithm."""
    folder, _, name = path.rpartition("/")
    algorithm = folder in ALGORITHMS and name != "__init__.py" and path not in LONGER
    return ALGORITHM if algorithm else FILE


def functions(text: str) -> list[tuple[str, int]]:
    """Name and length, docstring included, of every function in `text`."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return [(node.name, (node.end_lineno or 0) - node.lineno + 1) for node in found]


def excesses(path: str, text: str) -> list[str]:
    """Say what in the file at `path` is too long."""
    lines = len(text.splitlines())
    over = [f"{path}: {lines} lines, at most {limit(path)}"] if lines > limit(path) else []
    for name, length in functions(text):
        if length > FUNCTION:
            over.append(f"{path}: {name} has {length} lines, at most {FUNCTION}")
    return over


def sources() -> dict[str, str]:
    """Every Python file of the three packages: path from the root, text."""
    files = sorted(file for name in PACKAGES for file in (ROOT / name).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in files}


def table() -> str:
    """Lines of every file against its limit, then of every package."""
    texts = sources()
    sizes = {path: len(text.splitlines()) for path, text in texts.items()}
    rows = [f"{lines:6d} /{limit(path):4d}  {path}" for path, lines in sizes.items()]
    for package in PACKAGES:
        own = [lines for path, lines in sizes.items() if path.startswith(f"{package}/")]
        rows.append(f"{sum(own):6d}        {package}: {len(own)} files")
    return "\n".join(rows)


def test_every_file_and_function_is_within_its_budget():
    over = [line for path, text in sources().items() for line in excesses(path, text)]
    assert not over, "\n".join(over)


def test_the_list_of_longer_files_is_up_to_date():
    for path, reason in LONGER.items():
        lines = len((ROOT / path).read_text("utf-8").splitlines())
        assert reason
        assert ALGORITHM < lines <= FILE, f"{path} has {lines} lines: off the list"


def test_what_is_too_long_is_reported():
    body = "\n".join(["    pass"] * FUNCTION)
    assert not excesses("bench/a.py", "x = 1\n" * FILE)
    assert excesses("bench/a.py", "x = 1\n" * (FILE + 1))
    assert not excesses("mpiddl/optim/__init__.py", "x = 1\n" * (ALGORITHM + 1))
    assert excesses("mpiddl/optim/sgd.py", "x = 1\n" * (ALGORITHM + 1))
    assert excesses("theory/a.py", f"class A:\n  def f():\n{body}\n")
    assert not excesses("theory/a.py", f"def f():\n{body}\n".removesuffix("    pass\n"))


if __name__ == "__main__":
    print(table())
