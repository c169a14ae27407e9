"""Tasks that wait for messages without threads: `yield` is the only place where anything waits.

A task is a generator. What it yields it waits for: a request, several, a condition, or None to
give way for a moment. One engine per rank moves its tasks; who drives the engine differs: under
MPI `Engine.run` polls and gives the core away when nothing moves, in the simulator the world's
event heap does. So the same files run in both.

    def exchange(comm, mine, theirs, peer):
        yield [comm.isend(mine, peer), comm.irecv(theirs, peer)]
        yield comm.add(mine, theirs)

A handle is itself a request, so a task waits for another by `yield handle`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from mpiddl.comm import Request
from mpiddl.errors import ProtocolError

__all__ = ["Engine", "Handle", "Task", "Wait"]

T = TypeVar("T")
Wait: TypeAlias = Request | Sequence[Request] | Callable[[], bool] | None
Task: TypeAlias = Generator[Wait, None, T]


class Transport(Protocol):
    """What the engine asks of a communicator that does not drive it."""

    def progress(self) -> object:
        """Let finished operations finish, between two moves of tasks. Never blocks."""

    def idle(self) -> None:
        """Let finished operations finish, and if there are none, wait a moment: nothing moves."""


class Handle(Request, Generic[T]):
    """A task under way; done when the task has returned, with its `value`."""

    __slots__ = ("_engine", "_missing", "_value", "task", "waits_for")

    def __init__(self, engine: Engine, task: Task[T], name: str) -> None:
        super().__init__(name)
        self.task = task
        self.waits_for: Wait = None
        self._engine = engine
        self._missing = 0
        self._value: T | None = None

    @property
    def value(self) -> T:
        """What the task returned."""
        if not self.done:
            raise ProtocolError(f"task {self.label!r} has not ended")
        return cast(T, self._value)

    def __str__(self) -> str:
        wait = self.waits_for
        if callable(wait):
            words = [f"condition {getattr(wait, '__qualname__', wait)}"]
        else:
            requests = (wait,) if isinstance(wait, Request) else wait or ()
            missing = (request for request in requests if not request.done)
            words = ["task " * isinstance(each, Handle) + each.label for each in missing]
        return f"{self.label} waits for {' and '.join(words) or 'its turn'}"

    def arrived(self) -> None:
        """Count one request less to wait for; the last one makes the task ready."""
        self._missing -= 1
        if not self._missing:
            self._engine.ready.append(self)

    def advance(self) -> None:
        """Run the task until it must wait or has ended."""
        while True:
            try:
                wait = next(self.task)
            except StopIteration as stop:
                self.waits_for, self._value = None, stop.value
                self._engine.alive.discard(self)
                self.finish()
                return
            if self._must_wait(wait):
                self.waits_for = wait
                return

    def _must_wait(self, wait: Wait) -> bool:
        if wait is None:
            self._engine.ready.append(self)
            return True
        if isinstance(wait, Request):
            wait = (wait,)
        elif callable(wait):
            if not wait():
                self._engine.watching.append((wait, self))
                return True
            return False
        missing = [request for request in wait if not request.done]
        for request in missing:
            if request.waiter is not None:
                raise ProtocolError(f"two tasks wait for {request.label!r}")
            request.waiter = self
        self._missing = len(missing)
        return bool(missing)


class Engine:
    """The tasks of one rank.

    Parameters
    ----------
    transport : Transport or None
        What finishes requests while `run` waits; None where the world drives the engine.
    """

    def __init__(self, transport: Transport | None = None) -> None:
        self.transport = transport
        self.ready: deque[Handle[Any]] = deque()
        self.watching: list[tuple[Callable[[], bool], Handle[Any]]] = []
        self.alive: set[Handle[Any]] = set()

    def start(self, task: Task[T], name: str = "task") -> Handle[T]:
        """Start a task and run it as far as its first wait."""
        handle = Handle(self, task, name)
        self.alive.add(handle)
        handle.advance()
        return handle

    def step(self) -> bool:
        """Resume once every task that can move; return whether any could. Never blocks."""
        moved = bool(self.ready)
        for _ in range(len(self.ready)):
            self.ready.popleft().advance()
        if self.watching:
            for entry in self._fulfilled():
                entry.advance()
                moved = True
        return moved

    def _fulfilled(self) -> Iterator[Handle[Any]]:
        watching, self.watching = self.watching, []
        for condition, handle in watching:
            if condition():
                yield handle
            else:
                self.watching.append((condition, handle))

    def run(self, task: Task[T], name: str = "main") -> T:
        """Run `task` and everything that it starts until no task is alive; return its value."""
        if self.transport is None:
            raise ProtocolError("this engine is driven by its world")
        handle = self.start(task, name)
        while self.alive:
            if not self.step():
                self.transport.idle()
            elif self.ready or self.watching:  # else nothing moves before a request is done
                self.transport.progress()
        return handle.value
