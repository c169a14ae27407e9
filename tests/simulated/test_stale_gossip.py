"""Stale gossip against its recursion, with the clocks of the ledger; bounds, scripts, ends."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from mpiddl.architecture.topology import find
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.ledger import FIELDS, SHOWN, script_of
from mpiddl.problems import problem, problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_variants import Poisoned, bsp, sign, topk

GAM, D, LAYERS = 0.125, 6, 2
NETWORK = Network(alpha=1e-5, beta=1e-9)
ORDERS = 1000  # of messages, for 2 to 5 workers


def paces(seed):
    """Return how long gradients take: at random, some workers slower than others."""
    rng = np.random.default_rng(seed)
    table = rng.exponential(0.3, (8, 64)) * rng.choice([0.1, 1, 3], (8, 1))
    return lambda worker, step: float(table[worker, step % 64])


def job(line, n, clocks=6, seed=0, **options):
    made = problem("nc", n, seed=1, d=D, layers=LAYERS, zeta2=0.5)
    variant = Variant.parse(f"{line} / sgd:{GAM}")
    return Run(variant, made, clocks, every=2, **{"compute": paces(seed), **options})


def early(n, clocks):
    """Return ends where the last worker makes half of the clocks."""
    return (*[clocks] * (n - 1), clocks // 2) if n > 1 else (clocks,)


def models(results):
    return np.array([result.x for result in results])


def rows(services, **fixed):
    """Return the rows of exchanges, those with the values `fixed`."""
    chosen = services[services[:, 0] != SHOWN]
    for field, value in fixed.items():
        chosen = chosen[chosen[:, FIELDS.index(field)] == value]
    return chosen


def column(services, field):
    return services[:, FIELDS.index(field)]


@contextmanager
def told(n, seed):
    """Tell which order failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{n} workers, shuffle={seed}")
        raise


def neighbours(run):
    """Return by rank whom it hears, in rank order."""
    w = run.variant.architecture.matrices(run.ranks)[0]
    return [[j for j in range(run.ranks) if w[i, j] and j != i] for i in range(run.ranks)]


def displaced(learnt, x, worker, clock, period):
    """Return x (d,) after the steps of a clock, alone."""
    y, g = x.copy(), np.empty_like(x)
    for step in range(clock * period, (clock + 1) * period):
        for _ in learnt.gradient(y, learnt.batch(worker, step), g):
            pass
        y -= GAM * g
    return y


def recursion(run, services, code=lambda v: v, refer=False):
    """Return the models (n, d): every pull mixes the clocks that the ledger says, line by line."""
    learnt, of, n = run.problem, run.variant.architecture, run.ranks
    w, period = find(of.graph).matrix(n), run.variant.sync.period
    spans = [b.span for b in run.variant.schedule.plan(learnt.layout, 8).buckets]
    sources, x = neighbours(run), np.tile(learnt.start(), (n, 1))
    heard = [{-1: row.copy()} for row in x]  # by rank and clock
    mixed = {}
    for lane in range(len(spans)):
        for rank in range(n):
            choices = column(rows(services, lane=lane, place=rank), "choice").tolist()
            k = len(sources[rank])
            for clock in range(run.all_clocks[rank]):
                mixed[lane, rank, clock] = choices[clock * k : (clock + 1) * k]
    waiting = {}  # what was said after a clock, and the step
    done, moved = [0] * n, True
    while moved:
        moved = False
        for i in range(n):
            clock = done[i]
            if clock == run.all_clocks[i]:
                continue
            if i not in waiting:
                y = displaced(learnt, x[i], i, clock, period)
                said = x[i] if of.order == "cta" else y
                before = heard[i][clock - 1] * refer
                parts = [code((said - before)[span]) for span in spans]
                heard[i][clock] = before + np.concatenate(parts)
                waiting[i], moved = (said, x[i] - y), True
            wanted = [mixed[lane, i, clock] for lane in range(len(spans))]
            if any(
                v not in heard[j] for each in wanted for j, v in zip(sources[i], each, strict=True)
            ):
                continue
            said, step = waiting.pop(i)
            new = said.copy()
            for span, each in zip(spans, wanted, strict=True):
                total = w[i, i] * heard[i][clock][span]
                for j, v in zip(sources[i], each, strict=True):
                    total = total + w[i, j] * heard[j][v][span]
                new[span] += of.gamma * (total - heard[i][clock][span])
            x[i] = new - step * (of.order == "cta")
            done[i], moved = clock + 1, True
    assert tuple(done) == run.all_clocks
    return x


def check_services(services, run):
    """Check what every pull mixed; return the greatest staleness."""
    s, ends, sources = run.variant.sync.staleness, run.all_clocks, neighbours(run)
    lanes = len(run.variant.schedule.plan(run.problem.layout, 8).buckets)
    found = 0
    for lane in range(lanes):
        for i in range(run.ranks):
            mine = rows(services, lane=lane, place=i)
            assert column(mine, "worker").tolist() == sources[i] * ends[i]
            assert column(mine, "clock").tolist() == sorted([*range(ends[i])] * len(sources[i]))
            for j in sources[i]:
                one = rows(mine, worker=j)
                clock, choice = column(one, "clock"), column(one, "choice")
                behind = np.maximum(0, np.minimum(clock, ends[j] - 1) - choice)
                assert (column(one, "staleness") == behind).all()
                assert (behind <= s).all()
                assert (np.diff(choice) >= 0).all()  # newer ones only
                assert (choice < ends[j]).all()
                assert choice[-1] >= min(ends[i], ends[j]) - 1  # the last pull asks for all
                assert ((column(one, "up_bytes") > 0) == (choice >= 0)).all()
            found += len(mine)
    assert found == len(rows(services))
    return int(column(rows(services), "staleness").max(initial=0))


CASES = [  # line, what words mean, references
    ("ssp:2 / gossip:ring / identity / whole", lambda v: v, False),
    ("asp / gossip:complete,gamma=0.5 / identity / layerwise", lambda v: v, False),
    ("asp / gossip:exponential,order=cta / identity / whole", lambda v: v, False),
    ("ssp:1,period=3 / gossip:star / identity / layerwise", lambda v: v, False),
    ("ssp:3 / gossip:ring,gamma=0.3 / diff+topk:0.4 / layerwise", lambda v: topk(v, 0.4), True),
    ("asp / gossip:ring,gamma=0.2,order=cta / diff+sign / whole", sign, True),
    ("asp:period=2 / gossip:path,gamma=0.3 / topk:0.4 / whole", lambda v: topk(v, 0.4), False),
]
LINES = [line for line, *_ in CASES]
every_line = pytest.mark.parametrize("line", LINES)


@pytest.mark.parametrize(("line", "code", "refer"), CASES, ids=LINES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("ends", [False, True])
def test_stale_gossip_is_its_recursion(line, code, refer, n, ends):
    run = job(line, n, 20, seed=n, ends=early(n, 20) if ends else None)
    results = simulate(run, NETWORK, shuffle=n)
    check_services(results[0].services, run)
    expected = recursion(run, results[0].services, code, refer)
    assert np.allclose(models(results), expected, rtol=0, atol=1e-14)


def test_the_comparison_notices_another_clock_and_another_order():
    run = job(LINES[0], 5, 20)
    results = simulate(run, NETWORK, shuffle=1)
    services = results[0].services
    late = np.flatnonzero((column(services, "staleness") > 0) & (column(services, "clock") < 18))
    changed = services.copy()
    changed[late[0], FIELDS.index("choice")] += 1
    other = replace(run, variant=Variant.parse(str(run.variant).replace("ring", "ring,order=cta")))
    for one, ledger in ((run, changed), (other, services)):
        assert not np.allclose(models(results), recursion(one, ledger), rtol=0, atol=1e-5)


@every_line
def test_in_any_order_nothing_is_too_old_and_the_run_can_be_made_again(line):
    attained, s = 0, Variant.parse(f"{line} / sgd:1").sync.staleness
    for index in range(-(-ORDERS // len(LINES))):
        n, seed = 2 + index % 4, index // 4
        run = job(line, n, 4, seed, ends=early(n, 4) if index % 3 == 2 else None)
        with told(n, seed):
            results = simulate(run, NETWORK, shuffle=seed)
            services, curve = results[0].services, results[0].curve
            attained = max(attained, check_services(services, run))
            sent = [run.all_clocks[j] for heard in neighbours(run) for j in heard]
            lanes = len(run.variant.schedule.plan(run.problem.layout, 8).buckets)
            assert curve["messages"][-1] == sum(sent) * lanes
            if index % 10 == 0:
                again = simulate(replace(run, script=script_of(services), compute=0.0))
                assert np.array_equal(models(again), models(results))
                assert np.array_equal(again[0].curve["loss"], curve["loss"])
    assert attained == min(s, 3)  # the last pull asks for everything


def test_the_checks_notice_a_wrong_row():
    run = job(LINES[0], 3)
    services = simulate(run, NETWORK, shuffle=1)[0].services
    assert check_services(services, run) > 0
    newer, fresh = services.copy(), services.copy()
    newer[0, FIELDS.index("choice")] = 9
    fresh[:, FIELDS.index("staleness")] = 0
    for change in (services[1:], services[::-1], newer, fresh):
        with pytest.raises(AssertionError):
            check_services(change, run)
    with pytest.raises(AssertionError):
        check_services(services, job(LINES[0].replace("ssp:2", "ssp:0"), 3))


def synchronous(line):
    """Return the line where nothing may be missing."""
    sync, rest = line.split(" / ", 1)
    period = Variant.parse(f"{line} / sgd:1").sync.period
    return f"{f'local:{period}' if period > 1 else 'bsp'} / {rest}", sync


@every_line
@pytest.mark.parametrize("n", [1, 3, 5])
def test_without_staleness_it_is_gossip_to_the_bit(line, n):
    plain, sync = synchronous(line)
    period = Variant.parse(f"{line} / sgd:1").sync.period
    expected = models(simulate(job(plain, n)))
    none = line.replace(sync, f"ssp:0,period={period}")
    assert np.array_equal(models(simulate(job(none, n), NETWORK, shuffle=1)), expected)
    # and so is a stale run in which every pull happens to mix the clock of its own
    run = job(line, n)
    services = simulate(run)[0].services
    own = services.copy()
    mixed = own[:, 0] != SHOWN
    own[mixed, FIELDS.index("choice")] = own[mixed, FIELDS.index("clock")]
    again = simulate(replace(run, script=script_of(own)), NETWORK, shuffle=2)
    assert np.array_equal(models(again), expected)


@pytest.mark.parametrize("line", ["asp / gossip:ring / identity", "ssp:2 / gossip:star / identity"])
def test_one_worker_is_serial_sgd(line):
    run = job(f"{line} / whole", 1, 30)
    results = simulate(run)
    assert np.allclose(results[0].x, bsp(run.problem, 1, 30)[0], rtol=0, atol=1e-14)
    assert not rows(results[0].services).size
    assert results[0].curve["messages"][-1] == 0


@every_line
def test_another_network_makes_the_same_run_by_its_script(line):
    run = job(line, 5, 12, ends=early(5, 12))
    once = simulate(run, NETWORK, shuffle=3)
    script = script_of(once[0].services)
    other = replace(run, script=script, compute=lambda worker, step: 1e-3 * (worker + 1))
    again = simulate(other, Network(1e-2, 1e-6), shuffle=8)
    assert np.array_equal(models(once), models(again))
    for one, two in zip(once, again, strict=True):
        assert np.array_equal(one.x, two.x)
    for name in ("loss", "consensus2", "messages", "bytes"):
        assert once[0].curve[name][-1] == again[0].curve[name][-1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda script: {**script, (0, 1): script[0, 1][:-1]}, "11 choices for place 1 of lane 0"),
        (lambda script: {**script, (0, 7): [1]}, "place 7"),
        (lambda script: {**script, (0, 0): [-1] * 12}, "too old, or not there"),
        (lambda script: {**script, (0, 0): [6] * 12}, "too old, or not there"),
        (lambda script: {**script, (0, 0): [1, 1, 0, 0, *[5] * 8]}, "too old, or not there"),
        (lambda script: {**script, **{(0, i): [5] * 12 for i in range(3)}}, "wait for each other"),
    ],
)
def test_a_script_that_cannot_be_followed_is_refused(change, says):
    run = job(LINES[0], 3)
    script = script_of(simulate(run, NETWORK, shuffle=1)[0].services)
    simulate(replace(run, script=script))
    with pytest.raises(ConfigurationError, match=says):
        simulate(replace(run, script=change(script)))


@pytest.mark.parametrize("channel", ["identity", "topk:0.2", "diff+topk:0.2", "diff+qsgd:2"])
@pytest.mark.parametrize("where", ["ssp:1 / gossip:complete", "asp / gossip:ring,order=cta"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_ends_the_run_on_all_ranks(channel, where, value):
    learnt = Poisoned(problems["iso"](3, seed=0, layers=2), value)
    variant = Variant.parse(f"{where} / {channel} / layerwise / sgd:{GAM}")
    run = Run(variant, learnt, 12, every=1, compute=paces(1))
    with pytest.raises(Diverged, match="rank 1 .* clock 5") as error:
        simulate(run, NETWORK, shuffle=2)
    assert not np.isfinite(error.value.result.x).any()
    assert not np.isfinite(error.value.result.curve["loss"][-1])


@pytest.mark.filterwarnings("error")
@every_line
def test_gradients_of_zero_change_nothing(line):
    learnt = problems["nc"](3, seed=0, sigma2=0.0, radius=0.0, layers=2)
    variant = Variant.parse(f"{line} / sgd:{GAM}")
    assert not models(simulate(Run(variant, learnt, 5), NETWORK, shuffle=1)).any()


@every_line
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problems["nc"](3, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    variant = Variant.parse(f"{line} / sgd:{GAM}")
    here, there = (
        simulate(Run(variant, each, 8, compute=paces(2)), NETWORK, shuffle=2)
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for one, other in zip(here, there, strict=True):
        assert isinstance(other.x, FakeArray)
        assert np.array_equal(one.x, other.x.get())


@pytest.mark.parametrize("whom", ["gossip:ring", "pairwise:ring"])
@pytest.mark.parametrize("n", [1, 4])
def test_where_no_time_passes_a_curve_still_goes_clock_by_clock(whom, n):
    run = job(f"asp / {whom} / identity / whole", n, 6, compute=0.0)
    results = simulate(run)
    curve = results[0].curve
    assert curve["messages"].tolist() == (2 * n * (n > 1) * curve["clock"]).tolist()
    assert curve["loss"][0] == run.problem.loss(run.problem.start())
    assert np.isclose(curve["loss"][-1], run.problem.loss(models(results).mean(axis=0)))
    assert (np.diff(curve["loss"]) < 0).all()


def test_a_slow_worker_holds_up_only_those_who_must_not_be_ahead():
    """Seconds of 20 clocks on a ring of 4, where one worker takes five times as long."""
    seconds = {}
    for sync in ("bsp", "ssp:3", "asp"):
        slow = job(f"{sync} / gossip:ring / identity / whole", 4, 20)
        slow = replace(slow, compute=lambda worker, step: 5.0 if worker == 2 else 1.0)
        if sync == "asp":
            slow = replace(slow, ends=(20, 20, 4, 20))
        seconds[sync] = simulate(slow, NETWORK)[0].curve["seconds"][-1]
    assert 96 <= seconds["bsp"] < 96.1  # rank 0 waits for it at one remove
    assert 100 <= seconds["ssp:3"] < 100.1  # the slowest is waited for in the end
    assert 20 <= seconds["asp"] < 20.1


def test_stale_neighbours_lead_to_where_fresh_ones_do():
    """What no longer moves is the same whatever its clock: one worker three times as slow."""
    learnt = problems["het"](6, seed=0, sigma2=0.0, zeta2=1.0, spectrum=(0.5, 0.6, 0.8, 1.0))
    ends, found = {"asp": (250, 84, *[250] * 4)}, {}
    for sync in ("bsp", "ssp:2", "asp"):
        variant = Variant.parse(f"{sync} / gossip:ring / identity / whole / sgd:0.1")
        run = Run(variant, learnt, 250, compute=lambda worker, step: 1.0 + 2 * (worker == 1))
        run = replace(run, ends=ends.get(sync))
        found[sync] = models(simulate(run, NETWORK, shuffle=1))
    assert np.abs(found["bsp"] - found["bsp"].mean(axis=0)).max() > 1e-2  # they do differ
    assert np.allclose(found["bsp"].mean(axis=0), learnt.optimum, rtol=0, atol=1e-4)
    assert np.allclose(found["ssp:2"], found["bsp"], rtol=0, atol=1e-4)
    assert np.allclose(found["asp"], found["bsp"], rtol=0, atol=1e-2)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ssp:2 / gossip:ring / ef+sign / whole / sgd:0.1", "remembers displacements: use"),
        ("asp / gossip:ring / identity / whole / none>sgd:0.1", "give it an inner optimizer"),
        ("ssp:2 / gossip:one_peer_exponential / identity / whole / sgd:0.1", "a graph that stays"),
    ],
)
def test_what_stale_gossip_cannot_do_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        simulate(Run(Variant.parse(line), problems["iso"](4, seed=0), 2))
