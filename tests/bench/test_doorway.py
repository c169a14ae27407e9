from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def start(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("name", ["bench", "theory"])
@pytest.mark.parametrize("kind", ["module", "package"])
def test_a_stranger_in_the_way_is_named_and_not_run(tmp_path: Path, name: str, kind: str):
    file = tmp_path / (f"{name}.py" if kind == "module" else f"{name}/__init__.py")
    file.parent.mkdir(exist_ok=True)
    file.write_text("print('hijacked')")
    run = start(tmp_path, "-m", "mpiddl.bench", "--help")
    assert run.returncode == 2
    assert str(file) in run.stderr
    assert "python -P -m mpiddl.bench" in run.stderr
    assert not run.stdout


def test_started_as_a_file_it_says_how_to_start_it(tmp_path: Path):
    run = start(tmp_path, str(ROOT / "mpiddl" / "bench.py"))
    assert run.returncode == 2
    assert "python -m mpiddl.bench" in run.stderr


@pytest.mark.parametrize("variable", ["PMI_RANK", "OMPI_COMM_WORLD_RANK"])
def test_only_rank_0_complains(tmp_path: Path, variable: str):
    file = str(ROOT / "mpiddl" / "bench.py")
    first, second = (start(tmp_path, file, **{variable: rank}) for rank in "01")
    assert first.returncode == second.returncode == 2
    assert first.stderr
    assert not second.stderr


def test_blas_is_held_to_one_thread_before_numpy_comes(tmp_path: Path):
    show = (
        "import os, sys, mpiddl.bench as door\n"
        "assert 'numpy' not in sys.modules\n"
        "door.stranger = lambda name: 'stop here'\n"
        "os.environ.pop('OMP_NUM_THREADS', None)\n"
        "os.environ['MKL_NUM_THREADS'] = '3'\n"
        "assert door.main([]) == 2\n"
        "assert os.environ['OMP_NUM_THREADS'] == '1'\n"
        "assert os.environ['MKL_NUM_THREADS'] == '3'\n"
    )
    run = start(tmp_path, "-c", show)
    assert run.returncode == 0, run.stderr
