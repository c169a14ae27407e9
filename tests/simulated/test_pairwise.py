"""AD-PSGD against its recursion, in the order of the ledger; sums, orders, scripts, ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpiddl.architecture.meetings import partners
from mpiddl.architecture.pairwise import Pairwise
from mpiddl.architecture.topology import contraction
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.ledger import FIELDS, script_of
from mpiddl.optim import Seats
from mpiddl.optim.sgd import SGD
from mpiddl.problems import problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_stale_gossip import (
    GAM,
    NETWORK,
    column,
    displaced,
    early,
    job,
    models,
    paces,
    rows,
    told,
)
from tests.simulated.test_variants import Poisoned, bsp

ORDERS = 1000  # of messages, for 2 to 5 workers
LINES = [
    "asp / pairwise:ring / identity / whole",
    "asp / pairwise:complete / identity / layerwise",
    "asp:period=3 / pairwise:star / identity / whole",
    "asp / pairwise:path / fp16 / layerwise",
    "asp / pairwise:hypercube / topk:1 / whole",
]
every_line = pytest.mark.parametrize("line", LINES)


def asked(run):
    """Return by worker whom it asks after each of its clocks."""
    links = run.variant.architecture.links(run.ranks)
    return [one.tolist() for one in partners(links, run.problem.seed, run.all_clocks)]


def fp16(v):
    """Return v as float16 numbers mean it, scaled by the power of two below its largest entry."""
    exponent = 15 - np.frexp(np.abs(v).max())[1]
    return np.ldexp(np.ldexp(v, exponent).astype(np.float16).astype(np.float64), -exponent)


def recursion(run, services, share=0.5):
    """Return the models (n, d), and what their steps add up to, event by event as in the ledger."""
    code = fp16 if str(run.variant.channel) == "fp16" else np.copy
    learnt, n, whom = run.problem, run.ranks, asked(run)
    spans = [b.span for b in run.variant.schedule.plan(learnt.layout, 8).buckets]
    lanes, total = range(len(spans)), np.zeros(learnt.layout.size)
    live = np.tile(learnt.start(), (n, 1))  # the models
    read, step = live.copy(), {}  # as they were read; what the clock did
    said, answer = {}, {}
    past = {(lane, i): 0 for lane in lanes for i in range(n)}
    left = {
        place: column(rows(services, lane=place[0], place=place[1]), "choice").tolist()[::-1]
        for place in past
    }
    moved = True
    while moved:
        moved = False
        for (lane, i), events in left.items():
            span = spans[lane]
            while events:
                who, (clock, reads) = events[-1], divmod(past[lane, i], 2)
                if who != i:
                    if (lane, who) not in said or said[lane, who][0] != i:
                        break
                    half = code((live[i, span] - said.pop((lane, who))[1]) * share)
                    live[i, span] -= half
                    answer[lane, who] = half
                elif reads:
                    if whom[i]:
                        if (lane, i) not in answer:
                            break
                        live[i, span] += answer.pop((lane, i))
                    read[i, span] = live[i, span]
                    past[lane, i] += 1
                else:
                    if any(past[other, i] < past[lane, i] for other in lanes):
                        break
                    if (i, clock) not in step:
                        y = displaced(learnt, read[i], i, clock, run.variant.sync.period)
                        step[i, clock] = read[i] - y
                        total += step[i, clock]
                    live[i, span] -= step[i, clock][span]
                    if whom[i]:
                        said[lane, i] = whom[i][clock], code(live[i, span])
                    past[lane, i] += 1
                events.pop()
                moved = True
    assert not any(left.values())
    return live, total


def check_services(services, run):
    """Check every event; return how many meetings came between a gradient and its step, at most."""
    whom, lanes = asked(run), len(run.variant.schedule.plan(run.problem.layout, 8).buckets)
    delays = []
    for lane in range(lanes):
        place = [rows(services, lane=lane, place=i) for i in range(run.ranks)]
        answered = [(j, i, c) for i in range(run.ranks) for _, _, j, _, c, *_ in place[i] if j != i]
        assert sorted(answered) == sorted(
            (j, i, c) for j in range(run.ranks) for c, i in enumerate(whom[j])
        )
        for i in range(run.ranks):
            own = rows(place[i], choice=i)
            assert column(own, "clock").tolist() == [
                c for c in range(run.all_clocks[i]) for _ in "ab"
            ]
            pushed, met, before = 0, 0, 0
            for _, _, who, worker, clock, delay, stale, up, down in place[i].tolist():
                if who != i:
                    met += 1
                    behind = min(clock + 1, run.all_clocks[i]) - (pushed + 1) // 2
                    assert (worker, delay, stale) == (who, -1, max(0, behind))
                    assert up == down > 0
                    continue
                if pushed % 2:
                    assert (worker, delay, stale) == (whom[i][clock] if whom[i] else i, -1, -1)
                    before = met
                else:
                    assert (worker, delay, stale) == (i, met - before, -1)
                    delays.append(delay)
                assert up == down == 0
                pushed += 1
    return max(delays)


@every_line
@pytest.mark.parametrize("n", [1, 2, 4, 8])
@pytest.mark.parametrize("ends", [False, True])
def test_pairwise_averaging_is_its_recursion_and_keeps_the_sum(line, n, ends):
    run = job(line, n, 20, seed=n, ends=early(n, 20) if ends else None)
    results = simulate(run, NETWORK, shuffle=n)
    check_services(results[0].services, run)
    live, total = recursion(run, results[0].services)
    assert np.allclose(models(results), live, rtol=0, atol=1e-14)
    kept = n * run.problem.start() - total
    assert np.allclose(models(results).sum(axis=0), kept, rtol=0, atol=1e-13)


def test_the_comparison_notices_another_share_and_another_order():
    run = job(LINES[0], 5, 20)
    results = simulate(run, NETWORK, shuffle=1)
    services = results[0].services
    right, total = recursion(run, services)
    assert np.allclose(models(results), right, rtol=0, atol=1e-14)
    wrong, _ = recursion(run, services, share=0.4)
    assert not np.allclose(models(results), wrong, rtol=0, atol=1e-5)
    other = simulate(run, NETWORK, shuffle=2)
    assert not np.allclose(models(other), right, rtol=0, atol=1e-5)
    assert not np.allclose(models(results)[:4].sum(axis=0), 5 * run.problem.start() - total)


@every_line
def test_in_any_order_everyone_is_answered_and_the_run_can_be_made_again(line):
    late = 0
    for index in range(-(-ORDERS // len(LINES))):
        n, seed = 2 + index % 4, index // 4
        n = {3: 4, 5: 2}.get(n, n) if "hypercube" in line else n
        run = job(line, n, 4, seed, ends=early(n, 4) if index % 3 == 2 else None)
        with told(n, seed):
            results = simulate(run, NETWORK, shuffle=seed)
            services, curve = results[0].services, results[0].curve
            late = max(late, check_services(services, run))
            lanes = len(run.variant.schedule.plan(run.problem.layout, 8).buckets)
            assert curve["messages"][-1] == 2 * sum(run.all_clocks) * lanes
            assert curve["bytes"][-1] == rows(services)[:, 7:].sum()
            if index % 10 == 0:
                again = simulate(replace(run, script=script_of(services), compute=0.0))
                assert np.array_equal(models(again), models(results))
                assert np.array_equal(again[0].curve["loss"], curve["loss"])
    assert late >= 2


def test_the_checks_notice_a_wrong_row():
    run = job(LINES[0], 3)
    services = simulate(run, NETWORK, shuffle=1)[0].services
    check_services(services, run)
    changes = [services[1:], services[::-1]]
    for field, value in (("delay", 7), ("staleness", 7), ("clock", 5), ("choice", 2)):
        changes.append(services.copy())
        changes[-1][0, FIELDS.index(field)] = value
    for change in changes:
        with pytest.raises(AssertionError):
            check_services(change, run)


@every_line
def test_one_worker_is_serial_sgd_without_messages(line):
    run = job(line, 1, 12)
    result = simulate(run)[0]
    steps = 12 * run.variant.sync.period
    assert np.allclose(result.x, bsp(run.problem, 1, steps)[0], rtol=0, atol=1e-14)
    assert result.curve["messages"][-1] == result.curve["bytes"][-1] == 0


@every_line
def test_another_network_makes_the_same_run_by_its_script(line):
    run = job(line, 4, 12, ends=early(4, 12))
    once = simulate(run, NETWORK, shuffle=3)
    script = script_of(once[0].services)
    other = replace(run, script=script, compute=lambda worker, step: 1e-3 * (worker + 1))
    again = simulate(other, Network(1e-2, 1e-6), shuffle=8)
    for one, two in zip(once, again, strict=True):
        assert np.array_equal(one.x, two.x)
    for name in ("loss", "consensus2", "messages", "bytes"):
        assert once[0].curve[name][-1] == again[0].curve[name][-1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda script: {**script, (0, 1): [*script[0, 1], 1]}, "not for clocks"),
        (lambda script: {**script, (0, 7): [1]}, "not for clocks"),
        (lambda script: {**script, (0, 1): script[0, 1][::-1]}, "wait for each other for ever"),
        (lambda script: {**script, (0, 1): [*script[0, 1], 0]}, "wait for each other for ever"),
    ],
)
def test_a_script_that_cannot_be_followed_is_refused(change, says):
    run = job(LINES[0], 3)
    script = script_of(simulate(run, NETWORK, shuffle=1)[0].services)
    simulate(replace(run, script=script))
    with pytest.raises(ConfigurationError, match=says):
        simulate(replace(run, script=change(script)))


def test_a_script_of_another_seed_is_refused():
    run = job(LINES[1], 4)
    script = script_of(simulate(run)[0].services)
    other = replace(run, problem=problems["nc"](4, seed=2, d=6, layers=2), script=script)
    with pytest.raises(ConfigurationError, match="this seed has not"):
        simulate(other)


@pytest.mark.parametrize("channel", ["identity", "fp16"])
@pytest.mark.parametrize("graph", ["ring", "star"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_ends_the_run_on_all_ranks(channel, graph, value):
    learnt = Poisoned(problems["iso"](3, seed=0, layers=2), value)
    variant = Variant.parse(f"asp / pairwise:{graph} / {channel} / layerwise / sgd:{GAM}")
    run = Run(variant, learnt, 20, every=1, compute=paces(1))
    with pytest.raises(Diverged, match="clock") as error:
        simulate(run, NETWORK, shuffle=2)
    assert error.value.result.diverged == (1, 5)
    assert not np.isfinite(error.value.result.x).any()
    assert not np.isfinite(error.value.result.curve["loss"][-1])


@pytest.mark.filterwarnings("error")
@every_line
def test_gradients_of_zero_change_nothing(line):
    learnt = problems["nc"](4, seed=0, sigma2=0.0, radius=0.0, layers=2)
    variant = Variant.parse(f"{line} / sgd:{GAM}")
    assert not models(simulate(Run(variant, learnt, 5), NETWORK, shuffle=1)).any()


@every_line
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problems["nc"](4, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    variant = Variant.parse(f"{line} / sgd:{GAM}")
    here, there = (
        simulate(Run(variant, each, 8, compute=paces(2)), NETWORK, shuffle=2)
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for one, other in zip(here, there, strict=True):
        assert isinstance(other.x, FakeArray)
        assert np.array_equal(one.x, other.x.get())


def test_another_outer_optimizer_takes_the_meeting_as_its_direction():
    """With half a step outside, one worker makes half of its steps."""
    run = job(LINES[0], 1, 12)
    seats = Seats(SGD(GAM), SGD(0.5))
    half = simulate(replace(run, variant=replace(run.variant, seats=seats)))[0].x
    seats = Seats(SGD(GAM / 2), SGD(1))
    other = simulate(replace(run, variant=replace(run.variant, seats=seats)))[0].x
    assert np.allclose(half, other, rtol=0, atol=1e-14)


# ---------------------------------------------------------------------------- who meets whom


@pytest.mark.parametrize(("graph", "n"), [("ring", 8), ("complete", 5), ("star", 6), ("path", 2)])
def test_meetings_are_those_of_the_matrix_on_average(graph, n):
    (mean,) = Pairwise(graph).matrices(n)
    links = Pairwise(graph).links(n)
    found, count = np.zeros((n, n)), 0
    for i, whom in enumerate(partners(links, 3, [4000] * n)):
        for j in whom:
            e = np.eye(n)[i] - np.eye(n)[j]
            w = np.eye(n) - np.outer(e, e) / 2
            assert np.allclose(w.T @ w, w)
            found, count = found + w, count + 1
    assert np.allclose(found / count, mean, rtol=0, atol=6e-3)
    assert np.allclose(mean.sum(axis=0), 1)
    assert np.array_equal(mean, mean.T)


@pytest.mark.parametrize(("graph", "n"), [("ring", 8), ("complete", 5), ("hypercube", 8)])
def test_where_degrees_are_equal_rho_is_that_of_a_random_edge(graph, n):
    links = Pairwise(graph).links(n)
    laplacian = np.diag(links.sum(axis=1)) - links
    rho = 1 - np.linalg.eigvalsh(laplacian)[1] / links.sum()  # each edge is there twice
    assert np.isclose(contraction(Pairwise(graph).matrices(n)[0]), rho, rtol=0, atol=1e-12)


def test_choices_of_a_shorter_run_are_those_of_a_longer_one():
    links = Pairwise("complete").links(7)
    long, short = partners(links, 5, [40] * 7), partners(links, 5, [12] * 7)
    assert all(np.array_equal(one[:12], two) for one, two in zip(long, short, strict=True))
    assert len({tuple(one) for one in long}) == 7  # workers draw for themselves
    assert partners(links, 6, [40] * 7)[0].tolist() != long[0].tolist()


@pytest.mark.parametrize("graph", ["ring", "complete"])
def test_workers_that_differ_find_the_minimum_of_all_if_none_is_faster(graph):
    learnt = problems["het"](8, seed=0, sigma2=0.0, zeta2=1.0, spectrum=(0.5, 0.6, 0.8, 1.0))
    variant = Variant.parse(f"asp / pairwise:{graph} / identity / whole / sgd:0.02")
    run = Run(variant, learnt, 250, compute=1.0)
    slow = replace(
        run,
        compute=lambda worker, step: 1.0 + 9 * (worker < 2),
        ends=(25, 25, *[250] * 6),
    )
    even, uneven = (simulate(one, NETWORK, shuffle=1)[0].curve for one in (run, slow))
    start = even["distance2"][0]
    assert even["distance2"][-1] < 0.02 * start
    assert even["consensus2"][-1] < 0.1
    assert uneven["distance2"][-1] > 3 * even["distance2"][-1]  # the fast ones count more


@pytest.mark.parametrize("sync", ["bsp", "local:2", "ssp:2"])
def test_what_waits_is_refused_with_a_remedy(sync):
    with pytest.raises(ConfigurationError, match="use asp or asp:period=4"):
        simulate(job(f"{sync} / pairwise:ring / identity / whole", 4))


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ("exponential", "go one way: use another graph"),
        ("one_peer_exponential", "change from clock to clock: use another graph"),
    ],
)
def test_a_meeting_needs_links_both_ways_that_stay(graph, words):
    with pytest.raises(ConfigurationError, match=words.replace(":", ".*:", 1)):
        simulate(job(f"asp / pairwise:{graph} / identity / whole", 8))


@pytest.mark.parametrize("channel", ["ef+topk:0.1", "diff+topk:0.1", "topk:0.1", "qsgd:4", "sign"])
def test_words_that_lose_much_or_remember_are_refused_with_a_remedy(channel):
    with pytest.raises(ConfigurationError, match="use (identity|allreduce)"):
        simulate(job(f"asp / pairwise:ring / {channel} / whole", 4))


def test_a_graph_in_pieces_and_a_model_that_nobody_moves_are_refused(tmp_path):
    path = tmp_path / "pieces.txt"
    path.write_text("0 1\n2 3\n", "utf-8")
    with pytest.raises(ConfigurationError, match=r"nothing links \{0, 1\}, \{2, 3\}"):
        simulate(job(f"asp / pairwise:{path} / identity / whole", 4))
    line = "asp / pairwise:ring / identity / whole / none>sgd:0.1"
    with pytest.raises(ConfigurationError, match="inner optimizer"):
        simulate(Run(Variant.parse(line), problems["iso"](4, seed=0), 2))
