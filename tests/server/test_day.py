"""R20: a day of the schedule in accelerated time, by the real scheduler, with a client that looks every two minutes."""

from __future__ import annotations

import gc
import os
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from brief.core.wakes.state import Prompt
from brief.handlers import heartbeat
from brief.handlers.wakes import wakes_text
from brief.handlers.waking import compose_wake
from brief.request import RequestContext
from brief.service import RepositoryService
from fake_clock import Clocked, clocked, run
from repo_fixture import ANN
from sandbox import Lab
from wake_helpers import ON

pytestmark = pytest.mark.slow

BETWEEN_LOOKS = 2


MOST_THREADS = 20
"""Threads that are idle end after a while, so their number at a moment is no fixed one."""

MOST_GROWN = 200_000
"""Bytes by which a process may grow in 22 hours: what libraries cache and the interpreter keeps at hand, as measured 80,000."""


@dataclass(frozen=True)
class Held:
    """The resources of a process: memory that Python allocated, open descriptors, threads."""

    memory: tracemalloc.Snapshot
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> Held:
        """As it is once nothing is left to be collected."""
        gc.collect()
        memory = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(False, tracemalloc.__file__)])
        return cls(memory, len(os.listdir("/proc/self/fd")), threading.active_count())

    def grown_since(self, before: Held) -> int:
        """By how many bytes; a table of the interpreter that was doubled is one block, and no leak is."""
        grown = self.memory.compare_to(before.memory, "lineno")
        return sum(each.size_diff for each in grown if abs(each.count_diff) > 1)


class Day:
    """A session before which nobody sits: how often it was woken, and what its last look was answered."""

    def __init__(self, place: Clocked) -> None:
        self.place = place
        self.woken = 0
        self.last: heartbeat.HeartbeatAnswer | None = None

    async def hours(self, count: int) -> None:
        """So many hours go by."""
        for _ in range(count * 60 // BETWEEN_LOOKS):
            self.place.after(BETWEEN_LOOKS)
            await self.place.settled()
            await self.look()

    async def look(self) -> None:
        """The session is idle, and submits what it is handed."""
        service, root = self.place.service, str(self.place.lab.repo)
        self.last = await heartbeat.answer_heartbeat(
            service, heartbeat.HeartbeatInputs(root=root, session=ANN, state="idle", pid=os.getpid())
        )
        if self.last.prompt is not None:
            told = heartbeat.OutcomeInputs(root=root, session=ANN, prompt=self.last.prompt.id, outcome="submitted")
            assert (await heartbeat.record_prompt_outcome(service, told)).recorded
            self.woken += 1


@pytest.fixture
def place(lab: Lab) -> Iterator[Clocked]:
    """A still repository, whose session knows all about it."""
    with clocked(lab) as made:
        made.prompt()
        yield made


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The moments at which prompts were composed."""
    told: list[str] = []

    def counting(where: str) -> None:
        async def counted(service: RepositoryService, look: RequestContext) -> Prompt:
            told.append(where)
            return await compose_wake(service, look)

        monkeypatch.setattr(f"{where}.compose_wake", counted)

    for where in ("brief.server.wake_scheduler.schedule", "brief.handlers.outbox"):
        counting(where)
    return told


@pytest.fixture
def traced() -> Iterator[None]:
    """Count allocated memory."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def test_always(place: Clocked, composed: list[str]) -> None:
    """`always` wakes twelve times, composes as often, then says that the limit is reached, and counts the other sixty."""
    day = Day(place)
    run(day.hours(24), place)
    assert day.woken == len(composed) == 12
    counted = place.counted()
    assert (counted["wake queued"], counted["wake submitted"], counted["skipped limit"]) == (12, 12, 60)
    assert day.last is not None
    assert "wake limit reached" in day.last.line
    assert "12 wakes without a prompt from a person" in wakes_text(place.wakes())
    assert "schedule:" not in place.notes()


def test_changed(place: Clocked, composed: list[str]) -> None:
    """`changed` composes once an interval, wakes nobody of a still repository, and has 72 skips on record."""
    place.policy(f"{ON}  brief_when: changed\n")
    day = Day(place)
    run(day.hours(24), place)
    assert (day.woken, len(composed)) == (0, 72)
    assert {name: count for name, count in place.counted().items() if "injected" not in name} == {
        "skipped unchanged": 72
    }
    assert "schedule:" not in place.notes()


@pytest.mark.usefixtures("traced")
def test_nothing_grows(place: Clocked) -> None:
    """From the second hour to the last neither memory, nor descriptors, nor threads grow, however many briefs were made."""
    place.policy(f"{ON}  wake_limit: 0\n")
    day, held = Day(place), []

    async def story() -> None:
        for hours in (2, 22):
            await day.hours(hours)
            held.append(Held.now())

    run(story(), place)
    begin, end = held
    assert end.descriptors == begin.descriptors
    assert max(begin.threads, end.threads) < MOST_THREADS
    assert end.grown_since(begin) < MOST_GROWN
