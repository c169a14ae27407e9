"""What a run leaves on disk: JSON that is either whole or not there, and never half written."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

__all__ = ["ready", "write", "write_text"]


def plain(value: Any) -> Any:
    """Return `value` as JSON knows it: NaN and infinity become null, tuples lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def write(path: Path, value: Any) -> None:
    """Write `value` as JSON to `path`: beside it first, then in its place.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    write_text(path, json.dumps(plain(value), indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as `write` does."""
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def ready(folder: Path) -> str | None:
    """Make `folder` and try to write there; return None, or why it cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"--out {folder} cannot be written: {error.strerror or error}"
