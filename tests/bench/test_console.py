"""Terminals as a person meets them: a pty of our own, a pipe, and launchers in between."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RANK = "os.environ.get('PMI_RANK', os.environ.get('OMPI_COMM_WORLD_RANK', '0'))"
SHOW = f"""
import os, sys
rank = {RANK}
import bench.console
from bench.console import Progress, open_console
bench.console.REDRAW = 0.0
console = open_console() if rank == "0" else None
with Progress(console) as progress:
    for name in ("one", "two [b]"):
        progress.stage(name, 3)
        for _ in range(3):
            progress.advance()
if console:
    console.print("width", console.width)
assert rank == "0" or "rich" not in sys.modules
"""
CONTROL = b"\x1b"
HIDE_CURSOR = b"\x1b[?25l"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def environment(**more: str) -> dict[str, str]:
    drop = ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in drop}
    wanted = {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    return kept | wanted | AS_ROOT | more


def on_terminal(*command: str, columns: int = 77, **more: str) -> bytes:
    """Run `command` in a terminal of its own; return all that appears there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(**more),
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how Linux says that nobody writes there any more
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0, shown.decode()
    return shown


def in_pipe(*command: str, **more: str) -> bytes:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(**more),
        timeout=60,
        check=True,
    ).stdout


def beneath(folder: Path, name: str, inner: str) -> tuple[str, ...]:
    """Run the shell command `inner` beneath a stand-in for the launcher `name`."""
    (folder / name).symlink_to("/bin/sh")  # a process is called as it was started
    (folder / "inner.sh").write_text(f"{inner}\n:\n")
    return ("/bin/sh", "-c", '"$0" "$1"; :', str(folder / name), str(folder / "inner.sh"))


def script(folder: Path) -> str:
    (folder / "show.py").write_text(SHOW)
    return f"'{sys.executable}' '{folder / 'show.py'}'"


PLAIN = b"one (3)\ntwo [b] (3)\n"


def is_live(shown: bytes) -> bool:
    return b"\x1b[2K" in shown and b"two [b] " in shown and b" 1/3" in shown


def test_a_terminal_shows_a_live_bar_of_its_width_and_keeps_the_cursor():
    shown = on_terminal(sys.executable, "-c", SHOW)
    assert is_live(shown)
    assert b"width 77" in shown
    assert HIDE_CURSOR not in shown
    assert shown.endswith(b"\n")


def test_a_narrow_terminal_never_wraps_the_bar():
    shown = on_terminal(sys.executable, "-c", SHOW, columns=20)
    for line in shown.decode().split("\r\x1b[2K"):
        letters = "".join(part.partition("m")[2] for part in f"m{line}".split("\x1b["))
        assert len(letters.splitlines()[0] if letters else "") < 20


def test_a_pipe_gets_one_plain_line_a_stage():
    shown = in_pipe(sys.executable, "-c", SHOW)
    assert shown == PLAIN + b"width 100\n"


@pytest.mark.parametrize("refusal", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_a_terminal_that_wants_no_control_codes_gets_none(refusal: dict[str, str]):
    shown = on_terminal(sys.executable, "-c", SHOW, **refusal)
    assert CONTROL not in shown
    assert shown.replace(b"\r\n", b"\n").startswith(PLAIN)


@pytest.mark.parametrize("name", ["mpirun", "hydra_pmi_proxy", "prterun"])
def test_a_launcher_that_gives_a_pipe_is_seen_through(tmp_path: Path, name: str):
    command = beneath(tmp_path, name, f"{script(tmp_path)} | cat")
    assert is_live(on_terminal(*command))
    assert CONTROL not in in_pipe(*command)


def test_any_other_program_that_gives_a_pipe_is_not(tmp_path: Path):
    assert CONTROL not in on_terminal(*beneath(tmp_path, "tee", f"{script(tmp_path)} | cat"))


@pytest.mark.parametrize("elsewhere", ["> {}", "| cat > {}"])
def test_a_shell_beneath_the_launcher_may_send_the_output_elsewhere(tmp_path: Path, elsewhere: str):
    log = tmp_path / "log"
    (tmp_path / "shell.sh").write_text(f"{script(tmp_path)} {elsewhere.format(log)}\n:\n")
    inner = f"sh '{tmp_path / 'shell.sh'}'"
    assert not on_terminal(*beneath(tmp_path, "mpirun", inner))
    assert log.read_bytes() == PLAIN + b"width 100\n"


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun on the PATH")
def test_under_mpirun_rank_0_alone_draws_on_the_terminal_that_started_it():
    command = ("mpirun", "-np", "2", sys.executable, "-c", SHOW)
    shown = on_terminal(*command)
    assert is_live(shown)
    assert shown.count(b"width 77") == 1
    assert in_pipe(*command) == PLAIN + b"width 100\n"
