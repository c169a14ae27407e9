"""The twelve cells: every synchronization on every architecture, by published algorithms.

`CELLS` names the algorithms of each cell and writes them as lines of four parts. runs.py makes them
on one problem, one network and one model of stragglers, in virtual time; table.py shows them.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CELLS", "WHEN", "WHOM", "Cell"]

Cell = tuple[str, str]

WHEN = {"bsp": "BSP", "local": "Local SGD", "ssp": "SSP", "asp": "ASP"}
WHOM = {"allreduce": "all-reduce", "ps": "parameter server", "gossip": "gossip"}

CELLS: Mapping[Cell, Mapping[str, str]] = {
    ("bsp", "allreduce"): {"S-SGD": "bsp / allreduce"},
    ("bsp", "ps"): {
        "synchronous PS": "bsp / ps:servers=1",
        "backup workers": "bsp / ps:servers=1,backup=1",
    },
    ("bsp", "gossip"): {
        "D-PSGD": "bsp / gossip:ring",
        "D-PSGD, exponential graph": "bsp / gossip:exponential",
        "D2": "bsp / d2:ring",
        "gradient tracking": "bsp / tracking:exponential",
        "SGP, one peer": "bsp / push_sum:one_peer_exponential",
    },
    ("local", "allreduce"): {
        "local SGD": "local:4 / allreduce",
        "post-local SGD": "post_local:4,after=20 / allreduce",
    },
    ("local", "ps"): {
        "FedAvg": "local:4 / ps:servers=1",
        "EASGD": "local:4 / easgd:servers=1",
    },
    ("local", "gossip"): {
        "local D-PSGD": "local:4 / gossip:ring",
        "local D-PSGD, exponential graph": "local:4 / gossip:exponential",
    },
    ("ssp", "allreduce"): {
        "Pipe-SGD": "ssp:1 / allreduce",
        "eager-SGD, bounded": "ssp:3 / allreduce:quorum=majority",
    },
    ("ssp", "ps"): {"SSP": "ssp:3 / ps:servers=1"},
    ("ssp", "gossip"): {
        "stale gossip": "ssp:3 / gossip:ring",
        "stale gossip, exponential graph": "ssp:3 / gossip:exponential",
    },
    ("asp", "allreduce"): {
        "eager-SGD, solo": "asp / allreduce:quorum=solo",
        "eager-SGD, majority": "asp / allreduce:quorum=majority",
    },
    ("asp", "ps"): {
        "Downpour": "asp / ps:servers=1",
        "staleness-aware": "asp / staleness_aware:servers=1",
        "DC-ASGD": "asp / dc_asgd:servers=1",
        "EASGD, asynchronous": "asp:period=4 / easgd:servers=1",
    },
    ("asp", "gossip"): {
        "AD-PSGD": "asp / pairwise:complete",
        "asynchronous gossip": "asp / gossip:exponential",
    },
}
