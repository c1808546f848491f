"""Composing: all readers are asked at once, and one that fails affects no other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from brief.compose import DEADLINE_SECONDS, Composer
from brief.core.model.brief import SECTIONS, Section, Status
from brief.core.model.errors import StoreError
from brief.sections.context import Answer, SectionContext, SectionQuery
from brief.support.daemon_threads import Workers
from samples import NOW, ask, context, section

SHORT = 0.2


class Rubbish:
    """Something that is no section at all."""


def raising(fault: BaseException) -> Answer:
    """A reader that raises."""

    def read(context: SectionContext, ask: SectionQuery) -> Section:
        raise fault

    return read


def answering(answer: object) -> Answer:
    """A reader that answers so, whatever it is."""

    def read(context: SectionContext, ask: SectionQuery) -> Any:
        return answer

    return read


def dishonest(context: SectionContext, ask: SectionQuery) -> Section:
    """A reader that says it read something and not when."""
    return section("alerts", as_of=None)


def readers(**replaced: Answer) -> dict[str, Answer]:
    """Six readers that answer at once, except those given."""
    return {name: replaced.get(name, answering(section(name))) for name in SECTIONS}


class Gate:
    """A reader that hangs until it is let go, and counts how often it was asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked = 0
        self.opened = threading.Event()
        self.ended = threading.Semaphore(0)

    def __call__(self, context: SectionContext, ask: SectionQuery) -> Section:
        """Answer once let go."""
        self.asked += 1
        self.opened.wait(30)
        self.ended.release()
        return section(self.name)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A reader of alerts that hangs. It is let go at the end, so that no thread outlives its test."""
    made = Gate("alerts")
    yield made
    made.opened.set()


async def until(holds: Callable[[], bool]) -> None:
    """Let the loop go on until a condition holds."""
    while not holds():  # noqa: ASYNC110 - threads make it hold
        await asyncio.sleep(0)


def composed(composer: Composer) -> tuple[Section, ...]:
    """The six sections."""
    return asyncio.run(composer.read_sections(context(), ask()))


FAULTS: dict[str, tuple[Answer, str]] = {
    "a fault": (raising(KeyError("slug")), "unexpected KeyError: 'slug'"),
    "a sentence": (raising(StoreError("the database is gone")), "the database is gone"),
    "its own TypeError": (raising(TypeError("not iterable")), "unexpected TypeError: not iterable"),
    "the end of a program": (raising(SystemExit(3)), "unexpected SystemExit: 3"),
    "an interrupt": (raising(KeyboardInterrupt()), "unexpected KeyboardInterrupt:"),
    "an iterator's end": (raising(StopIteration()), "unexpected RuntimeError: StopIteration()"),
    "a cancellation": (raising(asyncio.CancelledError()), "unexpected CancelledError:"),
    "nothing": (answering(None), "its answer has the wrong shape: a NoneType instead of the alerts section"),
    "a dict": (answering({"status": "read"}), "its answer has the wrong shape: a dict"),
    "another section": (answering(section("peers")), "its answer has the wrong shape: a PeersSection"),
    "a class": (answering(Rubbish), "its answer has the wrong shape: a type"),
    "a lie": (dishonest, "its answer has the wrong shape: section alerts is"),
    "an escape": (raising(ValueError("\x1b[31mred\n\u202e")), "unexpected ValueError: red"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_reader_that_fails_affects_no_other(case: str) -> None:
    """Whatever a reader raises or returns, its own section is unread with the reason and the five others are read."""
    read, reason = FAULTS[case]
    *others, alerts = composed(Composer(readers(alerts=read)))
    assert [each.status for each in others] == [Status.READ] * 5
    assert (alerts.status, alerts.data, alerts.as_of) == (Status.UNREAD, None, None)
    assert (alerts.reason or "").startswith(reason)


def test_sections_come_in_order_with_the_time_they_took() -> None:
    """Six sections, always in the order of every brief, each with the milliseconds its reader needed."""
    sections = composed(Composer(readers()))
    assert [each.name for each in sections] == list(SECTIONS)
    assert all(each.took_ms >= 0 and each.as_of == NOW for each in sections)


def test_all_readers_are_asked_at_the_same_time() -> None:
    """The readers do not wait for each other: six that each answer only once all were asked all answer."""
    everybody = threading.Barrier(6, timeout=20)

    def meeting(name: str) -> Answer:
        def read(context: SectionContext, ask: SectionQuery) -> Section:
            everybody.wait()
            return section(name)

        return read

    sections = composed(Composer({name: meeting(name) for name in SECTIONS}, deadline_seconds=20))
    assert {each.status for each in sections} == {Status.READ}


def test_the_deadline_is_for_all_together() -> None:
    """Six readers that hang cost one deadline, not six, and each section says how long it was waited for."""
    gates = {name: Gate(name) for name in SECTIONS}
    waited: list[float | None] = []
    wait = asyncio.wait

    async def noted(answers: Any, **options: Any) -> Any:
        waited.append(options["timeout"])
        return await wait(answers, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "wait", noted)
        sections = composed(Composer(gates, deadline_seconds=SHORT))
    for each in gates.values():
        each.opened.set()
    assert waited == [SHORT]
    assert {each.reason for each in sections} == {"no answer within 0.2 s"}
    assert DEADLINE_SECONDS == 1.5


def test_a_hanging_reader_is_asked_again_only_after_it_returns(gate: Gate) -> None:
    """While its thread hangs it is not asked, the brief comes without waiting; when the thread has ended it is asked."""
    composer = Composer(readers(alerts=gate), deadline_seconds=SHORT)

    async def story() -> list[Section]:
        told = [(await composer.read_sections(context(), ask()))[-1] for _ in range(3)]
        assert gate.asked == 1
        gate.opened.set()
        await asyncio.to_thread(gate.ended.acquire)
        await until(lambda: composer._hung_since("alerts") is None)
        return [*told, await composer.read_section("alerts", context(), ask())]

    late, again, still, free = asyncio.run(story())
    assert late.reason == "no answer within 0.2 s"
    assert again.reason == still.reason == "not asked again: a question asked 0 s ago still hangs"
    assert (free.status, gate.asked) == (Status.READ, 2)


def test_a_reader_that_returns_while_others_are_waited_for_affects_nobody(gate: Gate) -> None:
    """A brief that did not ask a hanging reader is not spoiled if the reader returns and answers another meanwhile."""
    slow = Gate("derive")
    composer = Composer(readers(alerts=gate, derive=slow), deadline_seconds=SHORT)

    async def story() -> tuple[Section, ...]:
        slow.opened.set()
        await composer.read_sections(context(), ask())
        slow.opened.clear()
        first = asyncio.ensure_future(composer.read_sections(context(), ask()))
        await asyncio.sleep(0)
        gate.opened.set()
        await asyncio.to_thread(gate.ended.acquire)
        await until(lambda: composer._hung_since("alerts") is None)
        assert (await composer.read_section("alerts", context(), ask())).status is Status.READ
        slow.opened.set()
        return await first

    *_, derive, alerts = asyncio.run(story())
    assert derive.status is Status.READ
    assert "not asked again" in (alerts.reason or "")


def test_a_reader_hangs_as_long_as_any_of_its_questions_does(gate: Gate) -> None:
    """Of two questions that hang at once, both must end before the reader is asked again."""
    second = threading.Event()
    calls: list[Callable[[], object]] = [lambda: gate.opened.wait(30), lambda: second.wait(30)]

    def read(context: SectionContext, ask: SectionQuery) -> Section:
        calls.pop(0)()
        gate.ended.release()
        return section("alerts")

    composer = Composer(readers(alerts=read), deadline_seconds=SHORT)

    async def story() -> str | None:
        await asyncio.gather(*(composer.read_section("alerts", context(), ask()) for _ in range(2)))
        second.set()
        await asyncio.to_thread(gate.ended.acquire)
        await until(lambda: any(question.answer.done() for question in composer._open["alerts"]))
        return (await composer.read_section("alerts", context(), ask())).reason

    assert "not asked again" in (asyncio.run(story()) or "")


def test_without_a_thread_to_spare_the_brief_still_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system gives no thread, every section says so, and the readers are asked again the next time."""
    composer = Composer(readers(), deadline_seconds=SHORT)

    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def story() -> tuple[tuple[Section, ...], tuple[Section, ...]]:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refused)
            patch.setattr("brief.support.daemon_threads._workers", Workers())
            without = await composer.read_sections(context(), ask())
        await asyncio.sleep(SHORT)
        return without, await composer.read_sections(context(), ask())

    without, after = asyncio.run(story())
    assert {each.reason for each in without} == {"unexpected RuntimeError: can't start new thread"}
    assert {each.status for each in after} == {Status.READ}
