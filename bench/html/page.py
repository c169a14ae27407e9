"""The page: its sections, in order, around tables and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.html import costs, curves, evidence, graphs, tables
from bench.html.markup import Markup, Piece, element, join
from bench.html.material import Bench
from bench.html.numbers import count, plain, scientific, seconds
from bench.html.pictures import can_draw
from bench.html.svg import swatch

__all__ = ["page"]

REMEDY = (
    "Pictures are missing: matplotlib is not installed. Install it with "
    'pip install "mpiddl[report]" and make the page again with '
    "python -m mpiddl.bench report DIR."
)
READING = (
    "Every variant is tried with every step size of its grid, and the table shows it at the best "
    "one. Curves are those of a simulator of the network named above, which sends the same bytes "
    "and computes the same numbers as MPI does; where a run was also made under MPI, the table "
    "says whether its curve is the same to the bit. Bands and brackets are 95 % intervals over "
    "seeds, at claims three standard errors. Bytes are counted where they are handed over and "
    "compared with their formula. A claim HOLDS where its interval agrees with theory, FAILS "
    "where it does not, and is UNDECIDED where the interval is too wide to tell."
)


def page(bench: Bench) -> str:
    """Return the whole page as text."""
    style = Markup((Path(__file__).parent / "style.css").read_text("utf-8"))
    draws = can_draw()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", "mpiddl bench"),
        element("style", style),
    )
    sections = [*_problems(bench, draws), *_claims(bench, draws), _graphs(bench)]
    sections += [*_staleness(bench, draws), *_costs(bench, draws)]
    links = (element("a", title, href=f"#{name}") for name, title, _ in sections)
    body = element(
        "body",
        element("header", element("h1", "mpiddl bench"), _summary(bench), _machine(bench)),
        element("p", READING, class_="reading"),
        _colours() if draws else None,
        None if draws else element("p", REMEDY, class_="notice", role="alert"),
        element("nav", *links, aria_label="sections"),
        element(
            "main",
            *(
                element("section", element("h2", title), content, id=name)
                for name, title, content in sections
            ),
        ),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _colours() -> Markup:
    """Return what the colours of curves mean."""
    entries = (
        element("li", swatch(colour, ""), element("span", when))
        for when, colour in curves.WHEN.items()
    )
    about = "Curves: colour says when workers speak, a number marks the best, grey are the others"
    return element("ul", element("li", about), *entries, class_="legend colours")


def _summary(bench: Bench) -> Markup:
    outcomes = Counter(one.outcome for one in bench.verdicts)
    names = {row.name for row in bench.rows}
    words = f"{count(len(names), 'variant')} on {count(len(bench.problems), 'problem')}, "
    words += count(len(bench.verdicts), "claim")
    badges = [
        element("span", tables.badge(outcome), f" {many}") for outcome, many in outcomes.items()
    ]
    return element("p", words, *badges, class_="summary")


def _machine(bench: Bench) -> Markup:
    """Return what ran on what; what the file does not say is left out."""
    machine, run = bench.machine, bench.run
    hosts = [host for host in (machine.get("hosts") or {}).values() if isinstance(host, dict)]
    cores = sum(host.get("cores", 0) for host in hosts)
    network = run.get("network") or {}
    software = [
        f"{label} {machine[key]}"
        for key, label in (("mpiddl", "mpiddl"), ("python", "Python"), ("numpy", "NumPy"))
        if key in machine
    ]
    facts: dict[str, Any] = {
        "ranks": machine.get("ranks"),
        "machine": " ".join(
            [
                count(cores, "core"),
                f"on {count(len(hosts), 'host')},",
                str(machine.get("processor", "")),
            ]
        ),
        "MPI": machine.get("mpi"),
        "software": ", ".join(
            [*software, *([f"mpi4py {machine['mpi4py']}"] if "mpi4py" in machine else [])]
        ),
        "network of virtual time": network
        and f"{network.get('name')}: {seconds(network.get('alpha'))} a message, "
        f"{seconds(network.get('beta'))} a byte, {seconds(network.get('gamma'))} a byte added",
        "seeds": run and f"{run.get('seeds')}, from {run.get('seed')} on",
    }
    shared = (
        "Ranks share cores, so wall seconds compare nothing; virtual time, bytes and curves do."
        if machine.get("oversubscribed")
        else None
    )
    pairs = [
        element("div", element("dt", name), element("dd", str(fact)))
        for name, fact in facts.items()
        if fact
    ]
    return join([element("dl", *pairs), shared and element("p", shared, class_="note")])


def _problems(bench: Bench, draws: bool) -> Iterator[tuple[str, str, Markup]]:
    for number, name in enumerate(bench.problems, 1):
        rows = [row for row in bench.rows if row.problem == name]
        about = element("p", _about(bench, name), class_="about")
        parts: list[Piece] = [about, tables.variants(rows, name)]
        if draws:
            parts.append(curves.curves(bench, name))
        yield f"problem-{number}", name, join(parts)


def _about(bench: Bench, name: str) -> str:
    facts, spent = bench.facts(name), bench.run.get("gradient_seconds")
    gradient = spent.get(name) if isinstance(spent, dict) else None
    f_star, target = facts.get("f_star"), facts.get("target")
    words = [f"d = {plain(facts.get('d'))}", f"{plain(facts.get('n'))} workers"]
    words.append(f"{plain(facts.get('steps'))} gradients each")
    if gradient is not None:
        words.append(f"{seconds(gradient)} a gradient")
    words.append("f* unknown: gaps are losses" if f_star is None else f"f* = {f_star:.6g}")
    if target is not None:
        words.append(f"target: a gap of {scientific(target)}")
    grid = facts.get("grid") or []
    if grid:
        words.append(f"step sizes tried: {', '.join(f'{step:g}' for step in grid)}")
    return "; ".join(words) + "."


def _claims(bench: Bench, draws: bool) -> Iterator[tuple[str, str, Markup]]:
    if bench.verdicts:
        table = tables.verdicts(bench.verdicts)
        yield "claims", "Claims", join([table, evidence.claims(bench.verdicts) if draws else None])


def _graphs(bench: Bench) -> tuple[str, str, Markup]:
    ranks = bench.machine.get("ranks")
    about = (
        f"What gossip can run on, drawn for {graphs.RANKS} ranks. A mixing leaves at most λ "
        "= |W - J| of the distance between models, so disagreement lasts for about 1 / (1 - λ) "
        "clocks; 1 - λ is the spectral gap. Messages are those of one mixing, all ranks together."
    )
    drawn = graphs.graphs(ranks if isinstance(ranks, int) and ranks > 1 else None)
    return "graphs", "Graphs", join([element("p", about, class_="about"), drawn])


def _staleness(bench: Bench, draws: bool) -> Iterator[tuple[str, str, Markup]]:
    if bench.replays and draws:
        about = (
            "How old what workers computed with was, over all pushes that servers took in; dots "
            "are the mean. A pull may miss clocks of the slowest worker (staleness), and other "
            "workers push before the gradient that was taken there arrives (delay)."
        )
        parts: list[Piece] = [element("p", about, class_="about")]
        for problem in dict.fromkeys(replay.problem for replay in bench.replays):
            own = [replay for replay in bench.replays if replay.problem == problem]
            summary = element("summary", f"{problem}: {count(len(own), 'run')}")
            first = len(parts) == 1  # the others are read on demand
            parts.append(element("details", summary, evidence.staleness(own), open=first))
        yield "staleness", "Staleness", join(parts)


def _costs(bench: Bench, draws: bool) -> Iterator[tuple[str, str, Markup]]:
    ranks, network = bench.machine.get("ranks"), bench.run.get("network")
    if draws and isinstance(network, dict) and isinstance(ranks, int) and ranks > 1:
        about = (
            f"Virtual time of an all-reduce on {network.get('name')}, by the formulas of "
            "theory.cost. Thick lines are fastest at some length: few messages win while vectors "
            "are short, few bytes where they are long."
        )
        picture = costs.costs(ranks, network)
        yield "costs", "Collectives", join([element("p", about, class_="about"), picture])
