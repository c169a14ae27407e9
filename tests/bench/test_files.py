from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.files import ready, write


def test_what_is_written_is_read_back_and_nan_is_null(tmp_path: Path):
    write(tmp_path / "a.json", {"x": [1, 2.5, float("nan")], "y": (float("inf"), "text", None)})
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == {
        "x": [1, 2.5, None],
        "y": [None, "text", None],
    }


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path):
    path = tmp_path / "a.json"
    write(path, 1)
    with pytest.raises(TypeError):
        write(path, object())
    assert json.loads(path.read_text("utf-8")) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_rename_leaves_nothing_behind(tmp_path: Path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path / "a.json", 1)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_made_and_tried(tmp_path: Path):
    assert ready(tmp_path / "new" / "folder") is None
    assert not list((tmp_path / "new" / "folder").iterdir())


def test_a_folder_that_cannot_be_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in str(ready(tmp_path / "file"))
    assert str(tmp_path / "file" / "x") in str(ready(tmp_path / "file" / "x"))
