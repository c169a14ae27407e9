from __future__ import annotations

import json
import os

import pytest

from bench.header import describe, lines, place


def test_the_cores_of_a_host_are_those_that_any_of_its_ranks_may_use():
    bound = [("a", (0,)), ("a", (1,)), ("b", (0,)), ("b", (1,))]
    header = describe("MPI 4", "MULTIPLE", bound)
    assert header["hosts"] == {"a": {"ranks": 2, "cores": 2}, "b": {"ranks": 2, "cores": 2}}
    assert not header["oversubscribed"]
    assert len(lines(header)) == 2


def test_more_ranks_than_cores_on_one_host_are_announced():
    header = describe("MPI 4", "MULTIPLE", [("a", (0, 1))] * 3 + [("b", (0, 1, 2, 3))])
    assert header["oversubscribed"]
    assert "seconds are not comparable" in lines(header)[-1]


@pytest.mark.parametrize(("value", "threads"), [("1", 1), ("4", 4), ("many", None), (None, None)])
def test_blas_threads_are_what_the_environment_says(monkeypatch, value, threads):
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert describe("MPI 4", "SINGLE", [place()])["blas_threads"] == threads


def test_the_header_of_this_process_is_json():
    host, cores = place()
    assert host
    assert 1 <= len(cores) <= (os.cpu_count() or 1)
    header = describe("MPI 4", "SINGLE", [(host, cores)])
    assert json.loads(json.dumps(header)) == header
    assert "1 rank," in lines(header)[1]
