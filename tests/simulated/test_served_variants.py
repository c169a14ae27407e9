"""Servers that make up for staleness, elastic averaging, clocks of several steps: paper by paper.

The recursions below share no code with the rooms but the problems' gradients; what chance decided,
who was heard when, is read from the ledger.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from mpiddl import stragglers
from mpiddl.architecture.server import Server
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.ledger import FIELDS, script_of
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_delivery_orders import check_services
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_pairwise import fp16
from theory.cost import parameter_server

NETWORK = Network(alpha=1e-5, beta=1e-9)
GAM, D, LAYERS = 0.125, 6, 2
LANE, SERVER, CHOICE, WORKER, CLOCK, DELAY, STALENESS, UP, DOWN = range(len(FIELDS))


def job(line, n, clocks=8, seed=1, rate=GAM, pace="lognormal:1e-3,sigma=1", **options):
    made = problem("nc", n, seed=1, d=D, layers=LAYERS, zeta2=0.5)
    options.setdefault("compute", stragglers.parse(pace, seed))
    variant = Variant.parse(line if line.count(" / ") == 4 else f"{line} / sgd:{rate}")
    return Run(variant, made, clocks, every=1, **options)


def gradient(run, x, worker, step):
    g = np.empty_like(x)
    for _ in run.problem.gradient(x, run.problem.batch(worker, step), g):
        pass
    return g


def moved(run, x, worker, clock):
    """Return what the steps of a clock make of the model `x`."""
    for step in range(run.variant.sync.start(clock), run.variant.sync.start(clock + 1)):
        x = x - GAM * gradient(run, x, worker, step)
    return x


# ------------------------------------------------- gradients at old models, one server, one bucket


def pushed(run, services, move, told=np.copy):
    """Return every model of the server: `move` is told x, what x was when read, g and tau.

    `told` makes of a model what workers are told of it.
    """
    x = [run.problem.start()]
    for t, (_, _, _, i, clock, tau, *_) in enumerate(services.tolist()):
        read = told(x[t - tau]) if t > tau else x[0]
        if run.variant.seats.inner is None:
            said = gradient(run, read, i, run.variant.sync.start(clock))
        else:
            said = read - moved(run, read, i, clock)
        x.append(x[t] - move(x[t], read, said, tau))
    return x


def plain(n):
    return lambda x, read, g, tau: GAM * g / n


def displaced(n):
    return lambda x, read, v, tau: v / n


def aware(n):
    return lambda x, read, g, tau: GAM * g / max(1, tau)


def aware_of_displacements(n):
    return lambda x, read, v, tau: v / max(1, tau)


def compensated(n, lam=2.0):
    return lambda x, read, g, tau: GAM * (g + lam * g * g * (x - read)) / n


def adapting(n, lam=2.0, decay=0.9):
    square = np.zeros(D)

    def move(x, read, g, tau):
        square[...] = decay * square + (1 - decay) * g * g
        return GAM * (g + lam / np.sqrt(square + 1e-7) * g * g * (x - read)) / n

    return move


PUSHED = {
    "asp:period=3 / ps:servers=1": displaced,
    "ssp:2,period=3 / ps:servers=1": displaced,
    "ssp:1 / ps:servers=1": plain,
    "asp / staleness_aware:servers=1": aware,
    "ssp:2 / staleness_aware:servers=1": aware,
    "asp:period=2 / staleness_aware:servers=1": aware_of_displacements,
    "asp / dc_asgd:2,servers=1": compensated,
    "ssp:3 / dc_asgd:2,servers=1": compensated,
    "asp / dc_asgd:2,servers=1,decay=0.9": adapting,
    "asp / dc_asgd:0,servers=1": plain,
}


@pytest.mark.parametrize("line", PUSHED)
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("ends", [False, True])
def test_a_server_moves_as_the_ledger_tells(line, n, ends):
    last = (*[8] * (n - 1), 5) if ends else None
    run = job(f"{line} / identity / whole", n, ends=last)
    result = simulate(run, NETWORK, shuffle=n)[0]
    services = result.services
    assert services[:, DELAY].any()
    x = pushed(run, services, PUSHED[line](n))
    due = [sum(min(clock, end) for end in run.all_clocks) for clock in range(9)]
    loss = [run.problem.loss(x[t]) for t in due]
    assert np.allclose(result.curve["loss"], loss, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("asp / staleness_aware:servers=1", plain),
        ("asp / dc_asgd:2,servers=1", plain),
        ("asp / dc_asgd:2,servers=1", lambda n: compensated(n, 1.9)),
        ("asp / dc_asgd:2,servers=1,decay=0.9", compensated),
        ("asp / ps:servers=1", aware),
    ],
)
def test_the_recursion_notices_another_rule(line, other):
    run = job(f"{line} / identity / whole", 3)
    result = simulate(run, NETWORK, shuffle=1)[0]
    x = pushed(run, result.services, other(3))
    assert abs(result.curve["loss"][-1] - run.problem.loss(x[-1])) > 1e-9


def test_what_is_compensated_for_is_what_was_told():
    """In lossy answers the model that a worker was told is not the server's."""
    run = job("asp / dc_asgd:2,servers=1,down=fp16 / identity / whole", 3)
    result = simulate(run, NETWORK, shuffle=1)[0]
    told, exact = (
        [run.problem.loss(x) for x in pushed(run, result.services, compensated(3), words)[::3]]
        for words in (fp16, np.copy)
    )
    assert np.allclose(result.curve["loss"], told, rtol=0, atol=1e-13)
    assert not np.allclose(exact, told, rtol=0, atol=1e-9)


# ---------------------------------------------------------------------------- elastic averaging


def elastic_rounds(run, n, beta):
    """Equations 2 and 3 of the paper, the spring after the steps: models (n, d), centres."""
    x, c = np.tile(run.problem.start(), (n, 1)), [run.problem.start()]
    for clock in range(run.clocks):
        x = np.array([moved(run, x[i], i, clock) for i in range(n)])
        e = beta / n * (x - c[-1])
        x, total = x - e, np.zeros(D)
        for row in e:
            total += row
        c.append(c[-1] + total)
    return x, c


@pytest.mark.parametrize("sync", ["bsp", "local:3", "post_local:2,after=4", "ssp:0"])
@pytest.mark.parametrize("servers", ["servers=1", "servers=2", "servers=9", ""])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_round_pulls_all_models_and_the_centre(sync, servers, n):
    words = ",".join(filter(None, ["0.7", servers]))
    run = job(f"{sync} / easgd:{words} / identity / layerwise / sgd:{GAM}>sgd:1", n)
    results = simulate(run, NETWORK, shuffle=1)
    x, c = elastic_rounds(run, n, 0.7)
    assert np.array_equal([result.x for result in results[:n]], x)
    loss = [run.problem.loss(each) for each in c]
    assert np.array_equal(results[0].curve["loss"], loss)
    away = [((x - c[-1]) ** 2).sum() / n]
    assert np.allclose(results[0].curve["consensus2"][-1], away, rtol=1e-12)
    assert n == 1 or not np.allclose(elastic_rounds(run, n, 0.6)[0], x, atol=1e-9)


def elastic_arrivals(run, services, n, beta):
    """Algorithm 1 of the paper, the spring after the steps: models (n, d), centres."""
    x, c = np.tile(run.problem.start(), (n, 1)), [run.problem.start()]
    heard, waiting = np.zeros(n, int), []
    for _, _, _, i, clock, *_ in services.tolist():
        x[i] = moved(run, x[i], i, clock)
        heard[i] += 1
        waiting.append(i)
        behind = [h for h, end in zip(heard, run.all_clocks, strict=True) if h < end]
        centre = c[-1]
        for j in list(waiting):
            if run.variant.sync.at_least(heard[j] - 1) < min(behind, default=np.inf):
                waiting.remove(j)
                e = beta / n * (x[j] - centre)
                x[j], centre = x[j] - e, centre + e
        c.append(centre)
    return x, c


@pytest.mark.parametrize("sync", ["asp", "asp:period=3", "ssp:1", "ssp:2,period=2"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("ends", [False, True])
def test_a_push_pulls_a_model_and_the_centre(sync, n, ends):
    last = (*[8] * (n - 1), 5) if ends and n > 1 else None
    run = job(f"{sync} / easgd:0.7,servers=1 / identity / whole", n, ends=last)
    results = simulate(run, NETWORK, shuffle=n)
    x, c = elastic_arrivals(run, results[0].services, n, 0.7)
    assert np.allclose([result.x for result in results[:n]], x, rtol=0, atol=1e-13)
    due = [sum(min(clock, end) for end in run.all_clocks) for clock in range(9)]
    loss = [run.problem.loss(c[t]) for t in due]
    assert np.allclose(results[0].curve["loss"], loss, rtol=0, atol=1e-13)


class Counted:
    """A problem that adds up all gradients (d,) that it gives."""

    def __init__(self, learnt):
        self._learnt, self.total = learnt, np.zeros(D)

    def __getattr__(self, name):
        return getattr(self._learnt, name)

    def gradient(self, x, batch, out):
        yield from self._learnt.gradient(x, batch, out)
        self.total += out


@pytest.mark.parametrize("sync", ["bsp", "local:2", "ssp:1", "asp:period=2"])
@pytest.mark.parametrize("words", ["identity", "diff+topk:0.3", "fp16", "diff+qsgd:4"])
@pytest.mark.parametrize("down", ["identity", "diff+topk:0.3", "diff+sign", "qsgd:64"])
@pytest.mark.parametrize("servers", ["servers=1", "servers=0", "servers=4"])
def test_a_spring_gives_to_the_centre_what_it_takes_from_a_worker(
    sync, words, down, servers, monkeypatch
):
    """In any words models and centre together move by the gradients alone."""
    servers_here, make = [], Server.__init__

    def made(self, *args):
        make(self, *args)
        servers_here.append(self)

    monkeypatch.setattr(Server, "__init__", made)
    run = job(f"{sync} / easgd:0.7,{servers},down={down} / {words} / layerwise", 3)
    learnt = Counted(run.problem)
    results = simulate(replace(run, problem=learnt), NETWORK, shuffle=2)
    centre = np.zeros(D)
    for server in servers_here:
        centre[server.span] = server.x
    start = run.problem.start()
    way = sum(result.x - start for result in results[:3]) + centre - start
    assert np.allclose(way, -GAM * learnt.total, rtol=0, atol=1e-12)
    assert np.linalg.norm(centre - start) > 1e-3


# ------------------------------------------------------------------------------------ any order

ORDERS = 84
ANY = [
    "asp / easgd:0.9 / identity / layerwise",
    "asp:period=2 / easgd:0.5,servers=2 / diff+topk:0.4 / whole",
    "ssp:1 / easgd:0.9,servers=1,down=diff+sign / identity / layerwise",
    "ssp:2,period=2 / easgd / diff+sign / whole",
    "asp / staleness_aware / identity / layerwise",
    "ssp:2 / staleness_aware:servers=2 / ef+topk:0.4 / whole",
    "asp:period=2 / staleness_aware:servers=3 / ef+sign / layerwise",
    "asp / dc_asgd:1 / identity / layerwise",
    "ssp:1 / dc_asgd:1,servers=2,decay=0.9 / topk:0.4 / whole",
    "asp / dc_asgd:1,servers=1,down=diff+topk:0.4 / diff+qsgd:4 / layerwise",
    "asp:period=2 / ps:servers=2 / ef+topk:0.4 / layerwise",
    "ssp:1,period=2 / ps / identity / whole",
]


@contextmanager
def told(n, seed):
    """Tell which order failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{n} workers, seed {seed}")
        raise


def by_place(services):
    return services[np.lexsort((services[:, SERVER], services[:, LANE]))]


@pytest.mark.parametrize("line", ANY)
def test_servers_keep_their_promises_in_any_order(line):
    attained = 0
    for index in range(ORDERS):
        n, seed = 2 + index % 4, index // 4
        ends = (*[4] * (n - 1), 2) if seed % 3 == 0 else None
        run = job(line, n, 4, seed, ends=ends)
        with told(n, seed):
            results = simulate(run, NETWORK, shuffle=seed)
            services, curve = results[0].services, results[0].curve
            attained = max(attained, check_services(services, run))
            assert all(np.isfinite(result.x).all() for result in results)
            assert np.isfinite(curve["loss"]).all()
            assert curve["messages"][-1] == 2 * np.count_nonzero(services[:, UP])
            assert curve["bytes"][-1] == services[:, UP:].sum()
            if index % 12 == 0:
                again = replace(run, script=script_of(services))
                again = simulate(again, Network(1e-3, 1e-6), shuffle=99)
                pairs = zip(results, again, strict=True)
                assert all(np.array_equal(one.x, other.x) for one, other in pairs)
                assert np.array_equal(curve["loss"], again[0].curve["loss"])
                assert np.array_equal(by_place(services), by_place(again[0].services))
    assert attained == min(run.variant.sync.staleness, 4)


# ---------------------------------------------------------------------------------- their limits


def models(line, n, shuffle=None, **options):
    run = job(f"{line} / identity / layerwise", n, **options)
    return np.array([result.x for result in simulate(run, NETWORK, shuffle=shuffle)[:n]])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("asp:period=1 / {}:servers=1", "asp / {}:servers=1"),
        ("ssp:2,period=1 / {}", "ssp:2 / {}"),
    ],
)
@pytest.mark.parametrize("name", ["ps", "staleness_aware", "dc_asgd", "easgd"])
def test_one_step_a_clock_is_one_step(one, other, name):
    a, b = (models(line.format(name), 3, shuffle=4) for line in (one, other))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("servers", ["", "servers=1", "servers=2"])
@pytest.mark.parametrize("sync", ["asp", "ssp:2"])
@pytest.mark.parametrize("name", ["staleness_aware:", "dc_asgd:3,", "dc_asgd:3,decay=0.9,"])
def test_one_worker_is_serial_sgd_to_the_bit(name, sync, servers):
    line = f"{sync} / {name}{servers}".rstrip(",:")
    run = job(f"{line} / identity / whole", 1)
    x = run.problem.start()
    for step in range(run.clocks):
        x -= GAM * gradient(run, x, 0, step)
    assert np.array_equal(simulate(run, NETWORK)[0].x, x)


def test_without_a_correction_dc_asgd_is_ps_to_the_bit():
    pair = [models(f"asp / {name}servers=2", 4, shuffle=2) for name in ("dc_asgd:0,", "ps:")]
    assert np.array_equal(*pair)


def test_old_gradients_take_shorter_steps():
    """One worker is ten times as slow: its pushes move the model by a tenth, no others' do."""
    run = job("asp / staleness_aware:servers=1 / identity / whole", 2, 40, ends=(40, 4))
    run = replace(run, compute=stragglers.parse("slow:1e-3,worker=1,factor=10", 0))
    services = simulate(run, Network(0, 0))[0].services
    tau = {worker: services[services[:, WORKER] == worker][:, DELAY] for worker in range(2)}
    assert tau[0].max() <= 1
    assert tau[1][1:].min() >= 9


def test_a_spring_keeps_workers_together():
    away = {}
    for beta in (0.1, 0.9):
        run = job(f"local:2 / easgd:{beta} / identity / whole", 4, 40, rate=0.05)
        away[beta] = simulate(run, NETWORK)[0].curve["consensus2"][-1]
    assert 0 < 3 * away[0.9] < away[0.1]


# ------------------------------------------------------------------------------ the rest is as ps


@pytest.mark.parametrize("name", ["staleness_aware", "dc_asgd:1", "easgd:0.5"])
@pytest.mark.parametrize("servers", [None, 1, 2, 20])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_messages_and_bytes_are_those_of_a_parameter_server(name, servers, n):
    more = "" if servers is None else f"{',' if ':' in name else ':'}servers={servers}"
    for sync in ("asp", "bsp"):
        if sync == "bsp" and "easgd" not in name:
            continue
        run = job(f"{sync} / {name}{more} / identity / layerwise", n)
        curve = simulate(run, NETWORK)[0].curve
        cost = parameter_server(servers).at(n=n, b=D // LAYERS, w=8)
        assert curve["messages"][-1] == 8 * LAYERS * cost.messages
        assert curve["bytes"][-1] == 8 * LAYERS * cost.bytes


@pytest.mark.parametrize(
    "line", ["bsp / easgd / identity", "local:2 / easgd / diff+topk:0.4", *ANY]
)
def test_everybody_hears_of_a_number_that_is_not_finite(line, monkeypatch):
    run = job(line if line.count(" / ") == 3 else f"{line} / layerwise", 3)
    kind, start = type(run.problem), run.variant.sync.start(3)
    batch = kind.batch

    def spoilt(self, worker, step):
        found = batch(self, worker, step)
        if (worker, step) == (1, start):
            found[5] = np.inf
        return found

    monkeypatch.setattr(kind, "batch", spoilt)
    with pytest.raises(Diverged, match="rank . met") as error:
        simulate(run, NETWORK, shuffle=2)
    result = error.value.result
    assert np.isnan(result.curve["loss"][-1])
    assert not np.isfinite(result.x).all()
    assert np.isfinite(result.curve["loss"][0])


@pytest.mark.parametrize("line", ["bsp / easgd:0.7 / identity / layerwise", *ANY[1::2], ANY[8]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problem("nc", 3, seed=1, d=D, layers=LAYERS, dtype=dtype, zeta2=0.5)
    variant, pace = Variant.parse(f"{line} / sgd:0.25"), stragglers.parse("lognormal:1e-3", 0)
    on_host, on_device = (
        simulate(Run(variant, each, 12, every=3, compute=pace), NETWORK)
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for here, there in zip(on_host, on_device, strict=True):
        assert isinstance(there.x, FakeArray)
        assert np.array_equal(here.x, there.x.get())
    assert on_host[0].curve == on_device[0].curve


@pytest.mark.parametrize("kind", ["staleness_aware", "dc_asgd", "easgd"])
def test_texts_print_back(kind):
    known = {
        "staleness_aware": ["staleness_aware", "staleness_aware:servers=2,down=fp16"],
        "dc_asgd": ["dc_asgd", "dc_asgd:2.0,servers=1,decay=0.9", "dc_asgd:0.5,down=diff+sign"],
        "easgd": ["easgd", "easgd:0.5", "easgd:0.5,servers=3", "easgd:servers=1,down=diff+sign"],
    }[kind]
    for text in known:
        line = f"asp / {text} / identity / whole / sgd:0.1"
        assert str(Variant.parse(line)) == line
    named = f"asp / {kind}:servers=1 / identity / whole / sgd:0.1"
    assert Variant.parse(named).seats.inner == (
        None
        if kind != "easgd"
        else Variant.parse(named.replace("sgd:0.1", "sgd:0.1>sgd:1")).seats.inner
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bsp / staleness_aware / identity / whole / sgd:0.1", "none is: use ps"),
        ("ssp:0 / staleness_aware / identity / whole / sgd:0.1", "none is: use ps"),
        ("local:2 / dc_asgd / identity / whole / sgd:0.1", "none is: use ps"),
        ("asp:period=2 / dc_asgd / identity / whole / sgd:0.1", "none>sgd:0.1"),
        ("asp / dc_asgd / ef+topk:0.1 / whole / sgd:0.1", "none>sgd:0.1"),
        ("asp / dc_asgd / qsgd:4 / whole / sgd:0.1", r"diff\+qsgd:4"),
        ("asp / dc_asgd / randk:0.1 / whole / sgd:0.1", "use identity"),
        ("asp / dc_asgd:-1 / identity / whole / sgd:0.1", "dc_asgd:0.04"),
        ("asp / dc_asgd:1,decay=1 / identity / whole / sgd:0.1", "decay=0.95"),
        ("asp / dc_asgd:nan / identity / whole / sgd:0.1", "finite"),
        ("bsp / easgd:0 / identity / whole / sgd:0.1", "easgd:0.9"),
        ("bsp / easgd:1.5 / identity / whole / sgd:0.1", r"\(0, 1\]"),
        ("bsp / easgd / ef+topk:0.1 / whole / sgd:0.1", "remembers displacements"),
        ("bsp / easgd / identity / whole / none>sgd:0.1", "inner optimizer"),
        ("bsp / easgd:servers=-1 / identity / whole / sgd:0.1", "easgd needs a whole number"),
        ("bsp / easgd:down=ef+sign / identity / whole / sgd:0.1", r"down=diff\+sign"),
        ("asp / staleness_aware / identity / whole / lars:0.1", "servers=1"),
    ],
)
def test_what_cannot_work_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        simulate(job(line, 4))
