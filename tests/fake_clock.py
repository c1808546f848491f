"""A repository whose schedule runs in the real scheduler, with one clock for the whole process that tests move."""

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
    """A repository with a wall clock for the whole process, including the scheduler."""

    def __init__(self, lab: Lab, database: Database, traveller: time_machine.Traveller) -> None:
        super().__init__(lab, database)
        self._traveller = traveller

    def after(self, minutes: float, *, set_by: timedelta = timedelta(0)) -> None:
        """Move the clock forward by this many minutes."""
        super().after(minutes, set_by=set_by)
        self._traveller.move_to(self.clock.now)

    async def seen(self, session: str = ANN) -> None:
        """Report a session as idle."""
        episode = {one.episode.id for one in self.board.open_episodes()}
        if session not in episode:
            await asyncio.to_thread(self.look, session=session)

    async def settled(self) -> None:
        """Let the schedule check its jobs, and wait for the runs that are due."""
        await self.schedule.place_jobs()
        while True:
            await asyncio.sleep(0)
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            if not others:
                return
            await asyncio.wait(others)

    async def has_prompt(self, session: str = ANN) -> bool:
        """Whether a wake waits in the outbox after the schedule has checked its jobs."""
        await self.settled()
        wake_state = self.board.wake_state(session)
        return wake_state is not None and wake_state.prompt is not None

    def submitted(self, session: str = ANN) -> None:
        """Let the session submit the waiting prompt."""
        prompt = self.look(session=session).prompt
        assert prompt is not None
        assert self.tell(prompt.id, "submitted", session).recorded

    def notes(self) -> str:
        """The notes of a brief."""
        return "\n".join(self.service.request_context(str(self.lab.repo)).notes)


@contextlib.contextmanager
def clocked(lab: Lab) -> Iterator[Clocked]:
    """A repository with one commit, with a server's service and schedule, at BEGIN."""
    lab.commit()
    lab.state.mkdir()
    with (
        time_machine.travel(BEGIN, tick=False) as traveller,
        contextlib.closing(Database(lab.state / "majordomus.db", epoch=1)) as database,
    ):
        yield Clocked(lab, database, traveller)


def run(story: Coroutine[Any, Any, None], place: Clocked) -> None:
    """Run a scenario in one event loop, and end the schedule at its end."""

    async def told() -> None:
        try:
            await story
        finally:
            place.schedule.end()

    asyncio.run(told())
