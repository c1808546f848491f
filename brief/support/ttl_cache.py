"""A TTL cache of answers: at most a second old, never older than a change, and computed once for all who wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from msgspec import Struct, field

from brief.support.recent_map import RecentMap

LIFETIME_SECONDS = 1.0
MOST_KEPT = 256

Value = TypeVar("Value")


class CacheEntry(Struct, Generic[Value]):
    """An answer, the signature of its inputs, when it was begun (`time.monotonic`), and its renderings so far."""

    value: Value
    signature: object
    begun: float
    _renderings: dict[Hashable, bytes] = field(default_factory=dict)

    def render(self, form: Hashable, render: Callable[[], bytes]) -> bytes:
        """The answer rendered in a form. Each form is rendered once."""
        if form not in self._renderings:
            self._renderings[form] = render()
        return self._renderings[form]


class TtlCache(Generic[Value]):
    """The answers of the last second, by question."""

    def __init__(self) -> None:
        self._kept: RecentMap[Hashable, CacheEntry[Value]] = RecentMap(MOST_KEPT)
        self._under_way: dict[Hashable, tuple[object, asyncio.Task[CacheEntry[Value]]]] = {}

    async def get(
        self, question: Hashable, signature: object, answer: Callable[[], Awaitable[Value]]
    ) -> CacheEntry[Value]:
        """The cached answer to `question` if `signature`, all that it depends on, is unchanged; else calls `answer`."""
        kept = self._kept.get(question)
        if kept is not None and kept.signature == signature and time.monotonic() - kept.begun < LIFETIME_SECONDS:
            return kept
        waiting = self._under_way.get(question)
        if waiting is not None and waiting[0] == signature:
            return await asyncio.shield(waiting[1])
        task = asyncio.ensure_future(self._answer(question, signature, answer))
        self._under_way[question] = (signature, task)
        task.add_done_callback(lambda done: self._end_task(question, done))
        return await asyncio.shield(task)

    async def _answer(
        self, question: Hashable, signature: object, answer: Callable[[], Awaitable[Value]]
    ) -> CacheEntry[Value]:
        begun = time.monotonic()
        kept = CacheEntry(await answer(), signature, begun)
        self._kept[question] = kept
        self._expire(time.monotonic())
        return kept

    def _expire(self, now: float) -> None:
        for question in [each for each, kept in self._kept.items() if now - kept.begun >= LIFETIME_SECONDS]:
            del self._kept[question]

    def _end_task(self, question: Hashable, task: asyncio.Task[CacheEntry[Value]]) -> None:
        if self._under_way.get(question, (None, None))[1] is task:
            del self._under_way[question]
