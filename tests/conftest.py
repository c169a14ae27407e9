"""What all tests share."""

from __future__ import annotations

import gc

import pytest
from hypothesis import settings

# The same examples on every rank and every day: an example that fails on one rank alone hangs all.
settings.register_profile("mpiddl", derandomize=True, database=None, deadline=None)
settings.load_profile("mpiddl")


def pytest_ignore_collect(collection_path, config: pytest.Config) -> bool | None:
    """Leave tests/mpi to test_mpi.py, which starts it under mpirun with --with-mpi."""
    inside = collection_path == config.rootpath / "tests" / "mpi"
    return True if inside and not config.getoption("--with-mpi", default=False) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests that start mpirun, and watch how long it takes to end, run one after the other."""
    for item in items:
        if "launch" in item.path.parts or item.path.stem == "test_mpi":
            item.add_marker(pytest.mark.xdist_group("mpirun"))


def pytest_collection_finish() -> None:
    """Let tidying up look at what tests make, not at the tests themselves: they are many."""
    gc.collect()
    gc.freeze()
