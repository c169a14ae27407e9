"""Tasks: what they wait for, and what the engine refuses."""

from __future__ import annotations

import pytest

from mpiddl.comm import Request
from mpiddl.comm.engine import Engine, Handle
from mpiddl.errors import ProtocolError


class Script:
    """A transport that finishes the given requests, one per call."""

    def __init__(self, *requests: Request) -> None:
        self.requests = list(requests)
        self.idles = 0

    def progress(self) -> bool:
        if self.requests:
            self.requests.pop(0).finish(nbytes=3)
            return True
        return False

    def idle(self) -> None:
        if self.progress():
            return
        self.idles += 1
        if self.idles > 10:
            raise RuntimeError("nothing will ever move")


def settle(engine: Engine) -> None:
    while engine.step():
        pass


def test_a_task_waits_for_a_request_and_sees_its_size():
    request = Request("r")

    def task():
        yield request
        return request.nbytes

    assert Engine(Script(request)).run(task()) == 3


def test_a_task_waits_for_all_of_several_requests():
    first, second, third = (Request(name) for name in "abc")
    engine = Engine()
    seen = []

    def task():
        yield [first, second, third]
        seen.append("done")

    handle = engine.start(task())
    for request in (third, first):
        request.finish()
        settle(engine)
        assert not seen
    second.finish()
    settle(engine)
    assert seen
    assert handle.done


@pytest.mark.parametrize("wait", [Request(done=True), [], [Request(done=True)], lambda: True])
def test_what_is_done_already_does_not_stop_a_task(wait):
    def task():
        yield wait
        return "on"

    assert Engine().start(task()).value == "on"


def test_a_task_waits_for_a_condition():
    inbox: list[int] = []
    engine = Engine()

    def task():
        yield lambda: len(inbox) >= 2
        return sum(inbox)

    handle = engine.start(task())
    inbox.append(1)
    assert not engine.step()
    assert not handle.done
    inbox.append(2)
    assert engine.step()
    assert handle.value == 3


def test_a_condition_that_another_task_makes_true():
    engine = Engine(Script())
    state = []

    def maker():
        yield None
        state.append(1)

    def main():
        engine.start(maker(), "maker")
        yield lambda: bool(state)
        return "seen"

    assert engine.run(main()) == "seen"


def test_none_gives_way_to_the_other_tasks():
    order = []
    engine = Engine()

    def task(name):
        for turn in range(3):
            order.append((turn, name))
            yield None

    engine.start(task("a"))
    engine.start(task("b"))
    settle(engine)
    assert order == [(turn, name) for turn in range(3) for name in "ab"]


def test_a_handle_is_a_request():
    request = Request("r")
    engine = Engine(Script(request))

    def inner():
        yield request
        return 7

    def main():
        handle = engine.start(inner(), "inner")
        assert isinstance(handle, Handle)
        with pytest.raises(ProtocolError, match="inner"):
            _ = handle.value
        yield handle
        return handle.value

    assert engine.run(main()) == 7


def test_nested_tasks_hand_their_values_up():
    requests = [Request(str(i)) for i in range(3)]

    def leaf(request):
        yield request
        return int(request.label)

    def middle():
        total = 0
        for request in requests:
            total += yield from leaf(request)
        return total

    def main():
        return (yield from middle())

    assert Engine(Script(*requests)).run(main()) == 3


def test_run_ends_when_no_task_is_alive():
    late = Request("late")
    ended = []
    engine = Engine(Script(late))

    def server():
        yield late
        ended.append("server")

    def main():
        engine.start(server(), "server")
        return "main"
        yield

    assert engine.run(main()) == "main"
    assert ended == ["server"]


def test_run_idles_only_when_nothing_moves():
    request = Request("r")
    transport = Script(request)

    def task():
        yield None
        yield None
        yield request

    Engine(transport).run(task())
    assert transport.idles == 0

    def stuck():
        yield Request("never")

    with pytest.raises(RuntimeError, match="ever"):
        Engine(transport).run(stuck())
    assert transport.idles > 0


def test_an_exception_leaves_through_run_with_its_own_trace():
    def inner():
        yield None
        raise ValueError("inside")

    def main():
        yield from inner()

    with pytest.raises(ValueError, match="inside") as caught:
        Engine(Script()).run(main())
    assert any(entry.name == "inner" for entry in caught.traceback)


def test_a_task_may_catch_what_a_nested_task_raises():
    def inner():
        yield None
        raise ValueError("inside")

    def main():
        try:
            yield from inner()
        except ValueError:
            return "caught"

    assert Engine(Script()).run(main()) == "caught"


def test_two_tasks_may_not_wait_for_one_request():
    request = Request("the parcel")
    engine = Engine()

    def task():
        yield request

    engine.start(task())
    with pytest.raises(ProtocolError, match="the parcel"):
        engine.start(task())


def test_a_request_finishes_once():
    request = Request("r")
    request.finish()
    with pytest.raises(ProtocolError, match="twice"):
        request.finish()


def test_an_engine_without_transport_is_driven_from_outside():
    def task():
        yield None

    with pytest.raises(ProtocolError, match="world"):
        Engine().run(task())
