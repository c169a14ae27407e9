"""What guard decides when all ranks come to its end; jobs that it aborts are in tests/launch."""

from __future__ import annotations

import pytest
from mpi4py import MPI

from mpiddl.comm.guard import ArgumentParser, check_launcher, duplicate, guard
from mpiddl.errors import ConfigurationError, Diverged

pytestmark = pytest.mark.mpi

LAUNCHERS = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_ID", "SLURM_NTASKS"]


def leave(error=None, **options):
    with guard(**options):
        if error is not None:
            raise error


def code_of(error, **options):
    with pytest.raises(SystemExit) as caught:
        leave(error, **options)
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ConfigurationError("no such thing"), 2, "mpiddl: error: no such thing\n"),
        (Diverged("not finite"), 1, "mpiddl: error: not finite\n"),
        (SystemExit(5), 5, ""),
        (SystemExit("farewell"), 1, "farewell\n"),
        (SystemExit(), 0, ""),
        (KeyboardInterrupt(), 130, "mpiddl: interrupted\n"),
    ],
    ids=repr,
)
def test_all_ranks_take_one_exit_and_one_speaks(capsys, error, code, said):
    assert code_of(error) == code
    assert capsys.readouterr().err == (said if MPI.COMM_WORLD.rank == 0 else "")


@pytest.mark.mpi(min_size=2)
def test_the_worst_fate_is_everyones(capsys):
    world = MPI.COMM_WORLD
    last = world.size - 1
    assert code_of(SystemExit(3) if world.rank == last else None) == 3
    assert code_of(ConfigurationError("x") if world.rank == last else SystemExit(77)) == 2
    assert capsys.readouterr().err == ("mpiddl: error: x\n" if world.rank == last else "")


def test_a_peaceful_end_goes_on():
    leave()

    @guard()
    def function(value):
        return value

    assert [function(1), function(2)] == [1, 2]


def test_guards_may_be_nested(capsys):
    with pytest.raises(SystemExit) as caught, guard():
        leave(ConfigurationError("inner"))
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("inner") == (MPI.COMM_WORLD.rank == 0)


def test_what_all_raise_can_be_caught_if_asked(capsys):
    with pytest.raises(ValueError, match="alike"):
        leave(ValueError("alike"), reraise=True)
    assert not capsys.readouterr().err


@pytest.mark.mpi(min_size=3)
def test_a_part_of_the_ranks_may_have_a_guard():
    part = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
    if MPI.COMM_WORLD.rank % 2:
        assert code_of(SystemExit(4), comm=part) == 4
    else:
        leave(comm=part)
    part.Free()


def test_usage_is_said_once(capsys):
    parser = ArgumentParser(prog="it")
    parser.add_subparsers().add_parser("run").add_argument("--clocks", type=int)
    for wrong in (["--no"], ["run", "--clocks", "many"]):
        with pytest.raises(SystemExit) as caught:
            parser.parse_args(wrong)
        assert caught.value.code == 2
        assert capsys.readouterr().err.count("usage:") == (MPI.COMM_WORLD.rank == 0)


@pytest.mark.parametrize(
    ("environment", "fits"),
    [
        ({}, True),
        ({"PMI_SIZE": "1"}, True),
        ({"PMI_SIZE": "4"}, False),
        ({"OMPI_COMM_WORLD_SIZE": "4"}, False),
        ({"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "4"}, True),
        ({"SLURM_NTASKS": "4"}, True),  # in a batch script, not under srun
        ({"SLURM_STEP_ID": "0", "SLURM_NTASKS": "4"}, False),
        ({"SLURM_STEP_ID": "0", "SLURM_NTASKS": "1"}, True),
        ({"PMI_SIZE": "strange"}, True),
    ],
    ids=str,
)
def test_launcher_and_library(monkeypatch, environment, fits):
    for name in LAUNCHERS:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if fits:
        check_launcher(1)
    else:
        with pytest.raises(ConfigurationError, match="launcher started 4 processes.*sees 1"):
            check_launcher(1)


def test_errors_on_a_duplicate_raise():
    copy = duplicate(MPI.COMM_WORLD)
    assert copy.Get_errhandler() == MPI.ERRORS_RETURN
    copy.Free()
