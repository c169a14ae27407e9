"""What is asked of the other rooms where servers make up for staleness."""

from __future__ import annotations

from mpiddl.compression import Channel, Unbiased
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.synchronization import Synchronization

__all__ = ["require_gradients", "require_stale"]

MANY = 1 << 20  # entries of the vectors by which words are judged


def require_stale(architecture: object, sync: Synchronization) -> None:
    """Raise ConfigurationError if nothing that servers hear under `sync` is stale."""
    if not sync.staleness:
        raise ConfigurationError(
            f"{architecture} makes up for stale gradients, but under {sync} none is: use ps with "
            "it, or asp"
        )


def require_gradients(architecture: object, channel: Channel, seats: Seats) -> None:
    """Raise ConfigurationError unless servers hear gradients whose squares mean something.

    Parameters
    ----------
    architecture : object
        Who squares gradients; its text is what it is called.
    channel : Channel
        In what words they are said.
    seats : Seats
        With an inner optimizer displacements are said instead.
    """
    if seats.inner is not None:
        raise ConfigurationError(
            f"{architecture} corrects gradients, but with an inner optimizer displacements travel: "
            f"write none>{seats.inner}, or use ps"
        )
    quality = channel.compressor.quality(MANY)
    if isinstance(quality, Unbiased) and quality.omega and not channel.refers:
        raise ConfigurationError(
            f"{architecture} squares what it hears, and squares of {channel} are too large on "
            f"average: use identity, or diff+{channel}"
        )
