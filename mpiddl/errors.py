"""The exceptions of mpiddl, drawn.

MpiddlError
├── ConfigurationError   two parts disagree, or an option is wrong: names both and a remedy
├── BufferMismatch       a buffer has the wrong shape, dtype, layout or device
├── ProtocolError        a message that cannot be: a bug in mpiddl, please report it
├── Deadlock             every simulated rank waits: lists who waits for what
└── Diverged             a displacement or a model is not finite: the curve so far is kept
"""

from __future__ import annotations

__all__ = [
    "BufferMismatch",
    "ConfigurationError",
    "Deadlock",
    "Diverged",
    "MpiddlError",
    "ProtocolError",
]


class MpiddlError(Exception):
    """Base of everything that mpiddl raises on purpose."""


class ConfigurationError(MpiddlError):
    """Two parts of a run do not fit; raised alike on all ranks before the first message."""


class BufferMismatch(MpiddlError, TypeError):
    """A buffer is not what the call needs; the message names expected and found."""


class ProtocolError(MpiddlError):
    """A message or a state that the protocol excludes."""


class Deadlock(MpiddlError):
    """No simulated rank can move and none has finished."""


class Diverged(MpiddlError):
    """A worker met a number that is not finite.

    Parameters
    ----------
    message : str
        Which rank, at which clock, and what may help.
    result : object
        The result of the run up to that clock, or None.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result
