"""A server's service and schedule in this process, with two clocks that only the test moves, and the calls of a mod."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import repo_fixture
from brief.core.wakes.state import WakeState
from brief.handlers import heartbeat
from brief.handlers import wakes as listed
from brief.handlers.outbox import PromptToSubmit
from brief.server.wake_scheduler.run_faults import RunFaults
from brief.server.wake_scheduler.schedule import Schedule
from brief.service import RepositoryService
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.wakes import Wakes
from repo_fixture import ANN
from sandbox import Lab
from serving import install_for_project, write_policy

ON = "version: 1\nsession:\n  brief_on_interval: true\n"


class Woken(repo_fixture.Place):
    """A repository with its service and schedule, whose policy wakes sessions every twenty minutes."""

    def __init__(self, lab: Lab, database: Database) -> None:
        super().__init__(lab, Board(database))
        self.steady = 1_000.0
        self.board.wakes = Wakes(database, lambda: self.steady)
        self.faults = RunFaults(self.clock)
        self.service = RepositoryService(
            lab.common_dir,
            now=self.clock,
            sessions=self.board,
            absence=None,
            identity=repo_fixture.identity,
            remarks=self.faults.remarks,
        )
        self.schedule = Schedule(self.service, self.faults, holds=lambda: True)
        self.policy(ON)
        install_for_project(lab)

    def after(self, minutes: float, *, set_by: timedelta = timedelta(0)) -> None:
        """Move both clocks by this many minutes, and set the wall clock by `set_by` as well."""
        self.clock.now += timedelta(minutes=minutes) + set_by
        self.steady += minutes * 60

    def policy(self, text: str) -> None:
        """Write this policy into the checkout."""
        write_policy(self.lab, text)

    def look(self, state: str = "idle", session: str = ANN, **more: Any) -> heartbeat.HeartbeatAnswer:
        """Return the answer to a heartbeat."""
        return self.call(heartbeat.answer_heartbeat, heartbeat.HeartbeatInputs, session=session, state=state, **more)

    def tell(self, prompt: str, outcome: str, session: str = ANN) -> heartbeat.RecordedOutcome:
        """Report an outcome and return the answer."""
        return self.call(
            heartbeat.record_prompt_outcome, heartbeat.OutcomeInputs, session=session, prompt=prompt, outcome=outcome
        )

    def prompt(self, session: str = ANN, **more: Any) -> heartbeat.AttachedContext:
        """Return the context that is added to a prompt."""
        return self.call(heartbeat.attach_context, heartbeat.PromptInputs, session=session, **more)

    def wakes(self, *, counts: bool = False) -> listed.AllWakes:
        """List the wakes."""
        return self.call(listed.list_wakes, listed.WakesInputs, counts=counts)

    def pause(self, **more: Any) -> listed.AllWakes:
        """Pause the wakes."""
        return self.call(listed.pause_wakes, listed.PauseInputs, **more)

    def resume(self, **more: Any) -> listed.AllWakes:
        """Resume the wakes."""
        return self.call(listed.resume_wakes, listed.PauseInputs, **more)

    def wake(self, session: str = ANN) -> listed.AllWakes:
        """Request a wake now."""
        return self.call(listed.wake_now, listed.WakeInputs, session=session)

    def beat(self, *sessions: str) -> None:
        """Run sessions as the schedule does."""
        for session in sessions or (ANN,):
            asyncio.run(self.schedule.run_session(session))

    def wake_state(self, session: str = ANN) -> WakeState:
        """Return the state of a session's wakes."""
        found = self.board.wake_state(session)
        assert found is not None
        return found

    def counted(self, session: str = ANN) -> dict[str, int]:
        """Return the counts in a session's ledger."""
        return {f"{line.kind} {line.detail}": line.count for line in self.board.wakes.ledger(session)}

    def woken(self, session: str = ANN, minutes: float = 20) -> PromptToSubmit:
        """The prompt that a session gets after an interval."""
        self.look(session=session)
        self.after(minutes)
        self.beat(session)
        prompt = self.look(session=session).prompt
        assert prompt is not None
        return prompt
