"""Tests that run on several ranks at once: one voice, one fate, one communicator per test.

`tests/test_mpi.py` starts them; by hand: mpirun -np 4 python -m pytest tests/mpi --with-mpi.
All ranks run the same tests in the same order. Only rank 0 reports. A test that fails on all ranks
fails; one that fails on some prints their traces and ends the job, as the others would wait for
them for ever. A skip must be decided alike on all ranks.
"""

from __future__ import annotations

import os
import sys

import pytest

GRACE = 2.0  # seconds in which ranks that fail alike do so


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--with-mpi", default=False):
        from mpi4py import MPI  # not at import: the outer pytest must not start MPI

        config.pluginmanager.register(Together(MPI.COMM_WORLD.Dup()))


class Together:
    """What makes n pytest processes one."""

    def __init__(self, world) -> None:
        self.world = world

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if self.world.rank:
            reporter = session.config.pluginmanager.getplugin("terminalreporter")
            reporter._tw._file = open(os.devnull, "w")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item):
        from mpiddl.comm.aside import patient

        report = yield
        if report.failed and not patient(self.world.Ibarrier(), GRACE):
            where = f"{item.nodeid} failed on rank {self.world.rank} of {self.world.size} only"
            print(f"{where}\n{report.longreprtext}", file=sys.__stderr__, flush=True)
            self.world.Abort(1)
        return report


@pytest.fixture
def comm():
    """All ranks, with lanes and traffic of this test's own."""
    from mpiddl.comm.mpi import MPICommunicator

    with MPICommunicator() as ours:
        yield ours


@pytest.fixture
def run(comm):
    """Return what drives a task of this rank to its end and returns its value."""
    from mpiddl.comm.engine import Engine

    return Engine(comm).run
