"""Where things lie in the one flat vector: layers, and the buckets that travel.

A model of d parameters is one flat vector. A `Layout` says where its layers are, a `Plan` how the
vector is cut into buckets; every bucket is exchanged on its own. Plans are frozen before step 0, so
whatever has memory (residuals, optimizer state) may belong to a bucket.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from mpiddl.errors import ConfigurationError

__all__ = ["Bucket", "Layout", "Plan", "within"]


@dataclass(frozen=True)
class Layout:
    """The layers of a model inside its flat vector, first layer first.

    Parameters
    ----------
    names : tuple of str
        One name per layer.
    shapes : tuple of tuple of int
        The shape of each layer; their sizes add up to d.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.shapes) or not self.names:
            raise ConfigurationError(
                f"a layout needs one shape per name and at least one layer, "
                f"found {len(self.names)} names and {len(self.shapes)} shapes"
            )

    @property
    def size(self) -> int:
        """Number of parameters d."""
        return sum(prod(shape) for shape in self.shapes)

    def within(self, span: slice) -> tuple[slice, ...]:
        """Return the parts of the layers that lie in `span`, counted from its start."""
        return within((self.span(layer) for layer in range(len(self.names))), span)

    def span(self, layer: int) -> slice:
        """Return the slice of the flat vector that holds `layer`."""
        start = sum(prod(shape) for shape in self.shapes[:layer])
        return slice(start, start + prod(self.shapes[layer]))


@dataclass(frozen=True)
class Bucket:
    """One piece of the flat vector that is exchanged as a whole.

    Parameters
    ----------
    index : int
        Position in the plan; also the number of the lane that carries it.
    span : slice
        The piece of the flat vector.
    layers : range
        The layers that touch it.
    """

    index: int
    span: slice
    layers: range

    @property
    def size(self) -> int:
        """Number of elements b."""
        return int(self.span.stop - self.span.start)


@dataclass(frozen=True)
class Plan:
    """Buckets whose spans partition [0, d) in order.

    Raises
    ------
    ConfigurationError
        If the spans leave a gap or overlap.
    """

    buckets: tuple[Bucket, ...]

    def __post_init__(self) -> None:
        end = 0
        for index, bucket in enumerate(self.buckets):
            if bucket.index != index or bucket.span.start != end:
                raise ConfigurationError(
                    f"bucket {index} starts at {bucket.span.start}, expected {end}: "
                    "the buckets of a plan must partition the vector in order"
                )
            end = bucket.span.stop

    def touching(self, layer: int) -> Iterable[Bucket]:
        """Return the buckets that hold a part of `layer`."""
        return (bucket for bucket in self.buckets if layer in bucket.layers)


def within(pieces: Iterable[slice], span: slice) -> tuple[slice, ...]:
    """Return what of `pieces` lies in `span`, counted from its start; empty parts are left out."""
    cut = ((max(one.start, span.start), min(one.stop, span.stop)) for one in pieces)
    return tuple(slice(a - span.start, b - span.start) for a, b in cut if a < b)
