"""Backup workers: rounds that close without the slowest, and words that come with the next ones."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpiddl import stragglers
from mpiddl.architecture.backup import Backup
from mpiddl.architecture.latecomer import Latecomer
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Deadlock, Diverged
from mpiddl.ledger import FIELDS, script_of
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_device_training import OnDevice
from theory.cost import backup_workers

NETWORK = Network(alpha=1e-5, beta=1e-9)
GAM, D, LAYERS = 0.125, 6, 2
LANE, SERVER, CHOICE, WORKER, CLOCK, DELAY, STALENESS, UP, DOWN = range(len(FIELDS))


def job(line, n, clocks=8, seed=1, d=D, pace="intermittent:1e-3,chance=0.2,factor=8", **options):
    made = problem("nc", n, seed=1, d=d, layers=LAYERS, zeta2=0.5)
    options.setdefault("compute", stragglers.parse(pace, seed))
    variant = Variant.parse(line if line.count(" / ") == 4 else f"{line} / sgd:{GAM}")
    return Run(variant, made, clocks, every=1, **options)


def quorum(run, clock):
    """How many pushes close a round."""
    active = sum(clock < end for end in run.all_clocks)
    return max(1, active - run.variant.architecture.backup)


# -------------------------------------------------------------------- the paper's line, by itself


def topk(v, ratio):
    kept = np.argsort(-np.abs(v), kind="stable")[: max(1, ceil(ratio * v.size))]
    return np.where(np.isin(np.arange(v.size), kept), v, 0)


def gradient(run, x, worker, step):
    g = np.empty_like(x)
    for _ in run.problem.gradient(x, run.problem.batch(worker, step), g):
        pass
    return g


def by_the_ledger(run, services, code=None):
    """Return the models of one server: who is in which round is told, all else is computed.

    With `code` there is an inner optimizer, and what it loses is remembered; without, gradients
    are said as they are.
    """
    n, sync = run.problem.workers, run.variant.sync
    x, late, lost = [run.problem.start()], np.zeros((n, D)), np.zeros((n, D))
    came = {}
    for _, _, _, i, clock, delay, *_ in services.tolist():
        y = x[clock]  # who speaks of a clock has read the model of that clock
        if code is None:
            v = gradient(run, y, i, sync.start(clock)) + late[i]
            said = v
        else:
            for h in range(sync.steps(clock)):
                y = y - GAM * gradient(run, y, i, sync.start(clock) + h)
            v = x[clock] - y + late[i] + lost[i]
            said = code(v)
            lost[i] = v - said
        late[i] = said if delay else 0
        assert delay == len(x) - 1 - clock
        if not delay:
            came[i] = said
        if len(came) == quorum(run, len(x) - 1):
            mean = sum(came[i] for i in sorted(came)) / len(came)
            x.append(x[-1] - (GAM if code is None else 1) * mean)
            came = {}
    assert not came
    return x


LINES = {
    "bsp / ps:servers=1,backup={} / identity / whole": None,
    "ssp:0 / ps:servers=1,backup={} / identity / whole / none>sgd:0.125": None,
    "local:3 / ps:servers=1,backup={} / identity / whole": lambda v: v,
    "post_local:2,after=3 / ps:servers=1,backup={} / ef+topk:0.4 / whole": lambda v: topk(v, 0.4),
    "growing:4,every=2 / ps:servers=1,backup={} / ef+topk:0.4 / whole": lambda v: topk(v, 0.4),
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("ends", [False, True])
def test_the_server_makes_the_rounds_that_the_ledger_tells(line, n, ends):
    late = 0
    for spare in range(1, n):
        last = (*[8] * (n - 1), 5) if ends else None
        run = job(line.format(spare), n, ends=last)
        results = simulate(run, NETWORK, shuffle=n)
        services = results[0].services
        x = by_the_ledger(run, services, LINES[line])
        assert len(x) == 9
        loss = [run.problem.loss(each) for each in x]
        assert np.allclose(results[0].curve["loss"], loss, rtol=0, atol=1e-13)
        late += np.count_nonzero(services[:, DELAY])
    assert late


def test_the_recursion_notices_a_gradient_that_is_dropped(monkeypatch):
    run = job("bsp / ps:servers=1,backup=1 / identity / whole", 3)
    hear = Latecomer.hear

    def forget(self):
        hear(self)
        self.late[...] = 0

    monkeypatch.setattr(Latecomer, "hear", forget)
    result = simulate(run, NETWORK, shuffle=3)[0]
    assert np.count_nonzero(result.services[:, DELAY])
    x = by_the_ledger(run, result.services)
    assert not np.allclose(result.curve["loss"], list(map(run.problem.loss, x)), atol=1e-6)


@pytest.mark.parametrize("servers", ["servers=1,", "", "servers=3,"])
@pytest.mark.parametrize("words", ["identity", "ef+topk:0.4", "ef+sign"])
@pytest.mark.parametrize("plan", ["whole", "layerwise"])
def test_nothing_is_lost_on_the_way(servers, words, plan, monkeypatch):
    """What workers moved is what servers took, what is late and what words left out."""
    moved, taken, ends = np.zeros(D), np.zeros(D), []
    push, close = Latecomer.push, Backup._close

    def pushed(self, clock, finite):
        moved[spans[id(self)]] += self.delta
        push(self, clock, finite)

    def closed(self):
        count = len(self.joined)
        close(self)
        taken[self.span] += self.mean * count

    spans, make = {}, Latecomer.__init__

    def made(self, station, shard, *rest):
        make(self, station, shard, *rest)
        start = station.lane.bucket.span.start
        spans[id(self)] = slice(start + shard.part.start, start + shard.part.stop)
        ends.append(self)

    monkeypatch.setattr(Latecomer, "push", pushed)
    monkeypatch.setattr(Latecomer, "__init__", made)
    monkeypatch.setattr(Backup, "_close", closed)
    run = job(f"bsp / ps:{servers}backup=2 / {words} / {plan} / sgd:{GAM}>sgd:1", 4)
    simulate(run, NETWORK, shuffle=2)
    assert any(end.late.any() for end in ends)
    rest = np.zeros(D)
    for end in ends:
        rest[spans[id(end)]] += end.late + getattr(end.up, "memory", 0)
    assert np.allclose(moved, taken + rest, rtol=0, atol=1e-13)
    assert not np.allclose(moved, taken, rtol=0, atol=1e-6)


# --------------------------------------------------------------------------------- any order

ORDERS = 200
ANY = [
    "bsp / ps:servers=1,backup={} / identity / whole",
    "bsp / ps:backup={} / identity / layerwise",
    "local:2 / ps:servers=2,backup={} / ef+topk:0.4 / layerwise",
    "bsp / ps:down=diff+sign,backup={} / diff+topk:0.5 / whole",
    "local:2 / ps:servers=4,down=qsgd:4,backup={} / qsgd:4 / layerwise / sgd:0.1>sgd:1",
    "growing:2,every=2 / ps:servers=1,down=diff+topk:0.4,backup={} / ef+sign / whole",
]


@contextmanager
def told(n, spare, seed):
    """Tell which order failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{n} workers, {spare} to spare, seed {seed}")
        raise


def check_services(services, run):
    """Check that rounds close as they should; return how many pushes were late."""
    for lane, server in {(lane, server) for lane, server in services[:, :2].tolist()}:
        rows = services[(services[:, LANE] == lane) & (services[:, SERVER] == server)]
        spoke, came, clock = Counter(), [], 0
        for _, _, choice, worker, of, delay, staleness, *_ in rows.tolist():
            assert choice == worker
            assert staleness == 0
            assert spoke[worker] <= of < run.all_clocks[worker]
            assert delay == clock - of >= 0
            spoke[worker] = of + 1
            if not delay:
                assert worker not in came
                came.append(worker)
            if len(came) == quorum(run, clock):
                came, clock = [], clock + 1
        assert clock == run.clocks
        assert not came
    return np.count_nonzero(services[:, DELAY])


@pytest.mark.parametrize("line", ANY)
def test_rounds_close_in_any_order(line):
    late = skipped = 0
    for index in range(ORDERS):
        n, seed = 2 + index % 4, index // 4
        spare = 1 + seed % (n - 1)
        ends = (*[5] * (n - 1), 3) if seed % 3 == 0 else None
        run = job(line.format(spare), n, 5, seed, ends=ends)
        with told(n, spare, seed):
            result = simulate(run, NETWORK, shuffle=seed)[0]
            services, curve = result.services, result.curve
            late += check_services(services, run)
            spoken = np.count_nonzero(services[:, UP])
            places = len({tuple(place) for place in services[:, :2].tolist()})
            skipped += places * sum(run.all_clocks) - len(services)
            assert np.isfinite(curve["loss"]).all()
            assert curve["messages"][-1] == 2 * spoken
            assert curve["bytes"][-1] == services[:, UP:].sum()
    assert late
    assert skipped


def test_the_check_notices_a_wrong_row():
    run = job(ANY[0].format(1), 4)
    services = simulate(run, NETWORK, shuffle=1)[0].services
    check_services(services, run)
    for change in (services[1:], services[::-1], np.concatenate([services, services[-1:]])):
        with pytest.raises(AssertionError):
            check_services(change, run)


def by_place(services):
    return services[np.lexsort((services[:, SERVER], services[:, LANE]))]


@pytest.mark.parametrize("line", ANY)
@pytest.mark.parametrize("ends", [None, (8, 3, 8, 8)])
def test_a_run_is_made_again_by_its_script_on_any_network(line, ends):
    run = job(line.format(2), 4, ends=ends)
    differs = False
    for seed in range(6):
        once = simulate(run, NETWORK, shuffle=seed)
        script = script_of(once[0].services)
        slow = stragglers.parse("slow:1e-3,worker=1,factor=3", 0)
        again = simulate(replace(run, script=script, compute=slow), Network(1e-3, 1e-6), shuffle=9)
        assert np.array_equal(by_place(once[0].services), by_place(again[0].services))
        assert all(np.array_equal(a.x, b.x) for a, b in zip(once, again, strict=True))
        for name in ("loss", "grad_norm2", "bytes", "messages"):
            one, other = once[0].curve[name], again[0].curve[name]
            assert np.array_equal(one[[0, -1]], other[[0, -1]])
        assert np.array_equal(once[0].curve["loss"], again[0].curve["loss"])
        other = simulate(run, NETWORK, shuffle=seed + 10)[0].curve["loss"]
        differs |= not np.array_equal(once[0].curve["loss"], other)
    assert differs  # without the script


# --------------------------------------------------------------------------------- its limits


@pytest.mark.parametrize("servers", ["servers=1,", "", "servers=2,"])
def test_one_local_step_is_bsp_to_the_bit(servers):
    one, other = (
        simulate(
            job(f"{sync} / ps:{servers}backup=1 / identity / layerwise", 4), NETWORK, shuffle=3
        )
        for sync in ("bsp", "local:1")
    )
    assert all(np.array_equal(a.x, b.x) for a, b in zip(one, other, strict=True))
    assert one[0].curve == other[0].curve


def test_without_backup_workers_nothing_is_another():
    assert str(Variant.parse("bsp / ps:backup=0 / identity / whole / sgd:1")).startswith(
        "bsp / ps /"
    )
    text = "bsp / ps:servers=2,backup=1 / identity / whole / sgd:0.1"
    assert str(Variant.parse(text)) == text


@pytest.mark.parametrize("servers", [1, 2])
def test_a_worker_that_never_comes_in_time_is_a_worker_less(servers):
    """Worker 3 speaks into the void: the others are BSP among themselves, in their time."""
    slow = stragglers.parse("slow:0.0009765625,worker=3,factor=1000", 0)
    line = f"bsp / ps:servers={servers},backup=1 / identity / whole"
    run = job(line, 4, compute=slow)
    result = simulate(run, NETWORK)[0]
    x = run.problem.start()
    for clock in range(run.clocks):
        x = x - GAM * (sum(gradient(run, x, worker, clock) for worker in range(3)) / 3)
    assert np.array_equal(result.x, x)
    rows = result.services
    assert rows[rows[:, WORKER] == 3][:, DELAY].tolist() == [8] * servers


def test_one_that_is_slow_now_and_then_costs_little_time():
    def pace(worker, step):
        return 8e-3 if step % 4 == worker else 1e-3  # in every clock another one

    seconds = {
        spare: simulate(
            job(f"bsp / ps:servers=1,backup={spare} / identity / whole", 4, 24, compute=pace),
            Network(0, 0),
        )[0].curve["seconds"][-1]
        for spare in (0, 1, 2)
    }
    assert seconds[0] == pytest.approx(24 * 8e-3)
    assert seconds[2] <= seconds[1] < 0.6 * seconds[0]


def test_the_time_of_a_clock_is_that_of_the_others():
    slow = stragglers.parse("slow:1e-3,worker=0,factor=50", 0)
    for servers in ("servers=1,", "", "servers=2,"):
        run = job(f"bsp / ps:{servers}backup=1 / identity / layerwise", 4, 40, compute=slow)
        seconds = simulate(run, Network(0, 0))[0].curve["seconds"]
        assert np.allclose(np.diff(seconds), 1e-3)
        run = job(f"bsp / ps:{servers}backup=0 / identity / layerwise", 4, 40, compute=slow)
        assert np.allclose(np.diff(simulate(run, Network(0, 0))[0].curve["seconds"]), 0.05)


# ------------------------------------------------------------------------------------- costs


@pytest.mark.parametrize(("n", "servers"), [(2, 1), (4, 1), (5, 1), (6, 2)])
def test_a_clock_takes_the_time_of_the_formula(n, servers):
    network, unit, trace, spare = Network(2.0**-16, 2.0**-30), 2.0**-10, [], n // 2
    line = f"bsp / ps:servers={servers},backup={spare} / identity / whole"

    def pace(worker, step):
        return unit if worker < n - spare else 1.0

    simulate(job(line, n, 1, d=12, compute=pace), network, trace=trace)
    cost = backup_workers(n - spare, servers).at(n=n, b=12, w=8, al=2.0**-16, be=2.0**-30)
    spans = [span for span in trace if span.end < 0.1]
    assert max(span.end for span in spans) == unit + cost.time
    assert sum(span.kind == "transfer" for span in spans) == cost.messages


@pytest.mark.parametrize(("n", "servers"), [(2, 1), (4, 1), (5, 1), (4, 3), (3, 20)])
@pytest.mark.parametrize("spare", [1, 2])
def test_messages_and_bytes_are_those_of_the_formula(n, servers, spare):
    if spare >= n:
        return
    line, d = f"bsp / ps:servers={servers},backup={spare} / identity / whole", 12

    def pace(worker, step):
        return 1e-3 if worker < n - spare else 1e3

    result = simulate(job(line, n, 8, d=d, compute=pace), NETWORK)[0]
    curve, services, units = result.curve, result.services, {"b": d, "w": 8}
    cost = backup_workers(n - spare, servers).at(n=n, **units)
    late = (
        spare * min(servers, d),
        spare * 8 * d,
    )  # said once; the answers come after the last round
    for clock in range(1, 8):
        assert curve["messages"][clock] == cost.messages * clock + late[0]
        assert curve["bytes"][clock] == cost.bytes * clock + late[1]
    everyone = backup_workers(n, servers).at(n=n, **units)
    assert curve["messages"][-1] == 7 * cost.messages + everyone.messages
    assert curve["bytes"][-1] == 7 * cost.bytes + everyone.bytes
    for server in range(min(servers, d)):
        rows = services[services[:, SERVER] == server]
        one = backup_workers(len(rows), 1).at(n=n, **(units | {"b": int(rows[0, UP]) // 8}))
        assert rows[:, UP:].sum() == one.bytes


# -------------------------------------------------------------------------------- divergence


@pytest.mark.parametrize("line", [*ANY, "bsp / ps:servers=1,backup={} / ef+sign / layerwise"])
@pytest.mark.parametrize("spare", [1, 2])
def test_everybody_hears_of_a_number_that_is_not_finite(line, spare, monkeypatch):
    kind = type(problem("nc", 3))
    batch = kind.batch
    for seed, factor in product(range(4), (1, 6)):  # in time, and too late
        run = job(
            line.format(spare),
            3,
            24,
            compute=lambda worker, step, f=factor: 1e-3 * (f if worker == 1 else 1),
        )
        step = run.variant.sync.start(2)

        def spoilt(self, worker, at, when=step):
            found = batch(self, worker, at)
            if worker == 1 and at >= when:
                found[5] = np.inf
            return found

        monkeypatch.setattr(kind, "batch", spoilt)
        with pytest.raises(Diverged, match="rank .* clock") as error:
            simulate(run, NETWORK, shuffle=seed if factor == 1 else None)
        monkeypatch.undo()
        result = error.value.result
        assert np.isnan(result.curve["loss"][-1])
        assert not np.isfinite(result.x).all()
        assert np.isfinite(result.curve["loss"][0])


# ----------------------------------------------------------------------------------- scripts


def scripts(draw, workers, places):
    """Scripts of that many servers: workers in some order, each some times."""
    some = st.lists(st.integers(0, workers - 1), min_size=1, max_size=3 * workers)
    return {(0, place): draw(some) for place in range(places)}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_scripts_are_refused_exactly_where_servers_cannot_follow(data):
    servers = data.draw(st.integers(1, 2))
    ends = data.draw(st.sampled_from([(1, 1), (2, 2), (2, 1), (2, 2, 2), (1, 2, 3)]))
    spare = data.draw(st.integers(1, len(ends) - 1))
    line = f"bsp / ps:servers={servers},backup={spare} / identity / whole"
    run = job(line, len(ends), max(ends), ends=ends, compute=1e-3)
    if data.draw(st.booleans()):
        run = replace(run, script=scripts(data.draw, len(ends), servers))
    else:  # a good one, with two neighbours exchanged
        seed = data.draw(st.integers(0, 5))
        found = script_of(simulate(run, NETWORK, shuffle=seed)[0].services)
        order = list(found[0, 0])
        at = data.draw(st.integers(0, len(order) - 1))
        order[at - 1], order[at] = order[at], order[at - 1]
        run = replace(run, script={**found, (0, 0): order})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpiddl.architecture.backup_scripts.can_be_followed", lambda *_: True)
        try:
            services = simulate(run)[0].services
            followed = {place: list(order) for place, order in script_of(services).items()}
            good = followed == {place: list(order) for place, order in run.script.items()}
        except Deadlock:
            good = False
    refusal = pytest.raises(ConfigurationError, match="take it from a run")
    with nullcontext() if good else refusal:
        simulate(run)


# ---------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize("line", ANY[:4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problem("nc", 3, seed=1, d=D, layers=LAYERS, dtype=dtype, zeta2=0.5)
    pace = stragglers.parse("intermittent:1e-3,chance=0.3,factor=8", 0)
    variant = Variant.parse(f"{line.format(1)} / sgd:0.25")
    on_host, on_device = (
        simulate(Run(variant, each, 12, every=3, compute=pace), NETWORK)
        for each in (host, OnDevice(host, FakeDevice()))
    )
    assert np.count_nonzero(on_host[0].services[:, DELAY])
    for here, there in zip(on_host, on_device, strict=True):
        assert isinstance(there.x, FakeArray)
        assert np.array_equal(here.x, there.x.get())
    assert on_host[0].curve == on_device[0].curve


@pytest.mark.parametrize(
    ("line", "n", "says"),
    [
        ("bsp / ps:backup=-1", 4, "at least 0"),
        ("bsp / ps:backup=yes", 4, "whole number"),
        ("bsp / ps:backup=1.0", 4, "ps:backup=1"),
        ("bsp / ps:backup=4", 4, "below the number of workers"),
        ("bsp / ps:backup=1", 1, "below the number of workers"),
        ("bsp / ps:servers=2,backup=2", 2, "below the number of workers"),
        ("asp / ps:backup=1", 4, "use bsp or local:H"),
        ("ssp:2 / ps:backup=1", 4, "use bsp or local:H"),
    ],
)
def test_what_cannot_work_is_refused_with_a_remedy(line, n, says):
    with pytest.raises(ConfigurationError, match=says):
        simulate(job(f"{line} / identity / whole", n))
