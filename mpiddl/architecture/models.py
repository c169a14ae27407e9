"""What is asked of the other rooms where models travel, not displacements."""

from __future__ import annotations

from mpiddl.compression import Channel, Contractive
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats

__all__ = ["require_exact", "require_models"]

LOSS = 2.0**-20  # of |v|^2


def require_models(architecture: object, channel: Channel, seats: Seats) -> None:
    """Raise ConfigurationError if workers do not move their models, or words are for displacements.

    Parameters
    ----------
    architecture : object
        Who says models; its text is what it is called.
    channel : Channel
        In what words.
    seats : Seats
        Who moves what.
    """
    if seats.inner is None:
        raise ConfigurationError(
            f"{architecture} exchanges models, so each worker must move its own: "
            f"give it an inner optimizer, as in {seats.outer}>sgd:1"
        )
    if channel.remembers:
        raise ConfigurationError(
            f"{architecture} exchanges models, but {channel} remembers displacements: "
            "use allreduce with it, or a channel without memory"
        )


def require_exact(architecture: object, channel: Channel) -> None:
    """Raise ConfigurationError unless `channel` forgets, draws nothing, and loses next to nothing.

    What it says of a model has an error in proportion to the model, which does not become smaller
    as models agree.
    """
    quality = channel.compressor.quality(1 << 20)
    exact = str(channel.compressor) == "identity"
    if channel.refers or not (
        exact or isinstance(quality, Contractive) and 1 - quality.delta < LOSS
    ):
        raise ConfigurationError(
            f"{architecture} says a model once, to one neighbour, but {channel} says parts of it, "
            "or what changed: use identity or fp16, or gossip with it"
        )
