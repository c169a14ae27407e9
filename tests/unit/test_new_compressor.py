"""A new compressor is one file: put into the room it is found by name, and by the generic tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mpiddl.examples.my_compressor as example

ROOT = Path(__file__).parents[2]
SHIM = """
import sys
import pytest
import mpiddl.compression
mpiddl.compression.__path__.append(sys.argv[1])
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", "my_random_k", *sys.argv[2:]]))
"""


def test_a_file_in_the_room_is_found_and_tested(tmp_path):
    (tmp_path / "my_random_k.py").write_text(Path(example.__file__).read_text("utf-8"), "utf-8")
    tests = ["tests/unit/test_compressors.py", "tests/unit/test_channels.py"]
    ended = subprocess.run(
        [sys.executable, "-c", SHIM, str(tmp_path), *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stdout
    assert " passed" in ended.stdout
