"""Channels by their texts: a compressor, and the memory that goes with it.

topk:0.01        Direct(TopK(0.01))          what is not said is lost
ef+topk:0.01     ErrorFeedback(TopK(0.01))   what is not said is remembered
diff+topk:0.01   Difference(TopK(0.01))      what changed is said
"""

from __future__ import annotations

from typing import Any

from mpiddl.compression import Channel, compressors
from mpiddl.compression.difference import Difference
from mpiddl.compression.direct import Direct
from mpiddl.compression.error_feedback import ErrorFeedback
from mpiddl.errors import ConfigurationError

__all__ = ["parse_channel"]

CHANNELS: dict[str, Any] = {"": Direct, "ef": ErrorFeedback, "diff": Difference}


def parse_channel(text: str) -> Channel:
    """Return the channel of a text such as ``ef+topk:0.01``, or raise ConfigurationError."""
    prefix, plus, name = text.rpartition("+")
    if prefix.strip() not in CHANNELS or (plus and not prefix.strip()):
        raise ConfigurationError(
            f"no channel is called {prefix!r}; there are: COMPRESSOR, ef+COMPRESSOR (remembers "
            "what was not said) and diff+COMPRESSOR (says what changed)"
        )
    channel: Channel = CHANNELS[prefix.strip()](compressors.parse(name))
    return channel
