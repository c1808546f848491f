"""A server's desk for the repository of a lab, asked in this process, under two clocks that stand until they are moved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from brief.answering import looks
from brief.answering import wakes as listed
from brief.answering.shape import Inputs
from brief.core.model import AnsweredBy
from brief.core.waking import Waking
from brief.desk import Desk
from brief.server.schedule import Schedule
from brief.server.strain import Strain
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.wakes import Wakes
from lab import Lab

BEGIN = datetime(2026, 10, 12, 9, 0, tzinfo=UTC)
ANN, BOB = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
ON = "version: 1\nsession:\n  brief_on_interval: true\n"

Answer = TypeVar("Answer")


class Place:
    """A repository whose policy wakes sessions every twenty minutes, and the desk and the schedule of its server."""

    def __init__(self, lab: Lab, database: Database) -> None:
        self.lab = lab
        self.now = BEGIN
        self.steady = 1_000.0
        self.policy(ON)
        self.strain = Strain(lambda: self.now)
        self.board = Board(database)
        self.board.wakes = Wakes(database, lambda: self.steady)
        self.desk = Desk(
            lab.common_dir,
            now=lambda: self.now,
            sessions=self.board,
            absence=None,
            identity=_identity,
            remarks=self.strain.remarks,
        )
        self.schedule = Schedule(self.desk, self.strain, holds=lambda: True)

    def after(self, minutes: float, *, set_by: timedelta = timedelta(0)) -> None:
        """So many minutes go by, and the wall clock is set."""
        self.now += timedelta(minutes=minutes) + set_by
        self.steady += minutes * 60

    def policy(self, text: str | None) -> None:
        """The checkout has that policy from now on."""
        path = self.lab.repo / ".ai/repo/policy.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)

    def put(self, slug: str, **fields: object) -> Path:
        """A notice of today."""
        head = "".join(f"{key}: {value}\n" for key, value in {"created": "2026-10-12", **fields}.items())
        path = self.lab.state / f"notices/active/{slug}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{head}---\n# {slug} title\nbody\n")
        return path

    def look(self, state: str = "idle", session: str = ANN, **more: Any) -> looks.Looked:
        """What a look is answered."""
        return self._asked(looks.look, looks.LookInputs, session=session, state=state, **more)

    def tell(self, prompt: str, outcome: str, session: str = ANN) -> looks.Recorded:
        """What telling an outcome is answered."""
        return self._asked(looks.outcome, looks.OutcomeInputs, session=session, prompt=prompt, outcome=outcome)

    def prompt(self, session: str = ANN, **more: Any) -> looks.Attached:
        """What goes with a prompt."""
        return self._asked(looks.prompt, looks.PromptInputs, session=session, **more)

    def wakes(self) -> listed.AllWakes:
        """The list."""
        return self._asked(listed.list_wakes, listed.WakesInputs)

    def pause(self, **more: Any) -> listed.AllWakes:
        """Pause."""
        return self._asked(listed.pause_wakes, listed.PauseInputs, **more)

    def resume(self, **more: Any) -> listed.AllWakes:
        """Resume."""
        return self._asked(listed.resume_wakes, listed.PauseInputs, **more)

    def wake(self, session: str = ANN) -> listed.AllWakes:
        """Ask for one now."""
        return self._asked(listed.wake_now, listed.WakeInputs, session=session)

    def beat(self, *sessions: str) -> None:
        """The beat of sessions, as the schedule is called for it."""
        for session in sessions or (ANN,):
            asyncio.run(self.schedule.beat(session))

    def waking(self, session: str = ANN) -> Waking:
        """How its wakes stand."""
        found = self.board.waking(session)
        assert found is not None
        return found

    def counted(self, session: str = ANN) -> dict[str, int]:
        """The counts of its ledger."""
        return {f"{line.kind} {line.detail}": line.count for line in self.board.wakes.ledger(session)}

    def woken(self, session: str = ANN, minutes: float = 20) -> looks.PromptToSubmit:
        """The prompt that it is handed once an interval has gone by."""
        self.look(session=session)
        self.after(minutes)
        self.beat(session)
        prompt = self.look(session=session).prompt
        assert prompt is not None
        return prompt

    def _asked(self, handler: Callable[[Desk, Any], Awaitable[Answer]], inputs: type[Inputs], **given: Any) -> Answer:
        asked = inputs.model_validate({"root": str(self.lab.repo), **given})

        async def answered() -> Answer:
            return await handler(self.desk, asked)

        return asyncio.run(answered())


def _identity(root: str) -> AnsweredBy:
    return AnsweredBy(kind="lease-holder", pid=1, root=root, epoch=1, version="0", reason=None)
