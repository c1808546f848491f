from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

from brief.support.single_flight import SingleFlight


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The outcome of a coroutine that may take 10 s at most."""
    return asyncio.run(asyncio.wait_for(coroutine, 10))


class Rounds:
    """Work that counts how often it was started, and waits to be let go."""

    def __init__(self) -> None:
        self.begun = 0
        self.is_begun = asyncio.Event()
        self.let_go = threading.Event()
        self._loop = asyncio.get_running_loop()

    def work(self) -> int:
        """The number of this round, once it is let go."""
        self.begun += 1
        mine = self.begun
        self._loop.call_soon_threadsafe(self.is_begun.set)
        self.let_go.wait()
        return mine


def test_who_asks_meanwhile_shares_the_next_round() -> None:
    """Callers during a round share one further round that began after they asked."""

    async def asked() -> list[int]:
        rounds = Rounds()
        joined: SingleFlight[int] = SingleFlight()
        first = asyncio.ensure_future(joined.get("one", rounds.work))
        await rounds.is_begun.wait()
        others = [asyncio.ensure_future(joined.get("one", rounds.work)) for _ in range(5)]
        await asyncio.sleep(0)
        rounds.let_go.set()
        return list(await asyncio.gather(first, *others))

    assert run(asked()) == [1, 2, 2, 2, 2, 2]


def test_different_questions_do_not_wait_for_each_other() -> None:
    """Work for one question does not delay another question."""

    async def asked() -> str:
        rounds = Rounds()
        joined: SingleFlight[Any] = SingleFlight()
        first = asyncio.ensure_future(joined.get("one", rounds.work))
        other: str = await joined.get("two", lambda: "answer")
        rounds.let_go.set()
        await first
        return other

    assert run(asked()) == "answer"


def test_a_caller_that_gives_up_costs_the_others_nothing() -> None:
    """If one of several callers is cancelled, the others still get their answer."""

    async def asked() -> int:
        rounds = Rounds()
        joined: SingleFlight[int] = SingleFlight()
        first, second, third = (asyncio.ensure_future(joined.get("one", rounds.work)) for _ in range(3))
        await rounds.is_begun.wait()
        first.cancel()
        second.cancel()
        rounds.let_go.set()
        return await third

    assert run(asked()) == 2


def test_a_fault_is_told_to_all_who_wait() -> None:
    """Every caller of a round that raises gets the exception, and the next question is answered."""

    async def asked() -> str:
        joined: SingleFlight[Any] = SingleFlight()
        faults = await asyncio.gather(*(joined.get("one", lambda: 1 // 0) for _ in range(3)), return_exceptions=True)
        assert [type(each) for each in faults] == [ZeroDivisionError] * 3
        answer: str = await joined.get("one", lambda: "fit")
        return answer

    assert run(asked()) == "fit"
