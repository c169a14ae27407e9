"""Networks: the latency and bandwidth of virtual time, by name or from a file.

Round numbers of the kind: a message takes alpha seconds and beta seconds a byte. Additions take
gamma seconds a byte, those of one core that streams from memory. A file says the same in TOML:

    name = "ours"     # optional
    alpha = 2e-5
    beta = 8e-10
    gamma = 1e-10     # optional
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError
from mpiddl.registry import unknown

__all__ = ["NETWORKS", "Preset", "is_file", "preset", "read"]

GAMMA = 1e-10  # seconds per byte added: 10 GB/s
HELP = 'write alpha = SECONDS and beta = SECONDS A BYTE, and gamma or name = "TEXT" if you like'


@dataclass(frozen=True)
class Preset:
    """A network, what it is called, and what it is in words."""

    network: Network
    name: str
    meaning: str = ""


NETWORKS = {
    one.name: one
    for one in (
        Preset(Network(50e-6, 8e-9, GAMMA), "1gbe", "1 Gbit/s Ethernet, 50 us a message"),
        Preset(Network(20e-6, 0.8e-9, GAMMA), "10gbe", "10 Gbit/s Ethernet, 20 us a message"),
        Preset(
            Network(5e-6, 0.08e-9, GAMMA), "100gbe", "100 Gbit/s Ethernet (RDMA), 5 us a message"
        ),
        Preset(Network(1.5e-6, 0.08e-9, GAMMA), "ib100", "100 Gbit/s InfiniBand, 1.5 us a message"),
    )
}


def is_file(text: str) -> bool:
    """Whether `text` means a file: it ends with .toml or has a slash in it."""
    return text.endswith(".toml") or "/" in text


def preset(text: str) -> Preset:
    """Return the network called `text`, or that of ``ALPHA,BETA`` in seconds and seconds a byte.

    Raises
    ------
    ConfigurationError
        If there is no such network, or the two numbers are not finite and at least 0.
    """
    if text in NETWORKS:
        return NETWORKS[text]
    try:
        alpha, beta = (float(word) for word in text.split(","))
    except ValueError:
        raise ConfigurationError(
            f"{unknown('network', text, NETWORKS)}, or write ALPHA,BETA in seconds a message and "
            "seconds a byte, such as 2e-5,8e-10, or the path of a file FILE.toml"
        ) from None
    return Preset(Network(alpha, beta, GAMMA), text)


def read(path: Path) -> Preset:
    """Return the network that the file `path` describes.

    Raises
    ------
    ConfigurationError
        If it cannot be read or says something else; names the file and a remedy.
    """
    import tomllib  # only here, on one rank

    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"--network {path} cannot be read: {reason}") from error
    odd = sorted(said.keys() - {"alpha", "beta", "gamma", "name"})
    missing = sorted({"alpha", "beta"} - said.keys())
    costs = [said.get("alpha"), said.get("beta"), said.get("gamma", GAMMA)]
    name = said.get("name", path.stem)
    if (
        odd
        or missing
        or not isinstance(name, str)
        or not all(type(x) in (int, float) for x in costs)
    ):
        what = f"no {missing[0]}" if missing else f"{odd[0]!r}" if odd else "what is no number"
        raise ConfigurationError(f"--network {path} has {what} in it: {HELP}")
    try:
        return Preset(Network(*map(float, costs)), name)
    except ConfigurationError as error:
        raise ConfigurationError(f"--network {path}: {error}") from error
