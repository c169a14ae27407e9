"""What goes wrong in one part, on one rank: servers, workers that nobody waits for, graphs, MPI."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.launcher import ROOT, WITHIN, Job, environment, launch, mpirun

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")


HEAD = """
import os, sys, time
import numpy as np
import mpiddl
from mpi4py import MPI
from mpiddl.architecture.server import Server
from mpiddl.problems.base import Base

size, rank = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank

def started():
    open(os.environ["STARTED"], "w").close()

def train(line, clocks=200, name="breast_cancer", **options):
    variant = mpiddl.Variant.parse(line)
    problem = mpiddl.problem(name, size - variant.architecture.servers, 5)
    return mpiddl.run(mpiddl.Run(variant, problem, clocks, **options))
"""


@pytest.fixture
def end(ended):
    """Return what runs a body after `HEAD` on four ranks, or as many as are asked for."""
    return lambda body, ranks=4, **extra: ended(HEAD + textwrap.dedent(body), ranks, **extra)


SERVED = {
    "servers of their own": "ps:servers=2",
    "servers beside workers": "ps",
}
SPOILT = {
    "a server that hears": ("Server.heard", "rank == size - 1"),
    "a server that answers": ("Server.answer", "rank == size - 1"),
    "a worker that draws": ("type(mpiddl.problem('breast_cancer', 2)).batch", "rank == 1"),
}


@pytest.mark.parametrize("sync", ["asp", "ssp:2", "bsp"])
@pytest.mark.parametrize("servers", SERVED)
@pytest.mark.parametrize("who", SPOILT)
def test_one_that_raises_ends_all_with_one_message(end, who, servers, sync):
    method, where = SPOILT[who]
    owner, _, name = method.rpartition(".")
    job = end(
        f"""
        kind, calls = {owner}, []
        usual = kind.{name}

        def spoilt(self, *args, **options):
            calls.append(1)
            if {where} and len(calls) == 20:
                started()
                raise ValueError("spoilt")
            return usual(self, *args, **options)

        kind.{name} = spoilt
        train("{sync} / {SERVED[servers]} / identity / whole / sgd:0.1")
        """
    )
    assert job.code == 1, job.all
    assert job.err.count("ValueError: spoilt") == 1, job.all
    rank = 1 if "worker" in who else 3
    assert job.err.count(f"failed on rank {rank} of 4") == 1, job.all


@pytest.mark.parametrize(
    "line", ["asp / ps:servers=1", "ssp:2 / ps", "bsp / gossip:ring", "bsp / allreduce"]
)
def test_ctrl_c_at_the_launcher_ends_all_ranks(tmp_path, line):
    program = tmp_path / "program.py"
    program.write_text(
        HEAD
        + "open(os.environ['STARTED'] + str(os.getpid()), 'w').close()\n"
        + f"train('{line} / identity / whole / sgd:0.01', clocks=1000000, every=100000)\n"
    )
    command = [str(mpirun()), "-np", "3", sys.executable, str(program)]
    env = environment() | {"STARTED": str(tmp_path / "pid-")}
    with subprocess.Popen(
        command, env=env, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as job:
        deadline = time.monotonic() + 30
        while len(list(tmp_path.glob("pid-*"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        began = time.monotonic()
        try:
            out, err = job.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            job.terminate()
            out, err = job.communicate(timeout=10)
    ranks = [int(file.name.removeprefix("pid-")) for file in tmp_path.glob("pid-*")]
    assert len(ranks) == 3, (out, err)
    assert job.returncode != 0
    while any(_alive(pid) for pid in ranks):  # Open MPI's launcher leaves before they do
        assert time.monotonic() - began < WITHIN, (out, err)
        time.sleep(0.05)
    assert time.monotonic() - began < WITHIN, (out, err)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


BAD_GRAPHS = {
    "two components": ("0 1\n2 3\n", "connected"),
    "an edge twice": ("0 1\n1 2\n2 3\n1 0\n", "twice"),
    "a rank that is not there": ("0 1\n1 2\n2 7\n", "7"),
    "rows that do not add up": ("0.5 0.5 0 0\n" * 4, "adds up"),
    "a word": ("0 1\n1 x\n", "x"),
}


@pytest.mark.parametrize("what", BAD_GRAPHS)
def test_a_bad_graph_is_refused_on_all_ranks_together(end, tmp_path, what):
    text, said = BAD_GRAPHS[what]
    graph = tmp_path / "graph.txt"
    graph.write_text(text)
    line = f"bsp / gossip:{graph} / identity / whole / sgd:0.1"
    job = end(f"with mpiddl.guard():\n    train({line!r})")
    assert job.code == 2, job.all
    assert job.err.count("mpiddl: error: ") == 1, job.all
    assert said in job.err, job.all
    assert "Traceback" not in job.err, job.all


RING = "0 1\n1 2\n2 3\n3 0\n"
ON_RANK_2 = {
    "another graph": "open(path, 'w').write('0 1\\n1 2\\n2 3\\n')",
    "no graph": "os.remove(path)",
    "a broken graph": "open(path, 'w').write('0 1\\nx y\\n')",
}


@pytest.mark.parametrize("what", ON_RANK_2)
def test_a_file_that_differs_on_one_rank_is_noticed_on_all(end, tmp_path, what):
    job = end(
        f"""
        folder = {str(tmp_path)!r} + f"/of-{{rank}}"
        os.mkdir(folder)
        os.chdir(folder)
        path = "./graph.txt"
        open(path, "w").write({RING!r})
        if rank == 2:
            {ON_RANK_2[what]}
        started()
        with mpiddl.guard():
            train(f"bsp / gossip:{{path}} / identity / whole / sgd:0.1")
        """
    )
    assert job.code == 2, job.all
    assert job.err.count("mpiddl: error") == 1, job.all
    assert "Traceback" not in job.err, job.all


@pytest.mark.parametrize("level", ["single", "funneled", "serialized"])
def test_any_thread_level_will_do(end, level):
    """A schedule that overlaps and servers need no threads."""
    job = end(
        """
        train("bsp / allreduce / identity / layerwise / sgd:0.1", clocks=20)
        train("asp / ps / ef+topk:0.1 / layerwise / sgd:0.1", clocks=20)
        if rank == 0:
            print("done", MPI.Query_thread())
        """,
        MPI4PY_RC_THREAD_LEVEL=level,
    )
    assert job.code == 0, job.all
    assert job.out.count("done") == 1, job.all
    assert job.out.split()[-1] != str(3), job.all  # MULTIPLE was not given


REPEATABLE = [
    "bsp / allreduce:ring / identity / layerwise / sgd:0.3",
    "bsp / allreduce / ef+topk:0.1 / fused:100B / sgd:0.3",
    "local:4 / allreduce / identity / whole / sgd:0.3",
    "bsp / gossip:exponential / diff+qsgd:4 / layerwise / sgd:0.3",
    "bsp / ps:servers=1 / ef+sign / layerwise / sgd:0.3",
]


def test_two_runs_of_one_seed_are_equal_on_all_ranks_where_nothing_is_left_to_chance(end):
    body = f"""
        from hashlib import sha256
        for line in {REPEATABLE!r}:
            sums = sha256(train(line, clocks=12).x.tobytes()).hexdigest()
            everyone = MPI.COMM_WORLD.gather(sums)
            if rank == 0:
                print(line, *everyone)
        """
    first, second = end(body), end(body)
    assert first.code == second.code == 0, first.all
    assert first.out == second.out
    assert len(first.out.splitlines()) == len(REPEATABLE)
    for line in first.out.splitlines()[:3]:
        assert len(set(line.split()[-4:])) == 1, "all-reduces leave equal models"


ARRAYS = {
    "another dtype": "np.ones(4, np.float32 if rank == 2 else np.float64)",
    "another size": "np.ones(4 + (rank == 2))",
    "nothing": "np.ones(0 if rank == 2 else 4)",
    "another type": "[1.0] * 4 if rank == 2 else np.ones(4)",
    "a mask": "np.ma.masked_array(np.ones(4), rank == 2) if rank == 2 else np.ones(4)",
}


@pytest.mark.parametrize("what", ARRAYS)
def test_an_array_that_differs_on_one_rank_is_refused_on_all(end, what):
    job = end(
        f"""
        with mpiddl.guard():
            comm = mpiddl.MPICommunicator()
            mpiddl.allreduce({ARRAYS[what]}, comm)
        """
    )
    assert job.code == 2, job.all
    assert job.err.count("mpiddl: error: ranks disagree") == 1, job.all


ANY_NUMBER = [
    "bsp / allreduce / identity / layerwise",
    "bsp / allreduce / diff+topk:0.1 / whole",
    "local:4 / allreduce / ef+sign / whole",
    "bsp / ps / identity / whole",
    "asp / ps / ef+sign / whole",
    "ssp:1 / ps / identity / layerwise",
    "bsp / gossip:exponential,gamma=0.3 / diff+topk:0.1 / whole",
    *(
        f"bsp / allreduce:{name} / identity / whole"
        for name in ("ring", "torus", "tree", "double_tree", "recursive_doubling", "hierarchical")
    ),
    *(
        f"bsp / gossip:{graph} / identity / whole"
        for graph in ("ring", "complete", "torus", "star", "path", "exponential")
    ),
]
SERVERS = [f"{sync} / ps:servers=2 / identity / whole" for sync in ("bsp", "ssp:3", "asp")]
HYPERCUBE = "bsp / gossip:hypercube / identity / whole"


def bench(ranks: int, *variants: str) -> Job:
    named = [word for variant in variants for word in ("--variant", variant)]
    small = ["--problem", "iso", "--clocks", "4", "--grid", "0.1", "--claims", "none"]
    return launch(ranks, ["-m", "mpiddl.bench", *small, *named], 120)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 6, 7])
def test_bench_runs_every_architecture_on_any_number_of_ranks(ranks):
    job = bench(ranks, *ANY_NUMBER, *SERVERS * (ranks > 2), *[HYPERCUBE] * (ranks < 3))
    assert job.code == 0, job.all
    assert "left out" not in job.out, job.all


@pytest.mark.parametrize(
    ("ranks", "variant", "said"),
    [
        (3, HYPERCUBE, "use 2 or 4 ranks"),
        (6, HYPERCUBE, "use 4 or 8 ranks"),
        (2, SERVERS[2], "no rank for a worker"),
        (5, "bsp / allreduce:hierarchical:2 / identity / whole", "run on 4 or 6 ranks"),
    ],
)
def test_a_number_of_ranks_that_cannot_be_is_refused_once_with_the_nearest(ranks, variant, said):
    job = bench(ranks, variant)
    assert job.code == 2, job.all
    assert job.err.count("mpiddl: error") == 1, job.all
    assert said in job.err, job.all
