"""Look at the theorems and verify them: python -m theory {list, show NAME, verify}."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import sympy as sp
from rich.console import Console
from rich.table import Table

from theory.catalogue import THEOREMS
from theory.check import check
from theory.compressors import CONSTANTS
from theory.report import Report, as_json, table, verify
from theory.symbols import symbol
from theory.theorem import Theorem

# How a page writes the letters of formulas: sigma2 is the square of sigma, not its second index.
_GREEK = {
    symbol(letter): sp.Symbol(shown, positive=True)
    for letter, shown in {
        "sigma2": "sigma^2",
        "zeta2": "zeta^2",
        "R2": "R^2",
        "gam": "gamma",
        "lam": "lambda",
    }.items()
}


DIVIDES = "H divides T"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0 if all is well, 1 if a check failed."""
    options = _parser().parse_args(arguments)
    console = Console()
    if options.command == "list":
        console.print(_listed(), _compressors(), sep="\n")
        return 0
    if options.command == "show":
        _show(console, THEOREMS[options.name])
        return 0
    reports = _verified(console, options.names or list(THEOREMS), options.quick)
    if not options.quiet:
        _tell(console, reports)
    if options.json:
        text = json.dumps([as_json(report) for report in reports], indent=1, allow_nan=False)
        unfinished = options.json.with_name(options.json.name + ".tmp")
        unfinished.write_text(text + "\n", "utf-8")
        unfinished.replace(options.json)
    return 0 if all(report.ok for report in reports) else 1


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


def _show(console: Console, theorem: Theorem) -> None:
    """Print a theorem as a page: what it says, when, and how it is derived."""
    source = theorem.source
    reference = f" ({source.reference})" if source.reference else ""

    def line(title: str, text: object) -> None:
        console.print(f"{title:<11} {text}", markup=False, highlight=False)

    line("theorem", theorem.name)
    line("source", f"{source.authors}, {source.year}, {source.title}{reference}")
    line("statement", theorem.statement)
    for assumption in sorted(theorem.assumes, key=lambda one: one.name):
        line("assumes", assumption.value)
    for condition in theorem.requirements:
        line("condition", DIVIDES if condition.has(sp.Mod) else condition)
    line("bounds", theorem.measure.value)
    line("by", theorem.bound)
    drawn = sp.pretty(theorem.bound.subs(_GREEK, simultaneous=True), num_columns=console.width)
    console.print(drawn, markup=False, highlight=False)
    for letter, meaning in theorem.where.items():
        line("where", f"{letter} = {meaning}")
    if theorem.tuned is not None:
        tuned = theorem.tuned
        line("tuned gam", tuned.step)
        line("value", tuned.value)
        line("rate", f"T^({tuned.rate_T}) n^({tuned.rate_n})")
    report = check(theorem, mutants=False)
    line("", "steps: claim [why; proved by machine, sampled on random instances, or assumed]")
    for number, step in enumerate(report.steps, 1):
        line(f"step {number}", f"{step.claim}   [{step.because}; {step.status.value}]")
    for limit, proved in report.limits:
        here, there = _at(limit.substitution, "at"), _at(limit.target, "with")
        said = f"{here} {limit.kind.value} {limit.to} {there}".strip()
        line("limit", f"{said}; {'proved' if proved else 'FAILS'}")


def _at(values: Mapping[sp.Symbol, sp.Expr] | None, word: str) -> str:
    """Return ``at H = 1, zeta2 = 0``, or nothing for no values."""
    said = ", ".join(f"{letter} = {value}" for letter, value in (values or {}).items())
    return f"{word} {said}" if said else ""


if __name__ == "__main__":
    sys.exit(main())
