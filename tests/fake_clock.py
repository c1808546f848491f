"""A place whose schedule is called by the real scheduler, under one clock for the whole process that is moved by hand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from datetime import timedelta
from typing import Any

import time_machine

from brief.sessions.database import Database
from repo_fixture import ANN, BEGIN
from sandbox import Lab
from wake_helpers import Woken


class Clocked(Woken):
    """A place whose wall clock is that of the whole process, the scheduler's too."""

    def __init__(self, lab: Lab, database: Database, traveller: time_machine.Traveller) -> None:
        super().__init__(lab, database)
        self._traveller = traveller

    def after(self, minutes: float, *, set_by: timedelta = timedelta(0)) -> None:
        """Let this many minutes pass for everybody."""
        super().after(minutes, set_by=set_by)
        self._traveller.move_to(self.clock.now)

    async def seen(self, session: str = ANN) -> None:
        """Make a session idle."""
        episode = {one.episode.id for one in self.board.open_episodes()}
        if session not in episode:
            await asyncio.to_thread(self.look, session=session)

    async def settled(self) -> None:
        """The schedule has looked, and all that was called for by then is done."""
        await self.schedule.place_jobs()
        while True:
            await asyncio.sleep(0)
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            if not others:
                return
            await asyncio.wait(others)

    async def has_prompt(self, session: str = ANN) -> bool:
        """Whether one waits, once the schedule has looked."""
        await self.settled()
        wake_state = self.board.wake_state(session)
        return wake_state is not None and wake_state.prompt is not None

    def submitted(self, session: str = ANN) -> None:
        """The session has taken what waits."""
        prompt = self.look(session=session).prompt
        assert prompt is not None
        assert self.tell(prompt.id, "submitted", session).recorded

    def notes(self) -> str:
        """The notes of a brief."""
        return "\n".join(self.service.request_context(str(self.lab.repo)).notes)


@contextlib.contextmanager
def clocked(lab: Lab) -> Iterator[Clocked]:
    """A repository with one commit, a server's service and its schedule, at BEGIN."""
    lab.commit()
    lab.state.mkdir()
    with (
        time_machine.travel(BEGIN, tick=False) as traveller,
        contextlib.closing(Database(lab.state / "majordomus.db", epoch=1)) as database,
    ):
        yield Clocked(lab, database, traveller)


def run(story: Coroutine[Any, Any, None], place: Clocked) -> None:
    """Let a story happen in one event loop, at whose end the schedule ends."""

    async def told() -> None:
        try:
            await story
        finally:
            place.schedule.end()

    asyncio.run(told())
