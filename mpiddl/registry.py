"""Names of variants: a dict, a decorator and a folder scan; texts that parse and print back.

A variant is one file in its room: the file registers itself under the name that the command line
uses, and the generic tests find it there. A description such as ``TopK(0.01)`` prints as
``topk:0.01``, and `Registry.parse` reads that text.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, Generic, TypeVar

from mpiddl.errors import ConfigurationError

__all__ = ["Described", "Registry", "is_number", "unknown"]

T = TypeVar("T")


class Described:
    """A frozen description: a dataclass that prints as ``name:value,field=value``.

    Fields that are keyword-only come last, with their names; of the others the first prints bare.
    A field at its default is left out.
    """

    name = ""

    def __str__(self) -> str:
        words = []
        known = sorted(fields(self), key=lambda field: bool(field.kw_only))  # type: ignore[arg-type]
        for position, field in enumerate(known):
            value = getattr(self, field.name)
            if value != field.default:
                bare = position == 0 and not field.kw_only
                words.append(_text(value) if bare else f"{field.name}={_text(value)}")
        return ":".join([self.name, ",".join(words)] if words else [self.name])


def _value(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return {"yes": True, "no": False}.get(text, text)


def _text(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def is_number(value: object) -> bool:
    """Whether `value` is an int or a float; a yes or no, which Python counts as an int, is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return what to say where no `kind` is called `name`, but others are: the nearest, and all."""
    from difflib import get_close_matches  # only here: most names are known

    names = sorted({*known})
    near = get_close_matches(name, names, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"no {kind} is called {name!r}{hint}; there are: {', '.join(names)}"


class Registry(Generic[T]):
    """The variants of one room by name.

    Parameters
    ----------
    room : str
        Import path of the package whose modules register here.
    kind : str
        What is registered, for messages: "compressor", "topology".
    """

    def __init__(self, room: str, kind: str) -> None:
        self.room, self.kind = room, kind
        self._found: dict[str, T] = {}
        self._scanned = False

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers its argument under `name`."""

        def keep(thing: T) -> T:
            if name in self._found:
                raise ConfigurationError(f"two {self.kind}s are called {name!r}")
            if isinstance(thing, type) and issubclass(thing, Described):
                thing.name = name
            self._found[name] = thing
            return thing

        return keep

    def parse(self, text: str) -> Any:
        """Build what a text such as ``topk:0.01`` or ``allreduce:ring`` describes.

        Raises
        ------
        ConfigurationError
            If the name is unknown or its arguments do not fit.
        """
        name, _, arguments = text.partition(":")
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for word in filter(None, arguments.split(",")):
            key, equals, value = word.partition("=")
            if key.strip() in named:
                raise ConfigurationError(
                    f"{self.kind} {text!r} says {key.strip()} twice: take one of them out"
                )
            if equals and key.strip().isidentifier():
                named[key.strip()] = _value(value.strip())
            else:
                positional.append(_value(word.strip()))  # or a text with options of its own
        make: Any = self[name.strip()]
        try:
            return make(*positional, **named)
        except TypeError as error:
            from inspect import signature  # only here: most texts fit

            takes = ", ".join(signature(make).parameters)
            raise ConfigurationError(
                f"{self.kind} {text!r} does not fit: {name.strip()} takes "
                f"{takes or 'no argument'}; write NAME:VALUE or NAME:FIELD=VALUE"
            ) from error

    def _scan(self) -> None:
        if not self._scanned:
            import pkgutil  # only here: a name that is known needs no scan

            self._scanned = True
            package = importlib.import_module(self.room)
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{self.room}.{module.name}")

    def _look(self, name: str) -> None:
        """Import the module called like the variant, if there is one; else all of the room."""
        home = f"{self.room}.{name}"
        if name not in self._found and name.isidentifier():
            try:
                importlib.import_module(home)
            except ModuleNotFoundError as error:
                if error.name != home:
                    raise
        if name not in self._found:
            self._scan()

    def __getitem__(self, name: str) -> T:
        self._look(name)
        if name not in self._found:
            raise ConfigurationError(unknown(self.kind, name, self._found))
        return self._found[name]

    def __contains__(self, name: str) -> bool:
        self._look(name)
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        self._scan()
        return iter(sorted(self._found))
