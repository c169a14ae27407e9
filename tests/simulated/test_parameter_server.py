"""Servers: who holds what, whom they wait for, what they answer; runs that are made again."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpiddl.architecture.shards import shards
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Deadlock, Diverged, ProtocolError
from mpiddl.layout import within
from mpiddl.ledger import FIELDS, script_of
from mpiddl.problems import problem, problems
from mpiddl.synchronization.ssp import SSP
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from theory.cost import parameter_server

NETWORK = Network(alpha=1e-5, beta=1e-9)
GAM = 0.125
MODEL = ("loss", "grad_norm2", "consensus2", "distance2", "accuracy")
LANE, SERVER, CHOICE, WORKER, CLOCK, DELAY, STALENESS, UP, DOWN = range(len(FIELDS))


def job(line, workers=4, clocks=12, **options):
    made = problem("nc", workers, seed=3, d=12, layers=3, zeta2=0.5)
    return Run(Variant.parse(f"{line} / sgd:{GAM}"), made, clocks, every=1, **options)


def models(line, workers=4, clocks=12, **options):
    return [one.x for one in simulate(job(line, workers, clocks, **options), NETWORK)[:workers]]


def curves_agree(one, other, columns=MODEL):
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in columns)


# ------------------------------------------------------------------------------------- shards


def holdings(sizes, servers):
    """Entries that each server holds of consecutive buckets, one (servers,) per bucket."""
    ends = np.cumsum([0, *sizes])
    for start, stop in pairwise(map(int, ends)):
        held = np.zeros(servers, int)
        for shard in shards(slice(start, stop), servers, servers):
            held[shard.server] = shard.part.stop - shard.part.start
        yield held


@given(st.lists(st.integers(1, 40), min_size=1, max_size=9), st.integers(1, 12))
def test_shards_are_a_partition_and_no_server_holds_two_more_than_another(sizes, servers):
    total = np.zeros(servers, int)
    for size, held in zip(sizes, holdings(sizes, servers), strict=True):
        assert held.sum() == size
        assert held.max() - held.min() <= 1
        assert np.count_nonzero(held) == min(size, servers)
        total += held
    assert total.max() - total.min() <= 1


@given(st.integers(0, 30), st.integers(1, 40), st.integers(1, 12))
def test_shards_lie_side_by_side_on_the_last_ranks(start, size, servers):
    found = shards(slice(start, start + size), servers, 20)
    cut = sorted((shard.part.start, shard.part.stop) for shard in found)
    assert cut[0][0] == 0
    assert cut[-1][1] == size
    assert all(one[1] == next_[0] for one, next_ in pairwise(cut))
    assert all(shard.rank == 20 - servers + shard.server for shard in found)


@pytest.mark.parametrize("servers", [1, 2, 3, 5])
def test_one_large_layer_and_ten_small_ones_are_shared_evenly(servers):
    for sizes in ([10**6, *[10] * 10], [*[10] * 10, 10**6], [3, 1] * 20):
        total = sum(holdings(sizes, servers))
        assert total.max() <= 1.1 * total.min()


def test_the_parts_of_layers_in_a_shard():
    layers = (slice(0, 5), slice(5, 6), slice(6, 12))
    assert within(layers, slice(0, 12)) == layers
    assert within(layers, slice(3, 8)) == (slice(0, 2), slice(2, 3), slice(3, 5))
    assert within(layers, slice(5, 6)) == (slice(0, 1),)


@pytest.mark.parametrize("servers", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("plan", ["whole", "layerwise"])
def test_bytes_at_the_servers_are_even_and_the_number_of_servers_changes_no_bit(servers, plan):
    results = simulate(job(f"bsp / ps:servers={servers} / identity / {plan}"), NETWORK)
    services = results[0].services
    for column in (UP, DOWN):
        at = np.bincount(services[:, SERVER], services[:, column])
        assert np.count_nonzero(at) == min(servers, 12)
        if servers <= 3:  # 12 entries can be shared evenly
            assert at.max() <= 1.1 * at.min()
    expected = models(f"bsp / allreduce:naive / identity / {plan}")
    for result, x in zip(results[:4], expected, strict=True):
        assert np.array_equal(result.x, x)


# --------------------------------------------------------------------- nothing may be missing

SYNCHRONOUS = [
    ("bsp", "identity", "sgd:0.125"),
    ("ssp:0", "identity", "sgd:0.125"),
    ("local:3", "identity", "sgd:0.125"),
    ("local:2", "identity", "sgd:0.1>adam:0.01"),
    ("bsp", "identity", "none>momentum:0.05"),
]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("servers", ["ps", "ps:servers=1", "ps:servers=3", "ps:servers=40"])
@pytest.mark.parametrize(("sync", "words", "seats"), SYNCHRONOUS)
def test_joint_rounds_are_the_naive_all_reduce_to_the_bit(n, servers, sync, words, seats):
    made = problem("nc", n, seed=3, d=12, layers=3, zeta2=0.5)
    results = [
        simulate(Run(Variant.parse(f"{sync} / {whom} / {words} / layerwise / {seats}"), made, 6))
        for whom in ("allreduce:naive", servers)
    ]
    for worker in range(n):
        assert np.array_equal(results[0][worker].x, results[1][worker].x)


@pytest.mark.parametrize("words", ["sign", "ef+topk:0.2", "qsgd:4", "ef+sign", "diff+topk:0.3"])
def test_one_server_hears_the_words_of_an_all_reduce(words):
    line = f"bsp / {{}} / {words} / layerwise"
    ours, theirs = (models(line.format(whom)) for whom in ("ps:servers=1", "allreduce"))
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("servers", ["ps", "ps:servers=1", "ps:servers=2"])
@pytest.mark.parametrize("sync", ["bsp", "asp", "ssp:2", "local:1"])
def test_one_worker_is_serial_sgd_to_the_bit(servers, sync):
    run = job(f"{sync} / {servers} / identity / layerwise", 1)
    x, g = run.problem.start(), run.problem.start()
    for step in range(run.clocks):
        for _ in run.problem.gradient(x, run.problem.batch(0, step), g):
            pass
        x -= GAM * g
    assert np.array_equal(simulate(run, NETWORK)[0].x, x)


@pytest.mark.parametrize("servers", ["ps:servers=1", "ps", "ps:servers=2"])
def test_a_mean_is_that_of_the_workers_that_have_not_ended(servers):
    ends = (12, 6, 9, 12)
    run = job(f"bsp / {servers} / identity / whole", ends=ends)
    x, g = run.problem.start(), run.problem.start()
    for clock in range(12):
        total, active = np.zeros_like(x), [w for w in range(4) if clock < ends[w]]
        for worker in active:
            for _ in run.problem.gradient(x, run.problem.batch(worker, clock), g):
                pass
            total += g
        x = x - GAM * (total / len(active))
    results = simulate(run, NETWORK, shuffle=1)
    assert np.array_equal(results[0].x, x)
    assert Counter(results[0].services[:, WORKER].tolist())[1] == 6 * len(
        set(results[0].services[:, SERVER].tolist())
    )


def test_a_layer_that_is_looked_at_as_a_whole_is_with_one_server():
    made = problem("nc", 3, seed=3, d=12, layers=3)
    ours, theirs = (
        simulate(Run(Variant.parse(f"bsp / {whom} / identity / whole / lars:0.1"), made, 6))
        for whom in ("ps:servers=1", "allreduce:naive")
    )
    assert np.array_equal(ours[0].x, theirs[0].x)


# ----------------------------------------------------------------------- clocks may be missing


def by_the_ledger(run, services):
    """Return every model of one server: x_{t+1} = x_t - gam/n g(x_{t - delay})."""
    x = [run.problem.start()]
    for t, (_, _, _, worker, clock, delay, *_) in enumerate(services.tolist()):
        g = np.empty_like(x[0])
        for _ in run.problem.gradient(x[t - delay], run.problem.batch(worker, clock), g):
            pass
        x.append(x[t] - GAM * (g / run.problem.workers))
    return x


@pytest.mark.parametrize("sync", ["asp", "ssp:1", "ssp:3"])
@pytest.mark.parametrize("n", [2, 4])
def test_the_server_takes_gradients_at_models_as_old_as_the_ledger_says(sync, n):
    run = job(f"{sync} / ps:servers=1 / identity / whole", n)
    results = simulate(run, NETWORK, shuffle=5)
    services = results[0].services
    assert len(services) == n * run.clocks
    assert services[:, DELAY].any()
    x = by_the_ledger(run, services)
    curve = results[0].curve
    expected = [run.problem.loss(x[n * clock]) for clock in range(run.clocks + 1)]
    assert np.allclose(curve["loss"], expected, rtol=0, atol=1e-14)
    services[3, DELAY] += 1 if services[3, DELAY] < 3 else -1  # the comparison notices a wrong one
    assert not np.allclose(by_the_ledger(run, services)[-1], x[-1], rtol=0, atol=1e-10)


def distances(services, ends):
    """How far each worker was ahead of the slowest that has not ended, whenever it pushed."""
    for lane, server in {(lane, server) for lane, server in services[:, :2].tolist()}:
        heard = [0] * len(ends)
        for row in services[(services[:, LANE] == lane) & (services[:, SERVER] == server)]:
            behind = [h for h, end in zip(heard, ends, strict=True) if h < end]
            yield int(row[CLOCK] - min(behind))
            heard[row[WORKER]] += 1


@pytest.mark.parametrize("s", [0, 1, 3])
@pytest.mark.parametrize("ends", [None, (12, 6, 12, 12), (12, 12, 6, 12)])
@pytest.mark.parametrize("servers", ["ps", "ps:servers=2"])
def test_nobody_runs_further_ahead_of_a_slow_worker_than_it_may(s, ends, servers):
    slow = 0.05
    run = job(
        f"ssp:{s} / {servers} / identity / layerwise",
        compute=lambda worker, step: slow if worker == 2 else 1e-3,
        ends=ends,
    )
    result = simulate(run, NETWORK)[0]
    services, clocks = result.services, run.all_clocks
    assert max(distances(services, clocks)) == s == services[:, STALENESS].max()
    assert services[:, STALENESS].min() >= 0
    assert services[:, DELAY].max() <= (2 * s + 1) * 3 * (s > 0)
    alone = 12 - clocks[2] - s if clocks[2] < 12 else 0  # clocks of the others when it has ended
    last = slow * clocks[2] + 1e-3 * alone
    assert last <= result.curve["seconds"][-1] <= last + 2e-3


def test_without_a_limit_the_fast_ones_are_soon_done():
    run = job(
        "asp / ps:servers=1 / identity / whole",
        compute=lambda worker, step: 0.05 if worker == 2 else 1e-3,
    )
    result = simulate(run, NETWORK)[0]
    assert result.services[-11:, WORKER].tolist() == [2] * 11
    assert max(distances(result.services, run.all_clocks)) > 3
    assert result.services[:, DELAY].sum() <= 3 * len(result.services)


def test_a_gate_that_stands_open_is_found(monkeypatch):
    run = job("ssp:1 / ps / identity / whole", compute=lambda worker, step: float(worker))
    simulate(run, NETWORK)
    monkeypatch.setattr(SSP, "at_least", lambda self, clock: -1)
    with pytest.raises(ProtocolError, match="clocks miss"):
        simulate(run, NETWORK)


# ------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("down", ["diff+topk:0.3", "diff+sign", "diff+qsgd:4", "fp16", "qsgd:64"])
@pytest.mark.parametrize("sync", ["bsp", "ssp:2"])
@pytest.mark.parametrize("servers", [0, 2])
def test_answers_in_other_words_are_near_and_cost_their_bytes(down, sync, servers):
    line = f"{sync} / ps:servers={servers},down={down} / identity / whole"
    assert str(Variant.parse(f"{line} / sgd:0.125")).split(" / ")[1].endswith(f"down={down}")
    exact, coded = (
        simulate(job(text, clocks=40), NETWORK)
        for text in (line.replace(f",down={down}", ""), line)
    )
    for one, other in zip(exact[:4], coded[:4], strict=True):
        assert not np.array_equal(one.x, other.x)
        assert np.allclose(one.x, other.x, rtol=0, atol=0.1)
    full, short = (each[0].services[:, DOWN].sum() for each in (exact, coded))
    assert short < full
    assert np.array_equal(exact[0].services[:, UP], coded[0].services[:, UP])


@pytest.mark.parametrize("down", ["identity", "diff+topk:0.3", "diff+sign"])
def test_references_begin_at_the_start(down):
    run = job(f"bsp / ps:servers=2,down={down} / identity / whole", clocks=3)
    start = run.problem.start()
    assert start.any()
    still = replace(run, variant=Variant.parse(str(run.variant).replace("0.125", "1e-300")))
    assert all(np.array_equal(one.x, start) for one in simulate(still)[:4])


@pytest.mark.parametrize("sync", ["bsp", "local:2", "ssp:1", "asp"])
@pytest.mark.parametrize("servers", ["ps", "ps:servers=2"])
@pytest.mark.parametrize("words", ["identity", "ef+topk:0.2", "diff+topk:0.2", "qsgd:4"])
@pytest.mark.parametrize("down", ["identity", "topk:0.3", "diff+topk:0.3", "diff+sign"])
def test_everybody_hears_of_a_number_that_is_not_finite(sync, servers, words, down, monkeypatch):
    text = f"{servers}{',' if '=' in servers else ':'}down={down}"
    run = job(f"{sync} / {text} / {words} / layerwise", 3, clocks=8)
    kind = type(run.problem)
    batch = kind.batch

    def spoilt(self, worker, step):
        found = batch(self, worker, step)
        if (worker, step) == (1, 3):
            found[5] = np.inf
        return found

    monkeypatch.setattr(kind, "batch", spoilt)
    with pytest.raises(Diverged, match="rank 1 .* clock") as error:
        simulate(run, NETWORK, shuffle=2)
    result = error.value.result
    assert result.diverged == (1, 3 // run.variant.sync.period)
    assert np.isnan(result.curve["loss"][-1])
    assert not np.isfinite(result.x).all()
    assert np.isfinite(result.curve["loss"][0])


# --------------------------------------------------------------------------------- again

AGAIN = [
    "asp / ps / identity / layerwise",
    "asp / ps:servers=2 / ef+topk:0.2 / whole",
    "ssp:2 / ps:servers=3,down=diff+topk:0.3 / qsgd:4 / layerwise",
    "ssp:1 / ps / diff+sign / whole",
]


def by_server(services):
    return services[np.lexsort((services[:, SERVER], services[:, LANE]))]  # keeps their order


@pytest.mark.parametrize("line", AGAIN)
@pytest.mark.parametrize("ends", [None, (12, 5, 12)])
def test_a_run_is_made_again_by_its_script_on_any_network(line, ends):
    first = job(line, 3, ends=ends)
    once = simulate(first, NETWORK, shuffle=1)
    script = script_of(once[0].services)
    again = simulate(replace(first, script=script), Network(1e-3, 1e-6), shuffle=9)
    assert curves_agree(once[0].curve, again[0].curve)
    assert all(np.array_equal(a.x, b.x) for a, b in zip(once, again, strict=True))
    assert np.array_equal(by_server(once[0].services), by_server(again[0].services))
    if line.startswith("asp"):  # without the script the order is another one
        assert not curves_agree(once[0].curve, simulate(first, NETWORK, shuffle=9)[0].curve)


def orders(draw, clocks, places):
    """Scripts of that many servers, each with the pushes of all workers in some order."""
    pushes = [worker for worker, end in enumerate(clocks) for _ in range(end)]
    return {(0, place): draw(st.permutations(pushes)) for place in range(places)}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_scripts_are_refused_exactly_where_servers_would_wait_for_ever(data):
    sync = data.draw(st.sampled_from(["asp", "ssp:1", "ssp:2"]))
    servers = data.draw(st.integers(1, 2))
    ends = data.draw(st.sampled_from([(3, 3), (3, 1), (2, 2, 2), (1, 2, 3)]))
    run = job(f"{sync} / ps:servers={servers} / identity / whole", len(ends), max(ends), ends=ends)
    run = replace(run, script=orders(data.draw, ends, servers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpiddl.architecture.scripts.can_be_followed", lambda *_: True)
        try:
            simulate(run)
            deadlock = False
        except Deadlock:
            deadlock = True
    with pytest.raises(ConfigurationError, match="for ever") if deadlock else nullcontext():
        simulate(run)


# ------------------------------------------------------------------------------------ costs


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("servers", [None, 1, 2, 3, 20])
@pytest.mark.parametrize("sync", ["bsp", "asp", "ssp:2"])
def test_messages_and_bytes_are_those_of_the_formula(n, servers, sync):
    text = "ps" if servers is None else f"ps:servers={servers}"
    curve = simulate(job(f"{sync} / {text} / identity / layerwise", n), NETWORK)[0].curve
    cost = parameter_server(servers).at(n=n, b=4, w=8)  # 3 layers of 4 entries
    assert curve["messages"][-1] == 12 * 3 * cost.messages
    assert curve["bytes"][-1] == 12 * 3 * cost.bytes
    if sync == "bsp":
        assert curve["bytes"].tolist() == [3 * cost.bytes * clock for clock in range(13)]


@pytest.mark.parametrize(
    ("n", "servers"), [(1, None), (2, None), (4, None), (12, None), (4, 1), (4, 2), (6, 3)]
)
def test_a_clock_takes_the_time_of_the_formula(n, servers):
    network, trace = Network(2.0**-16, 2.0**-30), []
    text = "ps" if servers is None else f"ps:servers={servers}"
    run = job(f"bsp / {text} / identity / whole", n, clocks=1, compute=2.0**-10)
    simulate(run, network, trace=trace)
    cost = parameter_server(servers).at(n=n, b=12, w=8, al=network.alpha, be=network.beta)
    assert max(span.end for span in trace) == 2.0**-10 + cost.time
    assert sum(span.kind == "transfer" for span in trace) == cost.messages


# ---------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bsp / ps:servers=-1 / identity / whole / sgd:0.1", "at least 0"),
        ("bsp / ps:servers=1.5 / identity / whole / sgd:0.1", "whole number"),
        ("bsp / ps:2 / identity / whole / sgd:0.1", "servers, down"),
        ("bsp / ps:down=ef+topk:0.1 / identity / whole / sgd:0.1", r"down=diff\+topk:0.1"),
        ("bsp / ps:down=morse / identity / whole / sgd:0.1", "morse"),
        ("bsp / ps:servers=4 / identity / whole / sgd:0.1", "every rank works and serves"),
        ("bsp / ps:servers=2 / identity / whole / lars:0.1", "servers=1"),
        ("bsp / ps / identity / whole / none>lamb:0.1", "servers=1"),
        ("bsp / ps / ef+topk:0.1 / whole / none>sgd:0.1", "step must be taken before"),
    ],
)
def test_what_cannot_work_is_refused_with_a_remedy(line, says):
    def refused():
        variant = Variant.parse(line)
        workers = 4 - variant.architecture.servers or 4
        variant.check(problems["nc"](workers, seed=0), 4)

    with pytest.raises(ConfigurationError, match=says):
        refused()


def test_scripts_and_ends_that_do_not_fit_are_refused():
    run = job("asp / ps:servers=1 / identity / whole", 2, clocks=2)
    elsewhere = job("bsp / allreduce / identity / whole", 2, clocks=2)
    for wrong, says in [
        (replace(run, script={(0, 0): [0, 1, 0]}), "is not for clocks"),
        (replace(run, script={(1, 0): [0, 1, 0, 1]}), "lane 0 on server 0"),
        (replace(run, script={(0, 0): [0, 1, 0.0, 1]}), "are whole numbers, found 0.0"),
        (replace(run, ends=(2, 3)), "ends after 1 to 2 clocks"),
        (replace(run, ends=(2,)), "2 workers"),
        (replace(run, ends=(2, 1.0)), "whole number"),
        (replace(elsewhere, script={}), "nothing to chance"),
        (replace(elsewhere, ends=(2, 1)), "use ps"),
    ]:
        with pytest.raises(ConfigurationError, match=says):
            simulate(wrong)
