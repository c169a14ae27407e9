"""What users do to the cells: uneven shards, odd numbers, slow workers, NaN, graphs, bad texts."""

from __future__ import annotations

import re
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from mpiddl.architecture import architectures
from mpiddl.architecture.topology import topologies
from mpiddl.comm.simulated import Network
from mpiddl.compression import compressors
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.ledger import SHOWN
from mpiddl.optim import optimizers
from mpiddl.optim.factors import factors
from mpiddl.problems import NEED, READY, problem
from mpiddl.problems.logistic import LogisticRegression
from mpiddl.problems.sampling import Batch
from mpiddl.schedule import schedules
from mpiddl.stragglers import stragglers
from mpiddl.synchronization import synchronizations
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

NETWORK = Network(alpha=1e-5, beta=1e-9)
LATE = [  # clocks may be missing
    "ssp:2 / allreduce",
    "ssp:1,period=2 / allreduce:ring",
    "ssp:1 / allreduce:quorum=solo",
    "ssp:2 / allreduce:quorum=majority",
    "asp / allreduce:quorum=solo",
    "asp:period=2 / allreduce:quorum=majority",
    "ssp:1 / gossip:ring",
    "asp / gossip:complete,order=cta",
    "asp / pairwise:ring",
    "asp:period=2 / pairwise:complete",
    "ssp:2 / ps:servers=1",
    "asp / ps",
    "asp / staleness_aware",
    "ssp:1 / dc_asgd:servers=2",
    "asp / dc_asgd:1,decay=0.9",
    "asp / easgd",
    "ssp:1 / easgd:servers=1",
]
TOGETHER = [  # all wait for all, but perhaps for a few
    "bsp / ps:backup=1",
    "local:2 / ps:servers=2,backup=1",
    "local:2 / easgd",
    "bsp / dynamic:0.1",
    "local:2 / dynamic:1",
    "post_local:3,after=2 / allreduce",
    "growing:4,every=2 / ps",
    "bsp / d2:ring",
    "bsp / tracking:ring",
    "local:2 / push_sum:directed_random:0.3",
    "bsp / gossip:one_peer_exponential",
    "bsp / gossip:star,weights=fastest",
    "bsp / gossip:exponential,weights=metropolis",
    "local:2 / gossip:random_regular:2;seed=1",
    "bsp / gossip:erdos_renyi:0.6;seed=2",
    "bsp / gossip:two_level:2",
]


def line_of(cell, rule="sgd:0.1", channel="identity", plan="whole"):
    return Variant.parse(f"{cell} / {channel} / {plan} / {rule}")


def job(cell, n, clocks=5, made=None, **options):
    rule = options.pop("rule", "sgd:0.1")
    plan, channel = options.pop("plan", "whole"), options.pop("channel", "identity")
    made = made or problem("nc", n, seed=1, d=6, layers=2, zeta2=0.5)
    return Run(line_of(cell, rule, channel, plan), made, clocks, **options)


def jagged(worker, step):
    """Return how long a gradient takes: worker 1 is slow, and all are now and then."""
    return 0.01 * (1 + 3 * (worker == 1)) * (1 + (7 * worker + 3 * step) % 5)


# --------------------------------------------------------------------------------- uneven shards

UNEVEN = {
    "some one more": lambda n: 3 * n + 2,
    "one none": lambda n: n - 1,
    "most none": lambda n: 2,
}


def shards(workers, rows, batch=2, **options):
    """Return a problem of so many rows, dealt to the workers: some may have none."""
    chance = np.random.default_rng(3)
    features, labels = chance.normal(size=(rows, 5)), np.arange(rows) % 2
    options = {"sharding": "disjoint", "batch": batch, **options}
    return LogisticRegression.from_arrays(features, labels, workers, 7, **options)


@pytest.mark.parametrize("rows", UNEVEN)
@pytest.mark.parametrize("cell", [*LATE, *TOGETHER])
def test_uneven_shards_hold_nobody_up(cell, rows):
    """The one with almost nothing is also the one that is slow, or in no hurry."""
    for n in (3, 4):
        this = job(cell, n, made=shards(n, UNEVEN[rows](n)), compute=jagged)
        results = simulate(this, NETWORK, shuffle=n)
        assert all(np.isfinite(result.x).all() for result in results)
        services = results[0].services
        if services is not None and "backup" not in cell:
            spoken = services[services[:, 0] != SHOWN]
            assert {*spoken[:, 3].tolist()} == set(range(n))


EXACT = [  # where all hear all, a clock takes the mean of all gradients
    "bsp / d2:complete,gamma=1",
    "bsp / tracking:complete",
    "bsp / push_sum:complete",
    "bsp / push_sum:directed_random:1",
    "bsp / gossip:two_level:9",
    "bsp / gossip:erdos_renyi:1",
    "bsp / gossip:random_regular:{less}",
    "bsp / gossip:complete,weights=fastest",
    "bsp / dynamic:0",
    "post_local:4,after=99 / allreduce",
    "growing:4,every=99 / ps:servers=2",
    "local:1 / push_sum:complete",
    "ssp:2 / allreduce",
    "ssp:3 / allreduce:gather=ring",
]


def delayed(made, steps, late, gradient):
    """Return x (d,) after SGD of which the mean gradient comes so many steps late."""
    x, g, under_way = made.start(), np.empty(made.layout.size), []
    for step in range(steps):
        gradient(x, step, g)
        under_way.append(0.5 * g)
        if len(under_way) > late:
            x = x - under_way.pop(0)
    return x - sum(under_way)


@pytest.mark.parametrize("rows", UNEVEN)
@pytest.mark.parametrize("cell", EXACT)
def test_averages_weigh_every_row_alike(cell, rows):
    """Whole shards, however uneven, move the models as one worker with all rows does."""
    n, clocks = 4, 12
    one = shards(1, UNEVEN[rows](n), batch=None)

    def gradient(x, step, g):
        g[...] = one.full_gradient(x)

    this = job(cell.format(less=n - 1), n, clocks, shards(n, UNEVEN[rows](n), None), rule="sgd:0.5")
    late = int(this.variant.sync.staleness)
    expected = delayed(one, clocks, late, gradient)
    for result in simulate(this, NETWORK)[:n]:
        assert np.allclose(result.x, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("cell", EXACT)
def test_many_workers_are_one_with_their_rows_together(cell, n):
    """n workers with b rows each make the steps of one worker with n b rows."""
    chance = np.random.default_rng(3)
    features, labels = chance.normal(size=(40, 5)), np.arange(40) % 2
    many, one = (
        LogisticRegression.from_arrays(features, labels, workers, 7, batch=4) for workers in (n, 1)
    )

    def gradient(x, step, g):
        rows = np.concatenate([many.batch(worker, step).rows for worker in range(n)])
        assert rows.size == 4 * n
        for _ in one.gradient(x, Batch(rows, 1 / rows.size), g):
            pass

    this = job(cell.format(less=n - 1), n, 12, many, rule="sgd:0.5")
    late = int(this.variant.sync.staleness)
    expected = delayed(one, 12, late, gradient)
    for result in simulate(this)[:n]:
        assert np.allclose(result.x, expected, rtol=1e-12, atol=1e-14)
    assert not np.allclose(expected, delayed(one, 11, late, gradient), rtol=1e-6)


# ------------------------------------------------------------------ equal models after an average


class Watched:
    """A problem that notes the model at every gradient, by worker and step."""

    def __init__(self, made):
        self._made, self.seen = made, {}

    def __getattr__(self, name):
        return getattr(self._made, name)

    def batch(self, worker, step):
        return worker, step, self._made.batch(worker, step)

    def gradient(self, x, batch, out):
        worker, step, batch = batch
        for event in self._made.gradient(x, batch, out):
            if event[0] is READY:
                self.seen.setdefault((worker, step), x.copy())
            yield event


AVERAGED = [
    "ssp:2 / allreduce",
    "ssp:1,period=3 / allreduce:ring",
    "post_local:3,after=2 / allreduce",
    "growing:4,every=2 / allreduce:tree",
    "post_local:3,after=2 / ps:servers=2",
    "growing:4,every=2 / ps",
    "bsp / dynamic:0",
    "local:3 / dynamic:0",
    "local:2 / gossip:complete",
    "local:2 / push_sum:complete",
    "bsp / tracking:complete",
]


@pytest.mark.parametrize("plan", ["whole", "layerwise"])
@pytest.mark.parametrize("cell", AVERAGED)
def test_after_each_average_and_after_the_last_all_models_are_equal(cell, plan):
    watched = Watched(problem("nc", 4, seed=1, d=6, layers=2, zeta2=0.5))
    this = job(cell, 4, 9, watched, plan=plan, compute=jagged)
    results, sync = simulate(this, NETWORK, shuffle=1), this.variant.sync
    exact = "allreduce" in cell or "ps" in cell.split()[2] or "dynamic" in cell
    for clock in range(9):
        same = [watched.seen[worker, sync.start(clock)] for worker in range(4)]
        for one in same[1:]:
            assert np.array_equal(one, same[0]) if exact else np.allclose(one, same[0], atol=1e-14)
        if sync.steps(clock) > 1 and this.variant.seats.inner is not None:
            last = sync.start(clock) + sync.steps(clock) - 1
            assert not np.allclose(watched.seen[0, last], watched.seen[1, last])
    for one in results[1:4]:
        assert np.allclose(one.x, results[0].x, atol=0 if exact else 1e-14)
    assert max(step for _, step in watched.seen) == sync.start(9) - 1  # no step is left over


@pytest.mark.parametrize("cell", [cell for cell in LATE if "quorum" in cell])
def test_after_the_last_eager_round_all_models_are_equal(cell):
    for seed in range(5):
        results = simulate(job(cell, 4, compute=jagged), NETWORK, shuffle=seed)
        assert all(np.array_equal(result.x, results[0].x) for result in results)


ONE_STEP = {
    "bsp / {}": ["tracking:ring", "push_sum:exponential", "dynamic:0.1", "easgd", "ps:servers=2"],
    "ssp:2 / {}": ["allreduce", "allreduce:quorum=solo", "gossip:ring", "dc_asgd", "easgd"],
    "asp / {}": ["allreduce:quorum=majority", "gossip:ring", "pairwise:ring", "staleness_aware"],
}
SAME = {
    "bsp / {}": ["local:1 / {}", "post_local:1,after=2 / {}", "growing:1,every=1 / {}"],
    "ssp:2 / {}": ["ssp:2,period=1 / {}"],
    "asp / {}": ["asp:period=1 / {}"],
}


@pytest.mark.parametrize("when", ONE_STEP)
def test_clocks_of_one_step_are_clocks_without_a_period(when):
    for architecture in ONE_STEP[when]:
        for other in SAME[when]:
            one, same = (
                simulate(job(each.format(architecture), 4, compute=jagged), NETWORK)
                for each in (when, other)
            )
            for a, b in zip(one, same, strict=True):
                assert np.array_equal(a.x, b.x)


# ---------------------------------------------------------------------- bounds, by what is seen


class Counting:
    """A problem whose gradients are unit vectors: x says how many clocks of whom are in it."""

    def __init__(self, n):
        self._made, self.seen = problem("iso", n, seed=0, d=n), []

    def __getattr__(self, name):
        return getattr(self._made, name)

    def start(self):
        return np.zeros(self._made.workers)

    def batch(self, worker, step):
        return worker, step

    def gradient(self, x, batch, out):
        yield NEED, 0
        worker, step = batch
        self.seen.append((worker, step, np.rint(-x * x.size).astype(int)))
        out[...] = 0
        out[worker] = 1
        yield READY, 0


COUNTED = ["allreduce", "allreduce:quorum=solo", "allreduce:quorum=majority", "allreduce:quorum=3"]
COUNTED += ["ps", "ps:servers=1", "ps:servers=2", "dc_asgd:0.5", "dc_asgd:servers=1"]


def slow_one(worker, step):
    """Return how long a gradient takes: worker 2 is ten times as slow."""
    return 0.1 if worker == 2 else 0.01


@pytest.mark.parametrize("architecture", COUNTED)
@pytest.mark.parametrize("s", [1, 3])
@pytest.mark.parametrize("ends", [None, (2, 12, 12), (12, 12, 3)])
def test_models_hold_what_the_bound_asks_for_and_not_more(architecture, s, ends):
    """No ledger is asked: x itself says which clocks of whom it was made of."""
    n, clocks = 3, 12
    pipelined = architecture == "allreduce"
    if pipelined and ends:
        pytest.skip("all wait for all")
    counting = Counting(n)
    variant = line_of(f"ssp:{s} / {architecture}", "none>sgd:1")
    this = Run(variant, counting, clocks, compute=slow_one, ends=ends)
    results = simulate(this, NETWORK)
    most = 0
    for worker, clock, counts in counting.seen:
        behind = [
            clock - count for count, end in zip(counts, this.all_clocks, strict=True) if count < end
        ]
        assert max(behind, default=0) <= s
        assert counts[worker] == (max(0, clock - s) if pipelined else clock)
        most = max([most, *behind])
    if "majority" not in architecture and "3" not in architecture:  # they wait for more themselves
        assert most == s
    for result in results[:n]:
        if pipelined or "quorum" in architecture:
            assert np.array_equal(np.rint(-result.x * n).astype(int), this.all_clocks)


BOUNDED = [
    "allreduce",
    "allreduce:quorum=solo",
    "allreduce:quorum=majority",
    "gossip:complete",
    "gossip:exponential,order=cta",
    "ps",
    "ps:servers=2",
    "easgd",
    "easgd:servers=1",
    "staleness_aware",
    "dc_asgd",
]


def computations(trace, rank):
    """Return when the gradients of a rank began and ended, in order."""
    spans = [one for one in trace if one.kind == "computation" and one.rank == rank]
    return [(one.start, one.end) for one in sorted(spans, key=lambda one: one.start)]


@pytest.mark.parametrize("architecture", BOUNDED)
@pytest.mark.parametrize("s", [0, 1, 3])
def test_a_fast_worker_is_let_go_exactly_when_the_slowest_is_near_enough(architecture, s):
    """By the clock on the wall: gradient c waits for gradient c - s - 1 of the slow one."""
    if s == 0 and architecture.startswith(("allreduce:quorum", "staleness_aware", "dc_asgd")):
        pytest.skip("made for clocks that may be missing")
    trace, made = [], problem("nc", 3, seed=1, d=6)  # one layer: one computation a gradient
    this = Run(line_of(f"ssp:{s} / {architecture}"), made, 12, compute=slow_one)
    simulate(this, NETWORK, trace=trace)
    slow = computations(trace, 2)
    assert len(slow) == 12
    for rank in (0, 1):
        fast = computations(trace, rank)
        for clock in range(s + 2, 12):
            assert slow[clock - s - 1][1] <= fast[clock][0] < slow[clock - s - 1][1] + 5e-3


@pytest.mark.parametrize("cell", [cell for cell in LATE if cell.startswith("asp")])
def test_who_waits_for_nobody_ends_in_its_own_time(cell):
    trace, made = [], problem("nc", 3, seed=1, d=6)
    this = Run(line_of(cell), made, 12, compute=slow_one)
    simulate(this, NETWORK, trace=trace)
    steps = this.variant.sync.start(12)
    for rank in (0, 1):
        assert computations(trace, rank)[-1][1] < 0.01 * steps * 1.5
    assert np.isclose(computations(trace, 2)[-1][1], 0.1 * steps, rtol=0.01)


@pytest.mark.parametrize(
    "cell", [cell for cell in LATE if "/ allreduce:" in cell or "/ a" not in cell]
)
def test_one_that_has_ended_holds_nobody_up(cell):
    """The slow one ends after a clock: from then on the others are as fast as if it never was."""
    if cell.endswith("allreduce:ring"):
        pytest.skip("all wait for all")
    trace, made = [], problem("nc", 3, seed=1, d=6)
    this = Run(line_of(cell), made, 12, compute=slow_one, ends=(12, 12, 1))
    simulate(this, NETWORK, trace=trace)
    steps = this.variant.sync.start(12)
    begin = 0.1 * this.variant.sync.period
    for rank in (0, 1):
        assert computations(trace, rank)[-1][1] < begin + 0.01 * steps * 1.5


def test_what_is_counted_notices_a_bound_that_is_off_by_one():
    counting = Counting(3)
    this = Run(line_of("ssp:2 / ps", "none>sgd:1"), counting, 12, compute=slow_one)
    simulate(this, NETWORK)
    assert max(clock - counts.min() for _, clock, counts in counting.seen[:-3]) > 1


# ------------------------------------------------------------------ numbers of ranks, and graphs

SIZES = (1, 2, 3, 5, 6, 7, 8, 12)
GRAPHS = [
    "one_peer_exponential",
    "random_regular:2",
    "random_regular:3",
    "erdos_renyi:0.7",
    "two_level:2",
    "two_level:5",
    "directed_random:0.3",
    "hypercube",
    "exponential",
]
SPEAKERS = ["bsp / gossip", "ssp:1 / gossip", "asp / pairwise", "bsp / d2", "bsp / tracking"]
SPEAKERS += ["local:2 / push_sum"]
REMEDY = re.compile("use |write |add |leave |make |start ")


def refusal(attempt):
    """Return why `attempt` was refused, None if it was not."""
    try:
        attempt()
    except ConfigurationError as error:
        return str(error)
    return None


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("weights", ["", ",weights=metropolis"])
def test_any_number_of_ranks_runs_or_is_refused_with_what_to_do(graph, weights):
    """Where all are alike and there is no noise, all make the steps of one worker."""
    ran = 0
    for speaker in SPEAKERS if not weights else [one for one in SPEAKERS if "pair" not in one]:
        for n in SIZES:
            this = job(f"{speaker}:{graph}{weights}", n, 4, problem("iso", n, 1, d=4, sigma2=0.0))
            why = refusal(lambda: this.check(n))  # noqa: B023
            if why is not None:
                assert REMEDY.search(why)
                assert graph.partition(":")[0] in why or f"{n} ranks" in why
                continue
            steps, alone = this.variant.sync.start(4), problem("iso", 1, 1, d=4, sigma2=0.0)
            once = simulate(job("bsp / allreduce", 1, steps, alone))[0].x
            found = [result.x for result in simulate(this)]
            assert all(np.isfinite(x).all() for x in found)
            alike = not graph.startswith("directed") or weights  # else gradients count 1 / w
            if alike and not this.variant.left_to_chance:
                assert all(np.allclose(x, once, rtol=0, atol=1e-12) for x in found)
            ran += 1
    assert ran > len(SIZES)


@pytest.mark.parametrize("n", SIZES)
def test_any_number_of_workers_runs_on_any_number_of_servers(n):
    for servers in (0, 1, 2, 5, 20):  # 20 of 6 entries: most have nothing
        for cell in (
            "bsp / ps:backup={b},",
            "local:2 / easgd:",
            "asp / dc_asgd:",
            "ssp:1 / easgd:",
        ):
            text = cell.format(b=min(1, n - 1)) + f"servers={servers}"
            results = simulate(job(text, n, 3))
            assert len(results) == n + servers
            assert all(np.isfinite(one.x).all() for one in results)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_models_do_not_depend_on_the_number_of_servers(n):
    for cell in ("bsp / ps:", "local:2 / easgd:", "growing:4,every=2 / ps:"):
        one, *others = (
            simulate(job(f"{cell}servers={servers}", n)) for servers in (1, 2, 3, 5, 20)
        )
        for other in others:
            for worker in range(n):
                assert np.array_equal(one[worker].x, other[worker].x)


@pytest.mark.parametrize("servers", [2, 3, 5])
@pytest.mark.parametrize("name", ["ps", "easgd", "dc_asgd", "staleness_aware"])
def test_servers_share_the_work(name, servers):
    """One layer of 10,000 entries and ten of 10: bytes to each server within a tenth."""
    made = problem("nc", 3, seed=1, d=1010, layers=101)
    plan, by = "fused:2KB", {}
    results = simulate(job(f"asp / {name}:servers={servers}", 3, 4, made, plan=plan))
    for _, server, *_, up, _ in results[0].services.tolist():
        by[server] = by.get(server, 0) + up
    assert len(by) == servers
    assert max(by.values()) <= 1.1 * min(by.values())


FILES = {
    "two components": ("0 1\n2 3\n", {"push_sum": "not strongly connected", "": "disconnected"}),
    "an edge twice": ("0 1\n1 2\n2 3\n1 0\n", {"": "twice"}),
    "a rank that is not there": ("0 1\n1 2\n2 7\n", {"": "7"}),
    "rows that do not add up": ("0.5 0.4 0 0\n" * 4, {"": "adds up"}),
    "one way that ends": ("0 > 1\n1 > 2\n2 > 3\n", {"push_sum": "strongly", "": ""}),
    "a swap": ("0. 1 0 0\n1 0 0 0\n0 0 0 1\n0 0 1 0\n", {"push_sum": "keeps nothing", "": ""}),
    "less than nothing": ("1.5 -.5 0 0\n-.5 1.5 0 0\n0 0 1 0\n0 0 0 1\n", {"": "-0.5"}),
    "no number": ("nan 1 0 0\n" * 4, {"": ""}),
    "nothing": ("", {"": ""}),
    "a word": ("0 1\n1 x\n", {"": "x"}),
}


@pytest.mark.parametrize("what", FILES)
@pytest.mark.parametrize("speaker", SPEAKERS)
def test_a_bad_graph_is_refused_by_every_cell(tmp_path, speaker, what):
    text, says = FILES[what]
    file = tmp_path / "graph.txt"
    file.write_text(text)
    why = refusal(lambda: job(f"{speaker}:{file}", 4).check(4))
    assert why is not None
    name = speaker.split()[-1]
    if name != "pairwise" or "." not in text:  # whose weights do not count
        assert says.get(name, says[""]) in why
    assert "graph" in why


# -------------------------------------------------------------------------- numbers that are none


class Poisoned:
    """A problem in which one worker meets a number that is not finite at one step."""

    def __init__(self, made, worker, step, value):
        self._made, self._at, self._value, self.met = made, (worker, step), value, False

    def __getattr__(self, name):
        return getattr(self._made, name)

    def batch(self, worker, step):
        batch = self._made.batch(worker, step)
        if (worker, step) == self._at:
            batch[1], self.met = self._value, True
        return batch


def diverged(this, seed):
    """Return who is said to have met it, and when; None if the run ends well."""
    try:
        simulate(this, NETWORK, shuffle=seed)
    except Diverged as error:
        return error.result.diverged
    return None


@pytest.mark.parametrize("plan", ["whole", "layerwise"])
@pytest.mark.parametrize("worker", [0, 3])
@pytest.mark.parametrize("cell", [*LATE, *TOGETHER])
def test_everybody_learns_who_met_a_number_that_is_none(cell, worker, plan):
    """In its first step or its last, of a worker that ends early or not, in any order."""
    clocks, met = 5, 0
    variant = line_of(cell)
    free = variant.architecture.served or variant.left_to_chance
    for ends in [None, (2, 5, 5, 5), (5, 5, 5, 2)] if free else [None]:
        own = clocks if ends is None else ends[worker]
        for step in (0, variant.sync.start(own) - 1):
            made = problem("iso", 4, seed=1, d=6, layers=2)
            bad = Poisoned(made, worker, step, (np.nan, np.inf)[step > 0])
            this = job(cell, 4, clocks, bad, plan=plan, every=1, compute=jagged, ends=ends)
            clock = next(c for c in range(clocks) if variant.sync.start(c + 1) > step)
            found = diverged(this, step)
            assert found == ((worker, clock) if bad.met else None)
            met += bad.met
            assert bad.met or "backup" in cell  # else its round was over: left out
    assert met


# ------------------------------------------------------------------------------------- bad texts

ROOMS = {
    "synchronization": synchronizations,
    "architecture": architectures,
    "topology": topologies,
    "compressor": compressors,
    "schedule": schedules,
    "optimizer": optimizers,
    "stragglers": stragglers,
    "factor": factors,
}
WORDS = ["", "0", "1", "2", "-1", "1.5", "nan", "inf", "yes", "no", "x", "9" * 30, "1e400", "0x3"]
WORDS += ["ring", "solo", "ring;seed=1", "random_regular:2;seed=yes", "a=b", "ef+sign", "./none"]
WORDS += ["topk:2", "/", "1_0", "\u0661", "\x00", "./a\x00b"]


def texts(name, options):
    """Yield texts of a part, most of them wrong."""
    yield name
    for word in WORDS:
        yield f"{name}:{word}"
        yield f"{name}:{word},{word}"
        for option in options:
            for before in ("", "1,", "0.5,", "ring,", "4,"):
                yield f"{name}:{before}{option}={word}"


@pytest.mark.parametrize("room", ROOMS)
def test_any_text_is_understood_or_refused_with_words(room):
    """Nothing but a ConfigurationError, with a remedy; what is understood prints and runs."""
    registry, why = ROOMS[room], list[str]()
    whole = {
        "synchronization": 0,
        "architecture": 1,
        "compressor": 2,
        "schedule": 3,
        "optimizer": 4,
    }
    made = {n: problem("iso", n, 0, d=4, layers=2) for n in (1, 2, 3)}

    def use(text):
        thing = registry.parse(text)
        if room == "topology":
            for n in SIZES:
                thing.matrix(n)
        elif room != "factor":
            assert registry.parse(str(thing)) == thing or "nan" in text
        if room in whole:
            parts = ["asp", "ps", "identity", "whole", "sgd:0.1"]
            parts[whole[room]] = str(thing)
            variant = Variant.parse(" / ".join(parts))
            for n in made:
                variant.check(made[n], n + min(variant.architecture.servers, 3))

    for name in registry:
        kind = registry[name]
        if kind.__module__.startswith("mpiddl.examples"):  # other tests may have imported it
            continue
        options = [one.name for one in fields(kind)] if is_dataclass(kind) else []
        for text in texts(name, options):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                why.append(refusal(lambda: use(text)) or "")  # noqa: B023
    refused = [words for words in why if words]
    assert min(map(len, refused)) > 20
    assert len(refused) > 10 * len(list(registry))


@pytest.mark.parametrize(
    ("cell", "n", "says"),
    [
        ("bsp / ps:backup=4", 4, "write a backup below the number of workers"),
        ("bsp / ps:servers=2,backup=2", 2, "write a backup below the number of workers"),
        ("bsp / ps:backup=-1", 4, "at least 0"),
        ("bsp / ps:backup=0.5", 4, "at least 0"),
        ("asp / ps:backup=1", 4, "use bsp or local:H, or leave backup out"),
        ("asp / allreduce:quorum=5", 4, "write a quorum of 4 at most"),
        ("asp / allreduce:quorum=0", 4, "write allreduce:quorum=majority"),
        ("asp / allreduce:quorum=most", 4, "write allreduce:quorum=majority"),
        ("asp / allreduce:quorum=yes", 4, "write allreduce:quorum=majority"),
        ("bsp / allreduce:quorum=solo", 4, "use ssp:2 with it"),
        ("asp / allreduce", 4, "write allreduce:quorum=solo"),
        ("ssp:9999 / allreduce", 4, "at most"),
        ("asp / easgd:1.5", 4, "write easgd:0.9"),
        ("asp / dc_asgd:nan", 4, "write dc_asgd:0.04"),
        ("asp / dc_asgd:1,decay=1", 4, "decay=0.95"),
        ("bsp / dynamic:-1", 4, "write dynamic:0.1"),
        ("bsp / dynamic:x", 4, "write dynamic:0.1"),
        ("asp / dynamic:1", 4, "use bsp or local:4"),
        ("local:2 / d2:ring", 4, "use bsp"),
        ("bsp / pairwise:ring", 4, "use asp"),
        ("asp / pairwise:one_peer_exponential", 8, "bsp / push_sum:one_peer_exponential"),
        ("bsp / push_sum:star,weights=fastest", 4, "use weights=metropolis"),
        ("post_local:4,after=-1 / allreduce", 4, "write post_local:4,after=100"),
        ("growing:6,every=2 / allreduce", 4, "write growing:8"),
        ("bsp / gossip:ring,weights=best", 4, "write weights=metropolis"),
        ("bsp / gossip:two_level:0", 4, "write two_level:4"),
        ("bsp / gossip:random_regular:2;seed=x", 4, "write random_regular:4;seed=1"),
        ("bsp / gossip:erdos_renyi:0", 4, "write erdos_renyi:0.3;seed=1"),
        ("bsp / push_sum:directed_random:2", 4, "write directed_random:0.2;seed=1"),
        ("bsp / ps:servers=9", -5, "start more"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(cell, n, says):
    def check():
        variant = line_of(cell)
        variant.check(problem("iso", max(n, 1), 0), n + variant.architecture.servers)

    why = refusal(check)
    assert why is not None
    assert says in why
    assert "\n" not in why


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"variant": "bsp / ps / identity / whole / sgd:0.1"}, "Variant.parse"),
        ({"ends": 3}, "a tuple with one number per worker"),
        ({"ends": np.array([3, 3, 3])}, "a tuple with one number per worker"),
        ({"ends": (3, 3)}, "found"),
        ({"ends": (3, 3, 4)}, "found"),
        ({"ends": (3, 0, 3)}, "at least 1"),
        ({"ends": (3, 1.0, 3)}, "whole number"),
        ({"script": [1, 2]}, "script_of"),
        ({"script": {}}, "script"),
        ({"script": {(0, 7): [1]}}, "script"),
    ],
)
@pytest.mark.parametrize(
    "cell",
    ["asp / ps", "asp / gossip:ring", "asp / pairwise:ring", "ssp:1 / allreduce:quorum=solo"],
)
def test_runs_of_other_types_or_lengths_are_refused(cell, options, says):
    right = {"variant": line_of(cell), "problem": problem("iso", 3), "clocks": 3}
    simulate(Run(**right))
    why = refusal(lambda: simulate(Run(**right | options)))
    assert why is not None
    assert says in why
