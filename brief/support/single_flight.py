"""Single-flight: blocking work that many callers ask for at once is done by one thread for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from brief.support.daemon_threads import in_thread

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Rounds of work, one at a time for each question.

    A caller that asks during a round gets the result of the next one, so that no answer is older than its question.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Result]] = {}
        self._next: dict[Hashable, asyncio.Task[Result]] = {}

    async def get(self, question: Hashable, work: Callable[[], Result]) -> Result:
        """Return or raise what `work` does. `work` must be the same for all callers with the same `question`."""
        following = self._next.get(question)
        if following is None and question not in self._running:
            return await asyncio.shield(self._begin(question, work))
        if following is None:
            following = self._next[question] = asyncio.ensure_future(self._follow(question, work))
        return await asyncio.shield(following)

    async def _follow(self, question: Hashable, work: Callable[[], Result]) -> Result:
        while (running := self._running.get(question)) is not None:
            await asyncio.wait((running,))
        del self._next[question]
        return await self._begin(question, work)

    def _begin(self, question: Hashable, work: Callable[[], Result]) -> asyncio.Future[Result]:
        future = self._running[question] = in_thread(work)
        future.add_done_callback(lambda _: self._running.pop(question))
        return future
