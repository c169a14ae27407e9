"""Programs that fail, and how soon their jobs end."""

from __future__ import annotations

import time

import pytest

from tests.launcher import WITHIN, Job, launch


@pytest.fixture
def ended(tmp_path):
    """Return what runs a program on several ranks and tells how it ended, soon after the fault.

    The program writes the file STARTED when the fault happens, if it does.
    """

    def run(program: str, ranks: int, *before: str, **extra: str) -> Job:
        file, started = tmp_path / "program.py", tmp_path / "started"
        file.write_text(program)
        job = launch(ranks, [*before, str(file)], 60, {"STARTED": str(started), **extra})
        if started.exists():
            assert time.time() - started.stat().st_mtime < WITHIN, job.all
        return job

    return run
