"""What machine.json says, as records: where a bench ran, and what it was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.html.records import Numbers

__all__ = ["Facts", "Host", "Machine", "Network", "RunFacts"]


@dataclass(frozen=True)
class Network:
    """The network of virtual time: seconds a message, a byte, a byte added."""

    name: str = ""
    alpha: float = 0.0
    beta: float = 0.0
    gamma: float = 0.0


@dataclass(frozen=True)
class Facts:
    """What is known of a problem; its dimension is d, its workers are n."""

    d: int | None = None
    n: int | None = None
    f_star: float | None = None
    steps: int | None = None
    target_meaning: str = ""
    grid: Numbers = field(default_factory=list)


@dataclass(frozen=True)
class Host:
    """Ranks and cores of a machine."""

    ranks: int
    cores: int


@dataclass(frozen=True)
class RunFacts:
    """What a bench was asked for; `gradient_seconds` are by problem."""

    problems: Mapping[str, Facts] = field(default_factory=dict)
    gradient_seconds: Mapping[str, float] = field(default_factory=dict)
    network: Network | None = None
    seed: int | None = None
    seeds: int | None = None


@dataclass(frozen=True)
class Machine:
    """Where it ran; whatever is not known is None or empty."""

    ranks: int | None = None
    hosts: Mapping[str, Host] = field(default_factory=dict)
    oversubscribed: bool = False
    mpi: str | None = None
    mpiddl: str | None = None
    python: str | None = None
    numpy: str | None = None
    mpi4py: str | None = None
    processor: str | None = None
    run: RunFacts = field(default_factory=RunFacts)
