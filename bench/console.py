"""What a person sees while bench runs: rank 0's terminal, and what is under way.

Launchers stand between a rank and the terminal: MPICH gives it a pipe even in a terminal, Open MPI
a terminal of its own even into a file. So rank 0 asks the launcher above it where *its* output
goes. There is a live bar in a terminal, and elsewhere, or if TERM=dumb or NO_COLOR is set, one
plain line a stage. The bar never hides the cursor, so there is nothing to restore after Ctrl-C.

Rank 0 alone calls `open_console`, which imports rich; the others use `Progress(None)`.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import sys
import time
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Progress", "open_console"]

# As /proc names them, in 15 letters at most.
LAUNCHERS = {
    *("hydra_pmi_proxy", "hydra_bstrap_pr", "mpirun", "mpiexec", "mpiexec.hydra"),
    *("prterun", "prte", "prted", "orterun", "orted"),
}
WIDTH = 100  # columns where there is no terminal to ask
BAR = 30  # columns of the bar
REDRAW = 0.1  # seconds between two drawings of the bar


def _ancestors() -> list[tuple[int, str]]:
    """Return number and name of this process, its parent, and so on up, as Linux tells them."""
    found: list[tuple[int, str]] = []
    pid = os.getpid()
    while pid > 1:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")
        found.append((pid, name.partition("(")[2]))
        pid = int(rest.split()[1])
    return found


def outlet() -> str:
    """Return the path of what this run prints to: the output of the outermost launcher above.

    It is this process's own output where no launcher is above, where a shell in between sent the
    output elsewhere, and where /proc does not tell.
    """
    own = "/dev/stdout"
    try:
        family = _ancestors()
        first = next(i for i, (_, name) in enumerate(family) if name in LAUNCHERS)
        given = os.readlink(f"/proc/{family[first - 1][0]}/fd/1")
        if os.readlink("/proc/self/fd/1") != given or stat.S_ISREG(os.fstat(1).st_mode):
            return own
    except (OSError, ValueError, IndexError, StopIteration):
        return own
    launchers = takewhile(lambda member: member[1] in LAUNCHERS, family[first:])
    return f"/proc/{list(launchers)[-1][0]}/fd/1"


def open_terminal() -> TextIO | None:
    """Return the terminal in which the run was started, or None if it prints elsewhere."""
    if os.environ.get("TERM", "dumb") == "dumb" or os.environ.get("NO_COLOR"):
        return None
    try:
        where = os.open(outlet(), os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        return None
    if not os.isatty(where):
        os.close(where)
        return None
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a rank is no foreground job; it may write
    return os.fdopen(where, "w", errors="replace")


def open_console() -> Console:
    """Return a rich console on the terminal of the run, or a plain one on standard output."""
    from rich.console import Console

    terminal = open_terminal()
    if terminal is None:
        columns = shutil.get_terminal_size((WIDTH, 24)).columns
        return Console(
            file=sys.stdout, force_terminal=False, color_system=None, width=columns, highlight=False
        )
    columns = os.get_terminal_size(terminal.fileno()).columns or 80
    return Console(file=terminal, force_terminal=True, width=columns, highlight=False)


class Progress:
    """What is under way: a live bar in a terminal, one line a stage elsewhere, or nothing.

    Parameters
    ----------
    console : Console or None
        Where to show it; None on the ranks that show nothing.
    """

    def __init__(self, console: Console | None) -> None:
        self._console = console
        self._name, self._done, self._total = "", 0, 0
        self._began = self._drawn = 0.0

    def stage(self, name: str, total: int) -> None:
        """Begin the stage `name` of `total` parts; the one before has ended."""
        self.clear()
        self._name, self._done, self._total = name, 0, total
        self._began, self._drawn = time.monotonic(), 0.0
        if self._console is not None and not self._console.is_terminal:
            self._console.print(f"{name} ({total})", markup=False)
        self.advance(0)

    def advance(self, parts: int = 1) -> None:
        """Note that `parts` more of the stage are done."""
        self._done += parts
        now = time.monotonic()
        if self._console is None or not self._console.is_terminal or now < self._drawn + REDRAW:
            return
        from rich.text import Text

        filled = BAR * min(self._done, self._total) // max(self._total, 1)
        line = Text.assemble(
            f"{self._name} ",
            ("━" * filled, "green"),
            ("━" * (BAR - filled), "bright_black"),
            f" {self._done}/{self._total} {now - self._began:.0f} s",
        )
        line.truncate(self._console.width - 1)
        self.clear()
        self._console.print(line, end="", no_wrap=True)
        self._drawn = now

    def clear(self) -> None:
        """Take the bar away, so that something else can be printed; `advance` draws it again."""
        if self._drawn and self._console is not None:
            from rich.control import Control
            from rich.segment import ControlType

            erase = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))
            self._console.control(erase)
            self._drawn = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()
