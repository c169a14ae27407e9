"""Networks by name: the latency and bandwidth of virtual time.

Round numbers of the kind: a message takes alpha seconds and beta seconds a byte. Additions take
gamma seconds a byte, those of one core that streams from memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError

__all__ = ["NETWORKS", "Preset", "network"]

GAMMA = 1e-10  # seconds per byte added: 10 GB/s


@dataclass(frozen=True)
class Preset:
    """A network and what it is, in words."""

    network: Network
    meaning: str


NETWORKS = {
    "1gbe": Preset(Network(50e-6, 8e-9, GAMMA), "1 Gbit/s Ethernet, 50 us a message"),
    "10gbe": Preset(Network(20e-6, 0.8e-9, GAMMA), "10 Gbit/s Ethernet, 20 us a message"),
    "100gbe": Preset(Network(5e-6, 0.08e-9, GAMMA), "100 Gbit/s Ethernet (RDMA), 5 us a message"),
    "ib100": Preset(Network(1.5e-6, 0.08e-9, GAMMA), "100 Gbit/s InfiniBand, 1.5 us a message"),
}


def network(text: str) -> Network:
    """Return the network called `text`, or that of ``ALPHA,BETA`` in seconds and seconds a byte.

    Raises
    ------
    ConfigurationError
        If there is no such network, or the two numbers are not finite and at least 0.
    """
    if text in NETWORKS:
        return NETWORKS[text].network
    words = text.split(",")
    try:
        alpha, beta = (float(word) for word in words)
    except ValueError:
        names = ", ".join(NETWORKS)
        raise ConfigurationError(
            f"no network is called {text!r}; there are: {names}, or write ALPHA,BETA in seconds "
            "a message and seconds a byte, such as 2e-5,8e-10"
        ) from None
    return Network(alpha, beta, GAMMA)
