"""How long an answer is valid, and that all callers share one. The monotonic clock is the only fake."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from brief.support import ttl_cache
from brief.support.ttl_cache import LIFETIME_SECONDS, MOST_KEPT, TtlCache


class Clock:
    """A monotonic clock that advances only when told to."""

    def __init__(self) -> None:
        self.at = 100.0

    def monotonic(self) -> float:
        """Seconds."""
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the module, controlled by the test."""
    made = Clock()
    monkeypatch.setattr(ttl_cache, "time", made)
    return made


class Oracle:
    """Answers 1, 2, 3 and so on; `gate` holds every answer back, `fault` is raised instead of one."""

    def __init__(self) -> None:
        self.asked = 0
        self.gate: asyncio.Event | None = None
        self.fault: Exception | None = None
        self.takes: Callable[[], None] = lambda: None

    async def __call__(self) -> int:
        """The next answer."""
        self.asked += 1
        number = self.asked
        if self.gate is not None:
            await self.gate.wait()
        self.takes()
        if self.fault is not None:
            raise self.fault
        return number


Story = Callable[[TtlCache[int], Oracle], Awaitable[None]]


def told(story: Story) -> Oracle:
    """Run a test with a new cache and a new oracle."""
    oracle = Oracle()

    async def run() -> None:
        await story(TtlCache(), oracle)

    asyncio.run(run())
    return oracle


async def value(memory: TtlCache[int], oracle: Oracle, question: str = "q", signature: object = 0) -> int:
    """The answer alone."""
    return (await memory.get(question, signature, oracle)).value


def test_an_answer_stands_for_less_than_a_second(clock: Clock) -> None:
    """Within a second the same answer is returned, with its renderings; after that it is computed anew."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        first = await memory.get("q", 0, oracle)
        clock.at += LIFETIME_SECONDS * 0.999
        assert await memory.get("q", 0, oracle) is first
        clock.at += LIFETIME_SECONDS * 0.001
        assert await value(memory, oracle) == 2

    told(story)


def test_age_counts_from_when_the_asking_began(clock: Clock) -> None:
    """An answer that took most of a second to compute does not count as new for another second."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        def slowly() -> None:
            clock.at += 0.9

        oracle.takes = slowly
        assert await value(memory, oracle) == 1
        clock.at += 0.09
        assert await value(memory, oracle) == 1
        clock.at += 0.02
        assert await value(memory, oracle) == 2

    told(story)


def test_a_change_ends_an_answer_at_once(clock: Clock) -> None:
    """No answer outlives its signature, not even for the rest of its second."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        assert [await value(memory, oracle, signature=at) for at in ("a", "a", "b", "a")] == [1, 1, 2, 3]

    told(story)


def test_each_question_has_its_own_answer(clock: Clock) -> None:
    """Two checkouts never get each other's answer."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        assert [await value(memory, oracle, question) for question in "abab"] == [1, 2, 1, 2]

    told(story)


def test_all_who_wait_share_one_asking(clock: Clock) -> None:
    """However many ask the same at once, it is computed once."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        oracle.gate = asyncio.Event()
        waiting = [asyncio.ensure_future(value(memory, oracle)) for _ in range(50)]
        await asyncio.sleep(0)
        oracle.gate.set()
        assert await asyncio.gather(*waiting) == [1] * 50

    assert told(story).asked == 1


def test_whoever_comes_after_a_change_does_not_share_the_older_asking(clock: Clock) -> None:
    """A computation that began before a change does not answer a caller after it, whichever ends first."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        oracle.gate = asyncio.Event()
        before = asyncio.ensure_future(value(memory, oracle, signature="old"))
        await asyncio.sleep(0)
        after = asyncio.ensure_future(value(memory, oracle, signature="new"))
        await asyncio.sleep(0)
        oracle.gate.set()
        assert list(await asyncio.gather(before, after)) == [1, 2]

    told(story)


def test_one_who_goes_away_takes_the_answer_from_nobody(clock: Clock) -> None:
    """The first caller may be cancelled; those who joined still get the answer."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        oracle.gate = asyncio.Event()
        first, second = (asyncio.ensure_future(value(memory, oracle)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        oracle.gate.set()
        assert await second == 1

    assert told(story).asked == 1


def test_a_fault_reaches_all_who_wait_and_is_not_kept(clock: Clock) -> None:
    """All who shared a failed computation get the exception; the next call tries again, within the same second."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        oracle.fault = OSError("gone")
        outcomes = await asyncio.gather(*(value(memory, oracle) for _ in range(3)), return_exceptions=True)
        assert outcomes == [oracle.fault] * 3
        oracle.fault = None
        assert await value(memory, oracle) == 2

    told(story)


def test_memory_is_bounded(clock: Clock) -> None:
    """Beyond the limit the oldest answers are evicted and the rest stay."""

    async def story(memory: TtlCache[int], oracle: Oracle) -> None:
        questions = [str(number) for number in range(MOST_KEPT + 1)]
        for question in questions:
            await value(memory, oracle, question)
        assert await value(memory, oracle, questions[1]) == 2
        assert await value(memory, oracle, questions[0]) == MOST_KEPT + 2

    told(story)
