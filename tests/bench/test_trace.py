"""Traces for a viewer: the documented format, nothing overlaps, every span is there."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise

import pytest

from bench.replay import outcome
from bench.trace import events, write_trace
from mpiddl.comm.simulated import Network, Span
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problem
from mpiddl.train import Run
from mpiddl.variant import Variant

NETWORK = Network(1e-5, 1e-9, 1e-9)
LINES = {
    "all-reduce": "bsp / allreduce / identity / layerwise / sgd:0.1",
    "gossip": "local:2 / gossip:ring / identity / whole / sgd:0.1",
    "servers": "ssp:1 / ps:servers=2 / identity / layerwise / sgd:0.1",
    "both": "asp / ps / identity / whole / sgd:0.1",
}


def traced(line, **options):
    run = Run(Variant.parse(LINES[line]), problem("spec", 4), clocks=3, **options)
    spans = []
    outcome(run, NETWORK, spans)
    return run, spans


def faults(trace) -> list[str]:
    """Say what in `trace` is not as the format asks, or overlaps."""
    wrong, tracks, named = [], defaultdict(list), set()
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            named.add((event["name"], event["pid"], event["tid"]))
            continue
        if event["ph"] != "X" or not {"name", "cat", "ts", "dur", "pid", "tid"} <= event.keys():
            wrong.append(f"no complete event: {event}")
            continue
        if event["dur"] < 0 or event["ts"] < 0:
            wrong.append(f"runs backwards: {event}")
        begin = round(event["ts"] * 1000)  # viewers count in nanoseconds
        tracks[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000)))
    for (pid, tid), spans in tracks.items():
        if ("process_name", pid, 0) not in named or ("thread_name", pid, tid) not in named:
            wrong.append(f"no name for track {tid} of {pid}")
        if any(second[0] < first[1] for first, second in pairwise(sorted(spans))):
            wrong.append(f"overlap on track {tid} of {pid}")
    return wrong


@pytest.mark.parametrize("line", LINES)
def test_a_trace_has_the_documented_format(tmp_path, line):
    run, spans = traced(line, compute=1e-4)
    path = tmp_path / "trace.json"
    write_trace(path, spans, run)
    trace = json.loads(path.read_text("utf-8"), parse_constant=pytest.fail)
    assert not faults(trace)
    assert trace["otherData"]["variant"] == str(run.variant)
    complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    transfers = sum(span.kind == "transfer" for span in spans)
    assert len(complete) == len(spans) + transfers  # sent and received
    end = max(event["ts"] + event["dur"] for event in complete)
    assert end == pytest.approx(1e6 * max(span.end for span in spans))


def test_what_is_wrong_with_a_trace_is_found():
    run, spans = traced("both", compute=1e-4)
    good = list(events(spans, run))
    assert not faults({"traceEvents": good})
    complete = next(event for event in good if event["ph"] == "X")
    for change in ({"dur": -1.0}, {"ph": "B"}, {"ts": -3.0}, {"tid": 99}, {"dur": 1e9}):
        assert faults({"traceEvents": [*good, complete | change]})
    assert faults({"traceEvents": [event for event in good if event["ph"] == "X"]})


def names(line, pid):
    run, spans = traced(line, compute=1e-4)
    return {
        event["name"] for event in events(spans, run) if event["ph"] == "X" and event["pid"] == pid
    }


def processes(line):
    found = events(reversed(traced(line)[1]), traced(line)[0])
    return [event["args"]["name"] for event in found if event["name"] == "process_name"]


def test_ranks_and_messages_have_names():
    assert processes("servers") == [*(f"worker {i}" for i in range(4)), "server 0", "server 1"]
    assert processes("both")[2] == "worker and server 2"
    assert processes("gossip")[3] == "worker 3"
    worker, server = names("servers", 1), names("servers", 5)
    assert worker == {
        "gradient",
        *(f"{said} server {i}" for said in ("push to", "pull from") for i in (0, 1)),
    }
    assert {"push from worker 3", "answer to worker 0"} <= server
    assert "gradient" not in server
    assert names("all-reduce", 0) >= {"gradient", "addition", "message to 1", "message from 1"}


def test_what_is_computed_at_the_same_time_is_on_tracks_of_its_own():
    run, _ = traced("both")
    rows = [("computation", 0.0, 3.0), ("addition", 1.0, 2.0), ("addition", 2.0, 4.0)]
    spans = [Span("computation", 1, 1, 0, label, begin, end) for label, begin, end in rows]
    found = list(events(spans, run))
    tracks = {event["ts"]: event["tid"] for event in found if event["ph"] == "X"}
    assert tracks[0.0] != tracks[1e6] == tracks[2e6]
    assert not faults({"traceEvents": found})


def test_a_trace_that_cannot_be_written_is_refused(tmp_path):
    run, spans = traced("gossip")
    with pytest.raises(ConfigurationError, match="nosuch"):
        write_trace(tmp_path / "nosuch" / "t.json", spans, run)
