"""The page: its sections, in order, around tables and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.html import cells, costs, curves, evidence, graphs, tables
from bench.html.machine import Machine
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
    sections = [*_problems(bench, draws), *cells.section(bench.cells, draws)]
    sections += [*_claims(bench, draws), _graphs(bench)]
    sections += [*_staleness(bench, draws), *_costs(bench, draws)]
    links = (element("a", title, href=f"#{name}") for name, title, _ in sections)
    body = element(
        "body",
        element("header", element("h1", "mpiddl bench"), _summary(bench), _machine(bench.machine)),
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


def _machine(machine: Machine) -> Markup:
    """Return what ran on what; what the file does not say is left out."""
    run, network, hosts = machine.run, machine.run.network, machine.hosts.values()
    versions = {"mpiddl": machine.mpiddl, "Python": machine.python}
    versions |= {"NumPy": machine.numpy, "mpi4py": machine.mpi4py}
    where = f"{count(sum(host.cores for host in hosts), 'core')} on {count(len(hosts), 'host')}"
    facts = {
        "ranks": machine.ranks and str(machine.ranks),
        "machine": ", ".join(word for word in (hosts and where, machine.processor) if word),
        "MPI": machine.mpi,
        "software": ", ".join(f"{name} {found}" for name, found in versions.items() if found),
        "network of virtual time": network
        and f"{network.name}: {seconds(network.alpha)} a message, {seconds(network.beta)} a byte, "
        f"{seconds(network.gamma)} a byte added",
        "seeds of a claim": run.seeds and f"{run.seeds}, from {plain(run.seed)} on",
    }
    shared = (
        "Ranks share cores, so wall seconds compare nothing; virtual time, bytes and curves do."
    )
    pairs = (
        element("div", element("dt", name), element("dd", str(fact)))
        for name, fact in facts.items()
        if fact
    )
    note = element("p", shared, class_="note") if machine.oversubscribed else None
    return join([element("dl", *pairs), note])


def _problems(bench: Bench, draws: bool) -> Iterator[tuple[str, str, Markup]]:
    for number, name in enumerate(bench.problems, 1):
        rows = [row for row in bench.rows if row.problem == name]
        about = element("p", _about(bench, name, rows[0].target), class_="about")
        parts: list[Piece] = [about, tables.variants(rows, name, curves.gap_name(bench, name))]
        if draws:
            parts.append(curves.curves(bench, name))
        yield f"problem-{number}", name, join(parts)


def _about(bench: Bench, name: str, target: float | None) -> str:
    facts, gradient = bench.facts(name), bench.machine.run.gradient_seconds.get(name)
    f_star, meaning = facts.f_star, facts.target_meaning
    words = [
        f"d = {plain(facts.d)}; {plain(facts.n)} workers; {plain(facts.steps)} gradients each",
        None if gradient is None else f"{seconds(gradient)} a gradient",
        "f* unknown: gaps are losses" if f_star is None else f"f* = {f_star:.6g}",
        None if target is None else f"target: {scientific(target)}{meaning and f', {meaning}'}",
        facts.grid and f"step sizes tried: {', '.join(map(plain, facts.grid))}",
    ]
    return "; ".join(word for word in words if word) + "."


def _claims(bench: Bench, draws: bool) -> Iterator[tuple[str, str, Markup]]:
    if bench.verdicts:
        table = tables.verdicts(bench.verdicts)
        yield "claims", "Claims", join([table, evidence.claims(bench.verdicts) if draws else None])


def _graphs(bench: Bench) -> tuple[str, str, Markup]:
    ranks = bench.machine.ranks or 1
    about = (
        f"What gossip can run on, drawn for {graphs.RANKS} ranks. A mixing leaves at most λ "
        "= |W - J| of the distance between models, so disagreement lasts for about 1 / (1 - λ) "
        "clocks; 1 - λ is the spectral gap. Messages are those of one mixing, all ranks together."
    )
    drawn = graphs.graphs(ranks if ranks > 1 else None)
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
    ranks, network = bench.machine.ranks or 1, bench.machine.run.network
    if draws and network is not None and ranks > 1:
        about = (
            f"Time of an all-reduce of {ranks} ranks on {network.name}, by the formulas of "
            "theory.cost, over that of the fastest one. Thick lines are fastest at some length: "
            "few messages win while vectors are short, few bytes where they are long."
        )
        picture = costs.costs(ranks, network)
        yield "costs", "Collectives", join([element("p", about, class_="about"), picture])
