"""Ask all section readers at once, under one deadline, and compose a brief from their answers.

Each reader runs in a thread of its own. A reader that raises, hangs or answers rubbish makes its own section unread,
with the reason, and no other. A reader whose thread still hangs from an earlier question is not asked again until that
thread ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from msgspec import Struct

from brief.core.model.brief import (
    SECTIONS,
    AnsweredBy,
    Brief,
    DishonestSectionError,
    PolicyInForce,
    Repository,
    Section,
    SixSections,
    Status,
)
from brief.core.model.errors import MajordomusError
from brief.core.text.line import compose_line
from brief.core.text.sanitize import clean
from brief.fastpath.lease import STOPPED
from brief.sections.context import Answer, SectionContext, SectionQuery
from brief.support.daemon_threads import in_thread

DEADLINE_SECONDS = 1.5


class _RubbishError(Exception):
    """A reader returned something other than its section."""


class _Question(Struct, frozen=True):
    """A question to one reader: when it was asked, and its answer, which is done as soon as its thread has ended."""

    begun: float
    answer: asyncio.Future[Section]


class Composer:
    """Asks the section readers and remembers which of them hang."""

    def __init__(self, readers: Mapping[str, Answer], deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._readers = readers
        self._deadline = deadline_seconds
        self._open: dict[str, list[_Question]] = {name: [] for name in readers}

    async def read_sections(self, context: SectionContext, query: SectionQuery) -> tuple[Section, ...]:
        """The six sections in order, within the deadline."""
        return await self.read(tuple(SECTIONS), context, query)

    async def read_section(self, name: str, context: SectionContext, query: SectionQuery) -> Section:
        """One section alone."""
        return (await self.read((name,), context, query))[0]

    async def read(
        self, names: tuple[str, ...], context: SectionContext, query: SectionQuery, seconds: float | None = None
    ) -> tuple[Section, ...]:
        """The named sections in the given order, within `seconds`, by default the deadline."""
        deadline = self._deadline if seconds is None else seconds
        hung = {name: since for name in names if (since := self._hung_since(name)) is not None}
        answers = {name: self._ask(name, context, query) for name in names if name not in hung}
        if answers:
            await asyncio.wait(answers.values(), timeout=deadline)
        return tuple(
            _not_asked(name, hung[name]) if name in hung else self._await_section(name, answers[name], deadline)
            for name in names
        )

    def _hung_since(self, name: str) -> float | None:
        """When the reader's oldest question past the deadline was asked, if it still hangs; else None."""
        self._open[name] = [question for question in self._open[name] if not question.answer.done()]
        first = min((question.begun for question in self._open[name]), default=None)
        return first if first is not None and time.monotonic() - first >= self._deadline else None

    def _ask(self, name: str, context: SectionContext, query: SectionQuery) -> asyncio.Future[Section]:
        read, begun = self._readers[name], time.monotonic()

        def timed() -> Section:
            section = _check_section(name, read(context, query))
            return section.replace(took_ms=round((time.monotonic() - begun) * 1000, 3))

        answer = in_thread(timed)
        self._open[name].append(_Question(begun, answer))
        return answer

    def _await_section(self, name: str, answer: asyncio.Future[Section], deadline: float) -> Section:
        if not answer.done():
            return make_unread(name, f"no answer within {deadline:g} s")
        fault = answer.exception()
        return answer.result() if fault is None else make_unread(name, _describe_error(fault))


def _not_asked(name: str, hung_since: float) -> Section:
    seconds = time.monotonic() - hung_since
    return make_unread(name, f"not asked again: a question asked {seconds:.0f} s ago still hangs")


def make_unread(name: str, reason: str) -> Section:
    """The section of a reader that did not answer, with the reason."""
    kind: Any = SECTIONS[name]
    section: Section = kind(status=Status.UNREAD, headline="no answer", reason=reason)
    return section


def _check_section(name: str, answered: object) -> Section:
    if not isinstance(answered, SECTIONS[name]):
        raise _RubbishError(f"a {type(answered).__name__} instead of the {name} section")
    return answered


def _describe_error(fault: BaseException) -> str:
    if isinstance(fault, MajordomusError):
        return clean(fault.sentence, 400)
    if isinstance(fault, (DishonestSectionError, PolicyInForce, _RubbishError)):
        return clean(f"its answer has the wrong shape: {fault}", 400)
    return clean(f"unexpected {type(fault).__name__}: {fault}", 400)


class Frame(Struct, frozen=True):
    """Everything in a brief but its sections. `notes` are whole sentences, already sanitized."""

    answered_by: AnsweredBy
    repository: Repository
    interval_minutes: int
    on_interval_reason: str | None
    policy: PolicyInForce
    notes: tuple[str, ...]


def assemble_brief(sections: Sequence[Section], frame: Frame, now: datetime) -> Brief:
    """Assemble a brief from its six sections. `now` is when it was composed."""
    return Brief(
        generated_at=now,
        answered_by=frame.answered_by,
        repository=frame.repository,
        interval_minutes=frame.interval_minutes,
        on_interval=frame.on_interval_reason is None,
        on_interval_reason=frame.on_interval_reason,
        policy=frame.policy,
        line=compose_line(
            sections,
            now,
            head_unread=frame.repository.head_unread,
            is_stopped=frame.answered_by.reason == STOPPED,
        ),
        summary=_summarize(sections, frame.repository, frame.notes),
        unread=tuple(section.name for section in sections if section.status is Status.UNREAD),
        notes=frame.notes,
        sections=cast(SixSections, tuple(sections)),
    )


def _summarize(sections: Sequence[Section], repository: Repository, notes: Sequence[str]) -> str:
    gaps = [f"head unread: {repository.head_unread}"] if repository.head_unread is not None else []
    gaps += [f"{s.name} {s.status}: {s.reason}" for s in sections if not s.fully_read]
    read = "everything that is set up was read" if not gaps else "not all was read: " + "; ".join(gaps)
    return " · ".join((read, *notes))
