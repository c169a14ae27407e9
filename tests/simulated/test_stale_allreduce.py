"""All-reduces that come late, or that some begin: recursions, bounds, any order, scripts, costs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from mpiddl.architecture.calls import Calls
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Deadlock, Diverged
from mpiddl.ledger import FIELDS, SHOWN, script_of
from mpiddl.problems import problem, problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_variants import Poisoned, bsp, sign, topk
from theory.cost import ALLGATHER, ALLREDUCE, eager
from theory.wire import PAYLOAD

GAM, D, LAYERS, W = 0.125, 6, 2, 8
NETWORK = Network(alpha=1e-5, beta=1e-9)
MODEL = ("loss", "grad_norm2", "consensus2", "distance2", "accuracy")
ORDERS = 1000  # of messages, for 2 to 5 workers
EAGER = [
    "ssp:2 / allreduce:quorum=solo / identity / layerwise",
    "ssp:1 / allreduce:quorum=majority / ef+topk:0.4 / layerwise",
    "ssp:2 / allreduce:quorum=2 / identity / whole",
    "asp / allreduce:quorum=solo / identity / whole",
    "asp:period=2 / allreduce:quorum=majority / identity / layerwise",
]


def paces(seed):
    """Return how long gradients take: at random, some workers slower than others."""
    rng = np.random.default_rng(seed)
    table = rng.exponential(0.3, (8, 64)) * rng.choice([0.1, 1, 3], (8, 1))
    return lambda worker, step: float(table[worker, step % 64])


def job(line, n, clocks=6, seed=0, rate=GAM, **options):
    made = problem("nc", n, seed=1, d=D, layers=LAYERS, zeta2=0.5)
    variant = Variant.parse(f"{line} / sgd:{rate}")
    return Run(variant, made, clocks, every=2, **{"compute": paces(seed), **options})


def early(n, clocks):
    """Return ends where the last worker makes half of the clocks."""
    return (*[clocks] * (n - 1), clocks // 2) if n > 1 else (clocks,)


def models(results):
    return np.array([result.x for result in results])


@contextmanager
def told(n, seed):
    """Tell which order failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{n} workers, shuffle={seed}")
        raise


def orders():
    """Yield (workers, seed): as many orders for each of 2 to 5 workers."""
    for index in range(ORDERS):
        yield 2 + index % 4, index // 4


def displaced(learnt, x, worker, start, steps):
    """Return what `worker` says after some steps alone from x (d,), and in what direction."""
    y, g = x.copy(), np.empty_like(x)
    for step in range(start, start + steps):
        for _ in learnt.gradient(y, learnt.batch(worker, step), g):
            pass
        y -= GAM * g
    return x - y


def spans_of(run):
    return [bucket.span for bucket in run.variant.schedule.plan(run.problem.layout, W).buckets]


# ------------------------------------------------------------------- Pipe-SGD: everything is late

PIPELINED = {
    "identity": (lambda v: v, 0, 0),
    "ef+topk:0.4": (lambda v: topk(v, 0.4), 1, 0),
    "topk:0.4": (lambda v: topk(v, 0.4), 0, 0),
    "sign": (sign, 0, 0),
    "diff+topk:0.4": (lambda v: topk(v, 0.4), 0, 1),
}


def pipelined(run, s, code=lambda v: v, memory=0, refers=0):
    """Return x (d,): what all say in a clock, in the words of `code`, is applied s clocks later."""
    learnt, n, period = run.problem, run.problem.workers, run.variant.sync.period
    x, e, h = learnt.start(), np.zeros((n, D)), np.zeros((n, D))
    means = []
    for clock in range(run.clocks):
        for worker in range(n):
            v = displaced(learnt, x, worker, clock * period, period)
            for span in spans_of(run):
                p = v[span] + e[worker, span] - refers * h[worker, span]
                said = code(p)
                e[worker, span] = memory * (p - said)
                h[worker, span] = refers * h[worker, span] + said
        means.append(h.mean(axis=0))
        if clock >= s:
            x = x - means[clock - s]
    for mean in means[max(0, run.clocks - s) :]:
        x = x - mean
    return x


@pytest.mark.parametrize("words", PIPELINED)
@pytest.mark.parametrize("plan", ["whole", "layerwise"])
@pytest.mark.parametrize("s", [0, 1, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_pipe_sgd_is_its_recursion(words, plan, s, n):
    code, memory, refers = PIPELINED[words]
    inner = f"sgd:{GAM}>sgd:1"  # what is said are displacements
    made = problem("nc", n, seed=1, d=D, layers=LAYERS, zeta2=0.5)
    run = Run(Variant.parse(f"ssp:{s} / allreduce / {words} / {plan} / {inner}"), made, 20)
    found = models(simulate(run, NETWORK, shuffle=4))
    expected = pipelined(run, s, code, memory, refers)
    assert (found == found[0]).all()
    assert np.allclose(found[0], expected, rtol=0, atol=1e-14)
    if s:
        assert not np.allclose(pipelined(run, s - 1, code, memory, refers), expected, atol=1e-6)


@pytest.mark.parametrize("collective", ["naive", "ring", "tree", "double_tree", "torus"])
def test_pipe_sgd_with_gradients_and_every_collective(collective):
    run = job(f"ssp:2 / allreduce:{collective} / identity / layerwise", 4, 20)
    found = models(simulate(run, NETWORK, shuffle=1))
    assert (found == found[0]).all()
    assert np.allclose(found[0], pipelined(run, 2), rtol=0, atol=1e-14)


def test_pipe_sgd_with_several_steps_a_clock():
    run = job("ssp:1,period=3 / allreduce / identity / whole", 3, 10)
    found = models(simulate(run, NETWORK))
    assert np.allclose(found, pipelined(run, 1), rtol=0, atol=1e-14)


@pytest.mark.parametrize("words", ["randk:0.5", "randk:0.5,mask=shared", "qsgd:3", "diff+qsgd:3"])
def test_draws_that_are_under_way_at_once_are_not_mixed_up(words):
    """Where nobody moves, s changes nothing that is said: only when it is applied."""
    made = problem("het", 3, seed=1, sigma2=0.0, zeta2=1.0, spectrum=(1e-9,) * D)
    found = [
        models(
            simulate(Run(Variant.parse(f"ssp:{s} / allreduce / {words} / whole / sgd:1"), made, 9))
        )
        for s in (0, 2)
    ]
    assert np.allclose(found[0], found[1], rtol=0, atol=1e-7)
    assert (found[1] == found[1][0]).all()
    assert found[0].any()


@pytest.mark.parametrize("plan", ["whole", "layerwise"])
def test_no_staleness_is_bsp_and_one_worker_is_sgd_that_comes_late_to_the_bit(plan):
    zero, plain = (
        models(simulate(job(f"{sync} / allreduce / identity / {plan}", 4)))
        for sync in ("ssp:0", "bsp")
    )
    assert np.array_equal(zero, plain)
    run = job(f"ssp:2 / allreduce / identity / {plan}", 1, 12)
    x, gs = [run.problem.start()], []
    for t in range(12):
        gs.append(np.empty(D))
        for _ in run.problem.gradient(x[t], run.problem.batch(0, t), gs[t]):
            pass
        x.append(x[t] - GAM * gs[t - 2] if t >= 2 else x[t].copy())
    last = x[-1] - GAM * gs[10]
    last -= GAM * gs[11]
    assert np.array_equal(models(simulate(run, NETWORK))[0], last)


def test_step_sizes_of_pipe_sgd_are_those_of_the_clock_that_is_applied():
    run = job("ssp:2 / allreduce / identity / whole", 1, 8, rate="0.1@decay:1")
    flat = problem("het", 1, seed=0, sigma2=0.0, spectrum=(1e-12,) * D, zeta2=0.0)
    run = replace(run, problem=flat)
    start = flat.start()
    g = np.empty(D)
    for _ in flat.gradient(start, flat.batch(0, 0), g):
        pass
    expected = start - g * sum(0.1 / (t + 1) for t in range(8))
    assert np.allclose(models(simulate(run))[0], expected, rtol=1e-9)


@pytest.mark.parametrize(
    "line",
    [
        "ssp:1 / allreduce / identity / layerwise",
        "ssp:3 / allreduce:ring / diff+topk:0.4 / layerwise",
    ],
)
def test_pipe_sgd_is_the_same_in_every_order(line):
    expected = {n: simulate(job(line, n), NETWORK) for n in range(2, 6)}
    for n, seed in orders():
        with told(n, seed):
            found = simulate(job(line, n, seed=seed), NETWORK, shuffle=seed)
            assert np.array_equal(models(found), models(expected[n]))
            one, other = found[0].curve, expected[n][0].curve
            assert all(np.array_equal(one[name], other[name], equal_nan=True) for name in MODEL)
            assert one["bytes"][-1] == other["bytes"][-1]
            assert one["messages"][-1] == other["messages"][-1]


def test_all_reduces_travel_while_gradients_are_computed():
    cost = ALLREDUCE["ring"].at(n=4, b=8, w=W, al=NETWORK.alpha, be=NETWORK.beta)
    made = problem("nc", 4, seed=1, d=8)
    taken = {}
    for s in (0, 1, 2):
        line = f"ssp:{s} / allreduce:ring / identity / whole / sgd:0.1"
        run = Run(Variant.parse(line), made, 10, every=10, compute=cost.time * 1.5)
        taken[s] = simulate(run, NETWORK)[0].curve["seconds"][-1]
    assert taken[0] == pytest.approx(10 * 2.5 * cost.time)
    assert taken[1] == pytest.approx(taken[2]) == pytest.approx((10 * 1.5 + 1) * cost.time)


# -------------------------------------------------------------------- eager-SGD: some begin


def rows(services, **fixed):
    """Return the rows of exchanges, those with the values `fixed`."""
    chosen = services[services[:, 0] != SHOWN]
    for field, value in fixed.items():
        chosen = chosen[chosen[:, FIELDS.index(field)] == value]
    return chosen


def column(services, field):
    return services[:, FIELDS.index(field)]


def choices(services, run):
    """Return by lane: clocks after each round (rounds + 1, n), and rounds in x at all pulls."""
    n, found = run.problem.workers, []
    for lane in range(len(spans_of(run))):
        said = [column(rows(services, lane=lane, place=i), "choice") for i in range(n)]
        read = [column(rows(services, lane=lane, place=n + i), "choice").tolist() for i in range(n)]
        found.append((np.vstack([np.zeros(n, int), np.array(said).T]), read))
    return found


def slowest(counts, ends):
    return min((count for count, end in zip(counts, ends, strict=True) if count < end), default=99)


def recursion(run, services, code=lambda v: v, memory=0):
    """Return x (d,): every round applies what the ledger says is in it, taken where it says."""
    learnt, n, period = run.problem, run.problem.workers, run.variant.sync.period
    made, spans = choices(services, run), spans_of(run)
    x = [[learnt.start()[span]] for span in spans]  # by lane and round
    e = np.zeros((n, D))
    outer, rate = run.variant.seats.outer, 1.0
    moved = True
    while moved:
        moved = False
        for lane, (said, _) in enumerate(made):
            r = len(x[lane]) - 1
            if r == len(said) - 1 or not known(made, x, said[r + 1]):
                continue
            total = np.zeros_like(x[lane][0])
            for i in range(n):
                v = np.zeros(D)
                if said[r + 1, i] > said[r, i]:
                    clock = int(said[r, i])
                    at = [0 if clock == 0 else read[i][clock - 1] for _, read in made]
                    y = np.concatenate([line[k] for line, k in zip(x, at, strict=True)])
                    v = displaced(learnt, y, i, clock * period, period)
                p = v[spans[lane]] + e[i, spans[lane]]
                word = code(p)
                e[i, spans[lane]] = memory * (p - word)
                total += word
            if run.variant.seats.inner is None:
                rate = outer.at(int(said[r].sum()) // n) / GAM
            x[lane].append(x[lane][r] - rate * total / n)
            moved = True
    assert [len(line) for line in x] == [len(said) for said, _ in made]
    return np.concatenate([line[-1] for line in x])


def known(made, x, counts):
    """Whether the models are there at which these clocks' gradients were taken."""
    for i, many in enumerate(counts):
        for lane, (_, read) in enumerate(made):
            if many > 1 and read[i][many - 2] >= len(x[lane]):
                return False
    return True


@pytest.mark.parametrize(
    ("line", "code", "memory"),
    [
        ("asp / allreduce:quorum=solo / identity", lambda v: v, 0),
        ("ssp:1 / allreduce:quorum=majority / identity", lambda v: v, 0),
        ("ssp:2,period=2 / allreduce:ring,quorum=3 / identity", lambda v: v, 0),
        ("asp / allreduce:quorum=majority / ef+topk:0.4", lambda v: topk(v, 0.4), 1),
        ("ssp:2 / allreduce:quorum=solo,gather=ring / sign", sign, 0),
    ],
)
@pytest.mark.parametrize("plan", ["whole", "layerwise"])
@pytest.mark.parametrize("ends", [False, True])
def test_eager_sgd_is_its_recursion_by_the_ledger(line, code, memory, plan, ends):
    n, clocks = 4, 12
    run = job(f"{line} / {plan}", n, clocks, 3, ends=early(n, clocks) if ends else None)
    results = simulate(run, NETWORK, shuffle=5)
    services, x = results[0].services, models(results)
    assert (x == x[0]).all()
    assert np.allclose(x[0], recursion(run, services, code, memory), rtol=0, atol=1e-14)
    pulls = np.flatnonzero((services[:, 0] == 0) & (services[:, 1] == n + 1))
    services[pulls[3], 2] -= 1  # the comparison notices a gradient that is taken elsewhere
    assert not np.allclose(x[0], recursion(run, services, code, memory), rtol=0, atol=1e-9)


def test_step_sizes_of_eager_sgd_are_those_of_the_clocks_that_are_in():
    run = job("asp / allreduce:quorum=solo / identity / whole", 3, 10, rate="0.125@sqrt")
    results = simulate(run, NETWORK, shuffle=5)
    assert len(choices(results[0].services, run)[0][0]) > 15
    expected = recursion(run, results[0].services)
    assert np.allclose(models(results), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("line", EAGER)
def test_one_worker_is_serial_sgd_to_the_bit(line):
    if "ef+" in line or "quorum=2" in line:
        pytest.skip("not alone, or not all that there is to say")
    run = job(line, 1, 20)
    steps = 20 * run.variant.sync.period
    exact = bsp(run.problem, 1, steps)
    close = np.array_equal if run.variant.seats.inner is None else np.allclose
    assert close(models(simulate(run, NETWORK)), exact)


def need(run):
    quorum, n = run.variant.architecture.quorum, run.problem.workers
    return {"solo": 1, "majority": n // 2 + 1}.get(quorum, quorum)


def check_services(services, run):
    """Check who began rounds, whose clocks are in, and what pulls missed; return the most."""
    s, ends, n, worst = run.variant.sync.staleness, run.all_clocks, run.problem.workers, 0
    for lane, (said, read) in enumerate(choices(services, run)):
        assert set(np.diff(said, axis=0).ravel()) <= {0, 1}
        assert tuple(said[-1]) == ends
        for before, after in zip(said, said[1:], strict=False):
            news = after[after > before]
            assert news.size
            behind = [f for f, end in zip(after, ends, strict=True) if f < min(news) and f < end]
            assert news.size >= need(run) or news.size + len(behind) < need(run)
        for i in range(n):
            mine = rows(services, lane=lane, place=n + i)
            assert column(mine, "clock").tolist() == [*range(ends[i])]
            assert (np.diff([0, *read[i], len(said) - 1]) >= 0).all()
            for c, rounds in enumerate(read[i]):
                assert said[rounds, i] == c + 1  # its own are in
                missing = max(0, c + 1 - slowest(said[rounds], ends))
                assert column(mine, "staleness")[c] == missing <= s
                worst = max(worst, missing)
            assert slowest(said[read[i][-1]], ends) >= ends[i]  # the last pull asks for all
            joins = rows(services, lane=lane, place=i)
            at = [0, *read[i]]
            for r, (clock, delay) in enumerate(joins[:, [4, 5]].tolist()):
                new = said[r + 1, i] > said[r, i]
                assert clock == said[r + 1, i] - 1
                assert delay == (r - at[clock] if new else -1)
    return worst


def priced(run, services):
    """Return messages and bytes of a run, by the formulas of theory.cost."""
    n, words = run.problem.workers, run.variant.channel.compressor
    messages = total = 0
    for span, (said, _) in zip(spans_of(run), choices(services, run), strict=True):
        b = span.stop - span.start
        if words.linear:
            mean, b, w = ALLREDUCE[run.variant.architecture.collective], b, W
        else:
            mean, b, w = ALLGATHER["bruck"], int(PAYLOAD["topk"](b, W, words.ratio)), 1
        cost = eager(mean, sum(run.all_clocks[1:]), len(said) - 1).at(n=n, b=b, w=w)
        messages, total = messages + cost.messages, total + cost.bytes
    return messages, total


@pytest.mark.parametrize("line", EAGER)
def test_eager_sgd_keeps_its_promises_in_any_order(line):
    attained = 0
    for n, seed in orders():
        run = job(line, n, 4, seed, ends=early(n, 4) if seed % 2 else None)
        with told(n, seed):
            results = simulate(run, NETWORK, shuffle=seed)
            x, services, curve = models(results), results[0].services, results[0].curve
            assert (x == x[0]).all()
            attained = max(attained, check_services(services, run))
            if seed % 10 < 2:  # sympy takes its time
                assert (curve["messages"][-1], curve["bytes"][-1]) == priced(run, services)
    assert attained == min(run.variant.sync.staleness, 3)  # the last pull waits for all


def wide(quorum, seed):
    made = problem("nc", 5, seed=1, d=10, layers=5, zeta2=0.5)
    line = f"asp / allreduce:quorum={quorum} / identity / layerwise / sgd:0.1"
    return Run(Variant.parse(line), made, 4, every=4, compute=paces(seed))


@pytest.mark.parametrize("quorum", [3, 4])
def test_many_lanes_do_not_wait_for_each_other_for_ever(quorum):
    for seed in range(60):
        with told(5, seed):
            run = wide(quorum, seed)
            check_services(simulate(run, NETWORK, shuffle=seed)[0].services, run)


def test_they_would_if_a_quorum_counted_on_who_waits_in_another_lane(monkeypatch):
    def hoping(self):
        news = [p for p, count in zip(self.pushed, self.counts, strict=True) if p > count]
        if not news or len(news) >= self.quorum:
            return bool(news)
        all_ = zip(self.pushed, self.counts, self.clocks, strict=True)
        return len(news) + sum(p <= count and p < end for p, count, end in all_) < self.quorum

    monkeypatch.setattr(Calls, "_enough", hoping)
    with pytest.raises(Deadlock):
        simulate(wide(4, 0), NETWORK, shuffle=0)


def test_the_checks_notice_a_wrong_row():
    run = job(EAGER[1], 3)
    services = simulate(run, NETWORK, shuffle=1)[0].services
    check_services(services, run)
    for field, by in (("choice", 1), ("staleness", 1), ("delay", 1), ("clock", 1)):
        for place in (1, 4):
            wrong = services.copy()
            if (field, place) in (("staleness", 1), ("delay", 4)):
                continue  # says nothing there
            at = np.flatnonzero((wrong[:, 0] == 0) & (wrong[:, 1] == place))[2]
            wrong[at, FIELDS.index(field)] += by
            with pytest.raises((AssertionError, IndexError)):
                check_services(wrong, run)
    curve = simulate(run, NETWORK, shuffle=1)[0].curve
    assert curve["messages"][-1] != priced(replace(run, clocks=7), services)[0]


def test_a_majority_is_waited_for_and_one_alone_is_not():
    begun = {}
    for quorum in ("solo", "majority", 5):
        run = job(f"asp / allreduce:quorum={quorum} / identity / whole", 5, 20, 2)
        (said, _), *_ = choices(simulate(run, NETWORK)[0].services, run)
        begun[quorum] = len(said) - 1
    assert begun["solo"] > begun["majority"] > begun[5] >= 20


def test_a_slow_worker_does_not_hold_up_the_others():
    """The time until all have made so many clocks together."""
    taken = {}
    for line in ("bsp / allreduce", *(f"asp / allreduce:quorum={q}" for q in ("solo", "majority"))):
        run = job(
            f"{line} / identity / whole",
            8,
            20,
            compute=lambda worker, step: 10.0 if worker == 3 else 1.0,
        )
        curve = simulate(run, NETWORK)[0].curve
        taken[line] = curve["seconds"][curve["clock"] == 10][0]
    assert taken["bsp / allreduce"] >= 100
    assert taken["asp / allreduce:quorum=solo"] < 13
    assert taken["asp / allreduce:quorum=majority"] < 13


# -------------------------------------------------------------------------------- scripts


def same(one, other):
    assert np.array_equal(models(one), models(other))
    for name in MODEL:
        assert np.array_equal(one[0].curve[name], other[0].curve[name], equal_nan=True)
    for name in ("bytes", "messages"):
        assert one[0].curve[name][-1] == other[0].curve[name][-1]
    first, second = (  # of different lanes and places rows may come in any order
        each[0].services[np.lexsort((each[0].services[:, 1], each[0].services[:, 0]))]
        for each in (one, other)
    )
    assert np.array_equal(first, second)


@pytest.mark.parametrize("line", EAGER)
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("ended", [False, True])
def test_a_run_is_made_again_by_its_script_on_any_network(line, n, ended):
    run = job(line, n, 9, n, ends=early(n, 9) if ended else None)
    once = simulate(run, NETWORK, shuffle=3)
    again = replace(run, script=script_of(once[0].services))
    for network, shuffle, compute in (
        (Network(0.0, 0.0), None, 0.0),
        (Network(1e-2, 1e-4), None, paces(8)),
        (NETWORK, 9, lambda worker, step: 5.0 * (worker == 0)),
    ):
        same(once, simulate(replace(again, compute=compute), network, shuffle=shuffle))
    if need(run) < n:  # else all begin every round
        other = simulate(run, Network(0.0, 0.0))
        assert not np.array_equal(models(once), models(other))


def changed(script, place, change):
    return {**script, place: change(list(script[place]))}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: {p: c for p, c in s.items() if p != (0, 4)}, "has 0 choices for place 4"),
        (lambda s: changed(s, (0, 1), lambda c: c[:-1]), "choices for place 1"),
        (lambda s: changed(s, (0, 9), lambda c: [1]) if (0, 9) in s else {**s, (0, 9): [1]}, "9"),
        (lambda s: changed(s, (0, 1), lambda c: [*c[:-2], c[-1], c[-2] - 1]), "go back"),
        (lambda s: changed(s, (0, 4), lambda c: [c[1], c[0], *c[2:]]), "go back"),
        (lambda s: changed(s, (0, 4), lambda c: [*c[:-1], c[-1] + 1]), "go back, or too far"),
        (lambda s: {p: [*c, c[-1]] if p[1] < 3 else c for p, c in s.items()}, "do not end"),
        (lambda s: changed(s, (0, 4), lambda c: [0, *c[1:]]), "too old"),
        (lambda s: changed(s, (0, 4), lambda c: [c[-1]] * len(c)), "for ever"),
        (lambda s: changed(s, (0, 1), lambda c: [5] * len(c)), "too old|for ever"),
    ],
)
def test_a_script_that_cannot_be_followed_is_refused(change, says):
    run = job("ssp:2 / allreduce:quorum=solo / identity / whole", 3, 5)
    script = script_of(simulate(run, NETWORK, shuffle=2)[0].services)
    simulate(replace(run, script=script))
    with pytest.raises(ConfigurationError, match=says):
        simulate(replace(run, script=change(script)))


# ------------------------------------------------------------------- refusals, divergence, devices


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bsp / allreduce:quorum=solo", "nothing may be missing"),
        ("local:4 / allreduce:quorum=majority", "leave quorum=majority out"),
        ("ssp:0 / allreduce:quorum=2", "nothing may be missing"),
        ("asp / allreduce", "allreduce:quorum=solo"),
        ("asp:period=4 / allreduce:ring", "nobody waits"),
        ("ssp:2 / allreduce:quorum=5", "5 ranks never come where there are 4"),
        ("ssp:2 / allreduce:native,quorum=solo", "another than native"),
        ("ssp:5000 / allreduce", "than there are tags"),
        ("ssp:2 / allreduce:quorum=most", "a quorum is all, majority, solo or a number"),
        ("ssp:2 / allreduce:quorum=0", "at least 1"),
        ("ssp:2 / allreduce:quorum=1.5", "a number of ranks"),
        ("ssp:2 / allreduce:quorum=yes", "a number of ranks"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        simulate(Run(Variant.parse(f"{line} / identity / whole / sgd:0.1"), problem("iso", 4), 2))


def test_a_pair_of_optimizers_needs_rounds_that_all_begin():
    line = "{} / identity / whole / quasi_global:0.1"
    fine = Variant.parse(line.format("ssp:2 / allreduce"))
    simulate(Run(fine, problem("iso", 3), 4))
    with pytest.raises(ConfigurationError, match="quorum=all"):
        simulate(
            Run(Variant.parse(line.format("asp / allreduce:quorum=solo")), problem("iso", 3), 4)
        )


def test_texts_parse_and_print_back():
    for text in ("allreduce:quorum=majority", "allreduce:ring,quorum=3", "allreduce:quorum=solo"):
        variant = Variant.parse(f"asp / {text} / identity / whole / sgd:0.1")
        assert str(variant.architecture) == text
    assert str(
        Variant.parse("ssp:1 / allreduce:quorum=all / sign / whole / sgd:1").architecture
    ) == ("allreduce")


@pytest.mark.parametrize("line", ["ssp:2 / allreduce / identity / layerwise", *EAGER])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_ends_the_run_on_all_ranks(line, value):
    learnt = Poisoned(problems["iso"](3, seed=0, layers=2), value)
    run = Run(Variant.parse(f"{line} / sgd:{GAM}"), learnt, 12, every=1, compute=paces(1))
    with pytest.raises(Diverged, match="rank . met a number") as error:
        simulate(run, NETWORK, shuffle=1)
    lost = ~np.isfinite(error.value.result.x)
    assert lost.any()
    assert lost.all() or "topk" in line  # which says a part


@pytest.mark.parametrize(
    "line",
    [
        "ssp:2 / allreduce / identity / layerwise",
        "ssp:1 / allreduce / ef+topk:0.4 / whole",
        "ssp:1 / allreduce / randk:0.5,mask=shared / whole",
        *EAGER,
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problem("nc", 3, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    here, there = (
        simulate(
            Run(Variant.parse(f"{line} / sgd:0.25"), each, 8, every=4, compute=paces(2)), NETWORK
        )
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for one, other in zip(here, there, strict=True):
        assert isinstance(other.x, FakeArray)
        assert np.array_equal(one.x, other.x.get())
