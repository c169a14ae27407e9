"""The cells under MPI, and what befalls one rank of them: it fails, is killed, sleeps, differs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from hashlib import sha256

import pytest

from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from tests.launcher import ROOT, WITHIN, environment, mpirun
from tests.simulated.test_faults_of_cells import LATE, TOGETHER, line_of

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")


HEAD = """
import os, signal, sys, time
from hashlib import sha256
from dataclasses import replace
import numpy as np
import mpiddl
from mpi4py import MPI
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError, Diverged
from mpiddl.ledger import FIELDS, SHOWN, script_of
from mpiddl.train import Run, run, simulate
from tests.simulated.test_faults_of_cells import LATE, TOGETHER, UNEVEN, Poisoned, line_of, shards

size, rank = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
CELLS = [*LATE, *TOGETHER]

def started():
    open(os.environ["STARTED"], "w").close()

def job(cell, clocks=6, made=None, rule="sgd:0.1", **options):
    variant = line_of(cell, rule)
    workers = size - variant.architecture.servers
    made = made or mpiddl.problem("nc", workers, seed=1, d=6, layers=2, zeta2=0.5)
    return Run(variant, made, clocks, **options)

def equal_on_all(value):
    everyone = MPI.COMM_WORLD.allgather(value)
    assert all(one == everyone[0] for one in everyone), everyone
"""


@pytest.fixture
def end(ended):
    """Return what runs a body after `HEAD` on four ranks, or as many as are asked for."""
    return lambda body, ranks=4, **extra: ended(HEAD + textwrap.dedent(body), ranks, **extra)


# -------------------------------------------------------------------------------- one rank fails

FAILING = {  # (cell, what fails, the rank)
    "who counts in eager SGD": ("asp / allreduce:quorum=solo", "gradient", 0),
    "a neighbour nobody waits for": ("asp / gossip:ring", "gradient", 3),
    "one who is asked": ("asp / pairwise:ring", "gradient", 1),
    "a backup worker": ("bsp / ps:backup=1", "gradient", 1),
    "a server": ("asp / dc_asgd:servers=1", "heard", 3),
    "a centre": ("asp / easgd", "heard", 2),
}


@pytest.mark.parametrize("what", FAILING)
def test_one_that_raises_ends_all_with_one_message(end, what):
    cell, method, culprit = FAILING[what]
    job = end(
        f"""
        from mpiddl.architecture.server import Server
        this = job({cell!r}, clocks=10**6, every=10**6)
        kind = type(this.problem) if {method!r} == "gradient" else Server
        usual, calls = getattr(kind, {method!r}), []

        def spoilt(*given):
            calls.append(1)
            if rank == {culprit} and len(calls) == 20:
                started()
                raise ValueError("spoilt")
            return usual(*given)

        setattr(kind, {method!r}, spoilt)
        run(this)
        """
    )
    assert job.code == 1, job.all
    assert job.err.count("ValueError: spoilt") == 1, job.all
    assert job.err.count(f"failed on rank {culprit} of 4") == 1, job.all


@pytest.mark.parametrize("cell", ["asp / pairwise:ring", "asp / allreduce:quorum=majority"])
def test_one_that_is_killed_ends_all(end, cell):
    job = end(
        f"""
        def compute(worker, step):
            if (worker, step) == (1, 20):
                started()
                os.kill(os.getpid(), signal.SIGKILL)
            return 0.0

        run(job({cell!r}, clocks=10**6, every=10**6, compute=compute))
        """
    )
    assert job.code not in (0, 2), job.all


@pytest.mark.parametrize("cell", ["asp / pairwise:ring", "asp / allreduce:quorum=solo"])
def test_ctrl_c_ends_all(tmp_path, cell):
    program, started = tmp_path / "program.py", tmp_path / "pid-"
    program.write_text(
        f"{HEAD}\nopen(os.environ['STARTED'] + str(os.getpid()), 'w').close()\n"
        f"run(job({cell!r}, clocks=10**6, every=10**6))\n"
    )
    command = [str(mpirun()), "-np", "3", sys.executable, str(program)]
    pipes = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = environment() | {"STARTED": str(started)}
    with subprocess.Popen(command, env=env, cwd=ROOT, **pipes) as job:
        deadline = time.monotonic() + 30
        while len(found := list(tmp_path.glob("pid-*"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        began = time.monotonic()
        try:
            said = job.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            job.terminate()
            said = job.communicate(timeout=10)
    ranks = [int(file.name.removeprefix("pid-")) for file in found]
    assert len(ranks) == 3, said
    assert job.returncode != 0
    while any(os.path.exists(f"/proc/{pid}") for pid in ranks):  # the launcher may leave before
        assert time.monotonic() - began < WITHIN, said
        time.sleep(0.05)


def test_a_number_that_is_none_is_said_by_all_in_every_cell(end):
    job = end(
        """
        comm = mpiddl.MPICommunicator()  # one for all: nothing is left over from the run before
        for at, cell in enumerate(CELLS):
            variant, clocks = line_of(cell), 6
            worker = at % (size - variant.architecture.servers)
            step = variant.sync.start(clocks) - 1 if at % 3 == 0 else at % 3
            made = mpiddl.problem("iso", size - variant.architecture.servers, 1, d=6, layers=2)
            bad = Poisoned(made, worker, step, np.nan)
            this, found = job(cell, clocks, bad, every=1), None
            try:
                run(this, comm)
            except Diverged as error:
                found = error.result.diverged
            equal_on_all(found)
            clock = next(c for c in range(clocks) if variant.sync.start(c + 1) > step)
            late = "backup" in cell and not MPI.COMM_WORLD.allreduce(bad.met)
            assert found == (worker, clock) or late and found is None, (cell, found, worker, clock)
        if rank == 0:
            print("all", len(CELLS))
        """
    )
    assert job.code == 0, job.all
    assert job.out.startswith("all"), job.all


# ------------------------------------------------------------------------------- one rank differs


def test_what_ranks_disagree_on_or_cannot_be_is_refused_alike_before_any_message(end):
    job = end(
        """
        def asp(**options):
            return job("asp / gossip:ring", **options)

        once = script_of(simulate(asp())[0].services)
        other = script_of(simulate(asp(clocks=5))[0].services)
        lost = {at: order for at, order in once.items() if at != (0, 1)}
        changed = {**once, (0, 2): [*once[0, 2][:-1], once[0, 2][-1] - 3]}
        different = "asp / pairwise:ring" if rank == 2 else "asp / gossip:ring"
        two = mpiddl.problem("nc", size, seed=2 + (rank == 1), d=6, layers=2, zeta2=0.5)
        wrong = {
            "other texts": lambda: job(different),
            "other graphs": lambda: job(f"bsp / d2:random_regular:2;seed={rank // 3}"),
            "other seeds": lambda: asp(made=two),
            "other clocks": lambda: asp(clocks=6 + (rank == 3)),
            "other ends": lambda: asp(ends=(6, 6, 6, 6 - rank % 2)),
            "a script here only": lambda: asp(script=once if rank else None),
            "a script of another run": lambda: asp(script=other),
            "a script with a gap": lambda: asp(script=lost),
            "a script that goes back": lambda: asp(script=changed),
            "a script of another cell": lambda: job("asp / pairwise:ring", script=once),
            "a script of nothing": lambda: job("bsp / d2:ring", script=once),
            "more backups than workers": lambda: job("bsp / ps:servers=1,backup=3"),
            "more than all": lambda: job("asp / allreduce:quorum=5"),
            "ends of others": lambda: asp(ends=(6, 6)),
            "ends where all wait": lambda: job("bsp / dynamic:1", ends=(6, 6, 6, 2)),
            "no worker": lambda: Run(
                line_of("asp / dc_asgd:servers=4"), mpiddl.problem("iso", 1, 0), 6
            ),
            "a graph that goes one way": lambda: job("asp / pairwise:exponential"),
        }
        comm = mpiddl.MPICommunicator()
        for what, make in wrong.items():
            said = None
            try:
                run(make(), comm)
            except ConfigurationError as error:
                said = str(error)
            assert said is not None, what
            if "other" not in what:
                equal_on_all(said)
            assert comm.traffic.sent.messages == 0, what
            if rank == 0:
                print(what, "|", said)
        run(asp(script=once), comm)  # and it still works
        """
    )
    assert job.code == 0, job.all
    lines = job.out.splitlines()
    assert len(lines) == 17, job.all
    assert all(len(line.partition("|")[2]) > 20 for line in lines), job.all


def test_a_text_that_only_one_rank_has_wrong_ends_all(end):
    job = end(
        """
        started()
        with mpiddl.guard():
            run(job("asp / allreduce:quorum=solo" if rank != 2 else "asp / allreduce:quorum=sole"))
        """
    )
    assert job.code == 2, job.all
    assert job.err.count("mpiddl: error") == 1, job.all
    assert "write allreduce:quorum=majority" in job.err, job.all


BAD_GRAPH = """
folder = {folder!r} + f"/of-{{rank}}"
os.mkdir(folder)
os.chdir(folder)
open("graph.txt", "w").write("0 1\\n1 2\\n2 3\\n" + "3 0\\n" * (rank != 2))
started()
with mpiddl.guard():
    run(job({cell!r}))
"""


@pytest.mark.parametrize("cell", ["bsp / d2:./graph.txt", "asp / pairwise:./graph.txt"])
def test_a_graph_that_differs_on_one_rank_is_noticed_on_all(end, tmp_path, cell):
    job = end(BAD_GRAPH.format(folder=str(tmp_path), cell=cell))
    assert job.code == 2, job.all
    assert job.err.count("mpiddl: error: ranks disagree") == 1, job.all


# ------------------------------------------------------------------------------------ what works


def test_every_cell_runs_with_uneven_shards_as_in_the_simulator(end):
    """To the bit, where something is left to chance by its script."""
    job = end(
        """
        comm = mpiddl.MPICommunicator()  # one for all: nothing is left over from the run before
        for at, cell in enumerate(CELLS):
            workers = size - line_of(cell).architecture.servers
            rows = max(2, list(UNEVEN.values())[at % len(UNEVEN)](workers))
            this, script = job(cell, made=shards(workers, rows)), None
            result = run(this, comm)
            if this.variant.left_to_chance and rank == 0:
                script = script_of(result.services)
            this = replace(this, script=MPI.COMM_WORLD.bcast(script))
            assert np.array_equal(simulate(this)[rank].x, result.x), cell
            if this.variant.left_to_chance and rank == 0:
                rows = result.services[result.services[:, 0] != SHOWN]
                missing = rows[:, FIELDS.index("staleness")]
                assert missing.max() <= this.variant.sync.staleness, cell
                if "backup" not in cell:
                    assert {*rows[:, FIELDS.index("worker")].tolist()} == set(range(workers)), cell
        if rank == 0:
            print("all", len(CELLS))
        """
    )
    assert job.code == 0, job.all
    assert job.out.startswith("all"), job.all


BESIDE = re.compile("servers=.,?|backup=1")
ON_ONE = [BESIDE.sub("", cell).removesuffix(":") for cell in [*LATE, *TOGETHER]]


def test_one_rank_does_the_same_with_and_without_mpirun(end, tmp_path):
    """What it does is what the simulator does; nothing is sent."""
    body = f"""
for cell in {ON_ONE!r}:
    result = run(job(cell))
    print(sha256(result.x.tobytes()).hexdigest(), result.curve["messages"][-1])
"""
    launched = end(body, 1)
    file = tmp_path / "alone.py"
    file.write_text(HEAD + body)
    options = {"env": environment(), "cwd": ROOT, "text": True, "capture_output": True}
    alone = subprocess.run([sys.executable, str(file)], timeout=60, **options)
    assert launched.code == alone.returncode == 0, launched.all + alone.stderr
    assert launched.out == alone.stdout
    made = problem("nc", 1, seed=1, d=6, layers=2, zeta2=0.5)
    for cell, line in zip(ON_ONE, launched.out.splitlines(), strict=True):
        again = simulate(Run(line_of(cell), made, 6))[0]
        assert line == f"{sha256(again.x.tobytes()).hexdigest()} 0.0", cell


def test_one_that_does_not_call_mpi_for_a_second_shows_as_staleness(end):
    """A neighbour sleeps in its gradient: those who may go on do, and nothing hangs."""
    job = end(
        """
        class Sleepy:
            def __init__(self, made):
                self.made = made

            def __getattr__(self, name):
                return getattr(self.made, name)

            def gradient(self, x, batch, out):
                if rank == 1 and self.steps == 3:
                    time.sleep(1.0)
                self.steps += 1
                return self.made.gradient(x, batch, out)

            steps = 0

        for cell in (
            "asp / gossip:ring",
            "asp / pairwise:ring",
            "asp / easgd:servers=1",
            "asp / allreduce:quorum=solo",
            "ssp:2 / gossip:complete",
        ):
            this = job(cell, clocks=12, compute=0.002)
            began = time.monotonic()
            result = run(replace(this, problem=Sleepy(this.problem)))
            took = time.monotonic() - began
            if rank == 0:
                rows = result.services[result.services[:, 0] != SHOWN]
                late, delays = rows[:, FIELDS.index("staleness")], rows[:, FIELDS.index("delay")]
                print(cell, "|", late.max(), delays.max(), f"{took:.2f}")
        """
    )
    assert job.code == 0, job.all
    found = {}
    for line in job.out.splitlines():
        cell, numbers = line.split("|")
        late, _, took = map(float, numbers.split())
        found[cell.strip()] = late
        assert took < 4, job.all
    assert len(found) == 5
    for cell in ("asp / gossip:ring", "asp / easgd:servers=1"):
        assert found[cell] >= 5, job.all
    assert found["ssp:2 / gossip:complete"] == 2, job.all


@pytest.mark.parametrize("level", ["single", "funneled"])
def test_any_thread_level_will_do(end, level):
    job = end(
        """
        for cell in CELLS[::2]:
            run(job(cell, clocks=3))
        if rank == 0:
            print("done", MPI.Query_thread())
        """,
        MPI4PY_RC_THREAD_LEVEL=level,
    )
    assert job.code == 0, job.all
    assert job.out.split()[0] == "done", job.all
    assert job.out.split()[1] == str(("single", "funneled").index(level)), job.all


def test_two_runs_of_one_seed_are_equal_where_nothing_is_left_to_chance(end):
    """On all ranks; the second run is made here, by other processes, in virtual time."""
    job = end(
        """
        for cell in CELLS:
            this = job(cell, clocks=8)
            if not this.variant.left_to_chance:
                everyone = MPI.COMM_WORLD.gather(sha256(run(this).x.tobytes()).hexdigest())
                if rank == 0:
                    print(cell, "|", *everyone)
        """
    )
    assert job.code == 0, job.all
    lines = job.out.splitlines()
    assert len(lines) > 12
    for line in lines:
        cell, sums = line.split(" | ")
        variant = line_of(cell)
        made = problem("nc", 4 - variant.architecture.servers, seed=1, d=6, layers=2, zeta2=0.5)
        again = simulate(Run(variant, made, 8))
        assert sums.split() == [sha256(one.x.tobytes()).hexdigest() for one in again]
        if "allreduce" in cell:
            assert len(set(sums.split())) == 1, line
