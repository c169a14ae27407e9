"""A device without a device: arrays that the host can't read, and a log of what was asked of it.

A `FakeArray` wraps NumPy storage and answers to the operators that algorithms use; whatever would
read it from the host raises. A copy to the host arrives with the next synchronisation, as from a
stream, so that a forgotten one shows as wrong numbers. For staging="direct" the storage's address
is announced as that of device memory, which an ordinary MPI can read because it is none.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from mpiddl.devices import register

INFIX = "add sub mul truediv pow matmul lt le gt ge eq ne and or xor mod floordiv".split()
PREFIX = "neg pos abs invert".split()
METHODS = "sum mean min max any all argmin argmax astype view reshape copy fill ravel dot".split()
PROPERTIES = "dtype shape ndim size nbytes itemsize flags strides".split()


def unwrapped(value: Any) -> Any:
    """Replace fake arrays inside `value` by their storage; refuse NumPy arrays beside them."""
    if isinstance(value, FakeArray):
        return value.storage
    if isinstance(value, np.ndarray):
        raise TypeError("a device array meets a NumPy array")
    if isinstance(value, tuple | list):
        return type(value)(unwrapped(each) for each in value)
    return value


class FakeDevice:
    """A device with a log; `namespace` stands for numpy."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.namespace = FakeNamespace(self)
        self._under_way: list[tuple[np.ndarray, np.ndarray]] = []

    def __repr__(self) -> str:
        return "fake:0"

    def array(self, values: Any, dtype: Any = np.float32) -> FakeArray:
        return FakeArray(np.array(values, dtype=dtype), self)

    def wrapped(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self.wrapped, value))
        return (
            FakeArray(np.asarray(value), self)
            if isinstance(value, np.ndarray | np.generic)
            else value
        )

    def synchronize(self) -> None:
        self.log.append("synchronize")
        for host, snapshot in self._under_way:
            host[...] = snapshot
        self._under_way.clear()

    def host_buffer(self, like: FakeArray) -> np.ndarray:
        return np.full(like.shape, 77, dtype=like.dtype)

    def to_host(self, host: np.ndarray, array: FakeArray) -> None:
        self.log.append("to_host")
        self._under_way.append((host, array.storage.copy()))

    def to_device(self, array: FakeArray, host: np.ndarray) -> None:
        self.log.append("to_device")
        array.storage[...] = host


class FakeNamespace:
    """numpy's functions for fake arrays."""

    def __init__(self, device: FakeDevice) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            if name not in ("asarray", "array"):
                args = unwrapped(args)
            elif isinstance(args[0], FakeArray):
                args = (args[0].storage, *args[1:])
            out = kwargs.get("out")
            kwargs = {key: unwrapped(value) for key, value in kwargs.items()}
            self._device.log.append(name)
            result = found(*args, **kwargs)
            return out if out is not None else self._device.wrapped(result)

        return call


class FakeArray:
    """An array whose numbers the host can't read."""

    __array_ufunc__ = None  # NumPy arrays refuse to compute with it

    def __init__(self, storage: np.ndarray, device: FakeDevice) -> None:
        self.storage, self.device = storage, device

    def __repr__(self) -> str:
        return f"FakeArray({self.shape}, {self.dtype})"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.storage.__array_interface__, "version": 3}

    def __len__(self) -> int:
        return len(self.storage)

    def __getitem__(self, key: Any) -> Any:
        return self.device.wrapped(self.storage[unwrapped(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.device.log.append("setitem")
        self.storage[unwrapped(key)] = unwrapped(value)

    def get(self) -> np.ndarray:
        """Return a copy for the host, for assertions."""
        return self.storage.copy()


def _refuse(*_: Any, **__: Any) -> Any:
    raise TypeError("the host reads a device array")


def _function(name: str) -> Callable[..., Any]:
    return getattr(operator, f"{name}_" if name in ("and", "or") else name)


def _infix(name: str, reflected: bool = False) -> Callable[..., Any]:
    def call(self: FakeArray, other: Any) -> Any:
        self.device.log.append(name)
        pair = (self.storage, unwrapped(other))
        return self.device.wrapped(_function(name)(*(pair[::-1] if reflected else pair)))

    return call


def _prefix(name: str) -> Callable[..., Any]:
    def call(self: FakeArray) -> Any:
        self.device.log.append(name)
        return self.device.wrapped(_function(name)(self.storage))

    return call


def _in_place(name: str) -> Callable[..., Any]:
    def call(self: FakeArray, other: Any) -> Any:
        self.device.log.append(f"i{name}")
        self.storage = _function(f"i{name}")(self.storage, unwrapped(other))
        return self

    return call


def _method(name: str) -> Callable[..., Any]:
    def call(self: FakeArray, *args: Any, **kwargs: Any) -> Any:
        self.device.log.append(name)
        kwargs = {key: unwrapped(value) for key, value in kwargs.items()}
        return self.device.wrapped(getattr(self.storage, name)(*unwrapped(args), **kwargs))

    return call


for _name in INFIX:
    setattr(FakeArray, f"__{_name}__", _infix(_name))
    if _name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(FakeArray, f"__r{_name}__", _infix(_name, reflected=True))
        setattr(FakeArray, f"__i{_name}__", _in_place(_name))
for _name in PREFIX:
    setattr(FakeArray, f"__{_name}__", _prefix(_name))
for _name in METHODS:
    setattr(FakeArray, _name, _method(_name))
for _name in PROPERTIES:
    setattr(FakeArray, _name, property(operator.attrgetter(f"storage.{_name}")))
for _name in ("array", "iter", "float", "int", "bool", "index", "complex"):
    setattr(FakeArray, f"__{_name}__", _refuse)
FakeArray.tolist = FakeArray.item = _refuse  # type: ignore[attr-defined]

register(FakeArray, lambda array: array.device)
