"""What waits to be merged into the base, as it was last observed."""

from __future__ import annotations

from datetime import datetime, timedelta

from brief.core.model.brief import IntegrationSection, QueueEntry, Row, Status
from brief.core.text.sanitize import ago, clean
from brief.integration.observation import Observation, read
from brief.sections.context import SectionContext, SectionQuery

REFRESH = "majordomus queue refresh"


def answer(context: SectionContext, query: SectionQuery) -> IntegrationSection:
    """The observation that lies in the state folder; unread where none was made, undeclared with no provider."""
    provider = query.settings.integration.provider
    if provider == "none":
        return IntegrationSection(
            status=Status.UNDECLARED, headline="no queue is set up", reason="integration.provider is none"
        )
    if provider == "github":
        return _unread(
            "integration.provider is github, which this version of majordomus cannot ask; auto and git can be"
        )
    observation = read(f"{context.state_dir}/observation.json")
    if observation is None:
        return _unread(f"the branches were never looked at; run {REFRESH}")
    return _section(observation, context.now(), timedelta(minutes=query.settings.integration.refresh_minutes))


def _unread(reason: str) -> IntegrationSection:
    return IntegrationSection(status=Status.UNREAD, headline="the queue could not be told", reason=reason)


def _section(observation: Observation, now: datetime, fresh_for: timedelta) -> IntegrationSection:
    waiting = observation.entries
    left_out = observation.omitted
    return IntegrationSection(
        status=Status.PARTIAL if left_out else Status.READ,
        headline=_headline(observation, now, fresh_for),
        rows=tuple(Row(text=_row(entry, now)) for entry in waiting),
        data=observation.data(),
        reason=f"{left_out} more branches were not looked at: only the latest {len(waiting)} are" if left_out else None,
        as_of=observation.observed_at,
        omitted=left_out,
    )


def _headline(observation: Observation, now: datetime, fresh_for: timedelta) -> str:
    count = len(observation.entries) + observation.omitted
    noun = "branch" if count == 1 else "branches"
    begun = f", next {clean(observation.next, 60)}" if observation.next else ""
    age = now - observation.observed_at
    old = f", older than integration.refresh_minutes: {REFRESH}" if age > fresh_for else ""
    return f"{count} {noun} ahead of {clean(observation.base, 60)}{begun} (looked at {ago(age)}{old})"


def _row(entry: QueueEntry, now: datetime) -> str:
    behind = f", {entry.behind} behind" if entry.behind else ""
    age = f", last commit {ago(now - entry.committed_at)}" if entry.committed_at else ""
    where = f", in {clean(entry.worktree.rpartition('/')[2], 60)}" if entry.worktree else ""
    return f"{clean(entry.name, 60)}: {entry.ahead} ahead{behind}{age}{where}"
