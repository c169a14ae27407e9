"""bench as a command; `mpiddl/bench.py` is its doorway.

All ranks read the command line; then they run what was asked for. Rank 0 alone judges, draws and
writes while the others wait, asleep, at the end of the guarded block.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mpiddl.comm.guard import guard

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run bench with the options `argv` (default: the command line).

    Leaves by SystemExit on all ranks if help was asked for (0), usage is bad (2), a claim fails
    or something differs that must not (1); returns 0 else.
    """
    with guard():
        from importlib import import_module

        from bench.cli import COMMANDS, parse

        options = parse(sys.argv[1:] if argv is None else argv)
        module, _, function = COMMANDS[options.command].where.partition(":")
        getattr(import_module(module), function)(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
