"""Look at the theorems and verify them: python -m theory {list, show NAME, verify}."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.table import Table

from theory.catalogue import THEOREMS
from theory.compressors import CONSTANTS
from theory.outcomes import all_objections
from theory.page import show
from theory.report import Report, as_json, table, verify


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0 if all is well, 1 if a check failed."""
    options = _parser().parse_args(arguments)
    console = Console()
    if options.command == "list":
        console.print(_listed(), _compressors(), sep="\n")
        console.print(
            "omega: E|C(v) - v|^2 <= omega |v|^2, C unbiased; delta: E|C(v) - v|^2 <= (1 - delta) "
            "|v|^2; k of b entries are sent, s levels",
            markup=False,
        )
        return 0
    if options.command == "show":
        show(console, THEOREMS[options.name])
        return 0
    reports = _verified(console, options.names or list(THEOREMS), options.quick)
    if not options.quiet:
        _tell(console, reports)
    if options.json:
        text = json.dumps([as_json(report) for report in reports], indent=1, allow_nan=False)
        unfinished = options.json.with_name(options.json.name + ".tmp")
        unfinished.write_text(text + "\n", "utf-8")
        unfinished.replace(options.json)
    wrong = [] if options.names else all_objections()
    for problem in wrong:
        console.print(problem, markup=False)
    return 0 if all(report.ok for report in reports) and not wrong else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m theory", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="one line per theorem")
    show = commands.add_parser("show", help="statement, conditions, derivation and limits")
    show.add_argument("name", choices=list(THEOREMS), metavar="NAME")
    check_all = commands.add_parser("verify", help="derive, run, and try to break the theorems")
    check_all.add_argument("names", nargs="*", metavar="NAME", help="all by default")
    check_all.add_argument("--json", type=Path, metavar="FILE", help="write every number here")
    check_all.add_argument("--quick", action="store_true", help="without mutants and slopes")
    check_all.add_argument("--quiet", action="store_true", help="progress only, no table")
    return parser


def _listed() -> Table:
    listed = Table("theorem", "bounds", "source")
    for name, theorem in THEOREMS.items():
        source = f"{theorem.source.authors} {theorem.source.year}"
        listed.add_row(name, theorem.measure.value, source)
    listed.columns[0].no_wrap = True
    return listed


def _compressors() -> Table:
    listed = Table("compressor", "of all vectors of b entries", "attained by")
    for name, constant in CONSTANTS.items():
        listed.add_row(name, str(constant), constant.attained or "-")
    return listed


def _verified(console: Console, names: Sequence[str], quick: bool) -> list[Report]:
    """Verify with a live line on a terminal, plain lines in a pipe."""
    strange = [name for name in names if name not in THEOREMS]
    if strange:
        known = ", ".join(THEOREMS)
        print(f"no theorem {', '.join(strange)}; there are: {known}", file=sys.stderr)
        raise SystemExit(2)
    reports = []
    with console.status("verifying") if console.is_terminal else nullcontext() as status:
        for report in verify(names, quick):
            reports.append(report)
            if status is None:
                print(f"{report.name}: {'holds' if report.ok else 'FAILS'}", flush=True)
            else:
                status.update(f"verified {report.name}, {len(reports)} of {len(names)}")
    return reports


def _tell(console: Console, reports: Sequence[Report]) -> None:
    """Print the table, then what is not as it must be."""
    console.print(table(reports))
    for report in reports:
        for problem in report.problems:
            console.print(f"{report.name}: {problem}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
