"""Blocking work that many ask for at once, done by one thread for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from brief.support.daemon_threads import in_thread

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Rounds of work, one at a time for each question.

    Who asks while a round is under way gets the next, so that no answer was begun before its question was put.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Result]] = {}
        self._next: dict[Hashable, asyncio.Task[Result]] = {}

    async def get(self, question: Hashable, work: Callable[[], Result]) -> Result:
        """What `work`, the same for all who put `question`, returns or raises."""
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
