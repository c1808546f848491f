"""The integration section: the branches that wait to be merged into the base, as last observed."""

from __future__ import annotations

from datetime import datetime, timedelta

from brief.core.model.brief import IntegrationSection, Row, Status
from brief.core.model.section_data import QueueEntry
from brief.core.model.wire_time import wire_time
from brief.core.text.sanitize import ago, clean, is_ahead, to_wire
from brief.fastpath.known import ABSENT
from brief.git.branches import no_such_base, refs_meant
from brief.git.head import read_ref
from brief.git.names import short_name
from brief.integration.observation import Observation, read
from brief.sections.context import SectionContext, SectionQuery
from brief.support.state_folder import refuse_unproven

REFRESH = "majordomus queue refresh"
_MOST_NAMES = 5


def answer(context: SectionContext, query: SectionQuery) -> IntegrationSection:
    """The last stored observation. UNREAD if there is none, UNDECLARED if the provider is `none`."""
    provider = query.settings.integration.provider
    if provider == "none":
        return IntegrationSection(
            status=Status.UNDECLARED, headline="no queue is set up", reason="integration.provider is none"
        )
    if provider == "github":
        return _make_unread("integration.provider is github, which this version cannot ask; use auto or git")
    refuse_unproven(context.state_dir)
    observation = read(f"{context.state_dir}/observation.json")
    named = query.settings.integration.base
    if observation is None and named is not None and _is_missing(context.common_dir, named):
        return _make_unread(f"the branches were never read: {no_such_base(named)}")
    if observation is None:
        first = "commit first, since this checkout has no commit yet, and then " if query.is_unborn else ""
        return _make_unread(f"the branches were never read; {first}run {REFRESH}")
    now = context.now()
    if is_ahead(now - observation.observed_at):
        when = wire_time(observation.observed_at.replace(microsecond=0))
        return _make_unread(f"the branches were read at {when}, which is ahead of this clock; run {REFRESH}")
    doubt = None if named is None else _base_doubt(context.common_dir, named, observation.base)
    return _make_section(observation, now, timedelta(minutes=query.settings.integration.refresh_minutes), doubt)


def _base_doubt(common_dir: str, named: str, observed: str) -> str | None:
    """Why the branches were not compared with the base that the policy names. None if they were."""
    if _is_missing(common_dir, named):
        return no_such_base(named)
    if observed in {to_wire(short_name(ref)) for ref in refs_meant(named)}:
        return None
    named = clean(named, 60)
    return f"the branches were compared with {clean(observed, 60)}, but integration.base names {named}; run {REFRESH}"


def _is_missing(common_dir: str, named: str) -> bool:
    """Whether it is known that no branch of this name exists."""
    return all(read_ref(common_dir, ref) is ABSENT for ref in refs_meant(named))


def _make_unread(reason: str) -> IntegrationSection:
    return IntegrationSection(status=Status.UNREAD, headline="the queue is unknown", reason=reason)


def _make_section(
    observation: Observation, now: datetime, fresh_for: timedelta, base_doubt: str | None
) -> IntegrationSection:
    waiting, left_out = observation.entries, observation.omitted
    age = now - observation.observed_at
    gaps = [] if base_doubt is None else [base_doubt]
    gaps += [_describe_age(age, fresh_for)] if age > fresh_for else []
    gaps += [f"{left_out} more branches are ahead: only the latest {len(waiting)} are compared"] if left_out else []
    gaps += [_describe_unread(observation.unread)] if observation.unread else []
    gaps += [clean(gap, 300) for gap in observation.gaps]
    return IntegrationSection(
        status=Status.PARTIAL if gaps else Status.READ,
        headline=_make_headline(observation, now),
        rows=tuple(Row(text=_row_text(entry, now)) for entry in waiting),
        data=observation.as_data().replace(stale=age > fresh_for),
        reason="; ".join(gaps) or None,
        as_of=observation.observed_at,
    )


def _describe_age(age: timedelta, fresh_for: timedelta) -> str:
    limit = f"{fresh_for // timedelta(minutes=1)} minutes (integration.refresh_minutes)"
    return f"the branches were read {ago(age)}, longer ago than {limit}; run {REFRESH}"


def _describe_unread(names: tuple[str, ...]) -> str:
    noun = "1 branch" if len(names) == 1 else f"{len(names)} branches"
    shown = ", ".join(clean(name, 60) for name in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{noun} could not be read ({shown}{more})"


def _make_headline(observation: Observation, now: datetime) -> str:
    count = len(observation.entries) + observation.omitted
    noun = "branch" if count == 1 else "branches"
    begun = f", next {clean(observation.next, 60)}" if observation.next else ""
    return f"{count} {noun} ahead of {clean(observation.base, 60)}{begun} (read {ago(now - observation.observed_at)})"


def _row_text(entry: QueueEntry, now: datetime) -> str:
    behind = f", {entry.behind} behind" if entry.behind else ""
    age = f", last commit {ago(now - entry.committed_at)}" if entry.committed_at else ""
    where = f", in {clean(entry.worktree.rpartition('/')[2], 60)}" if entry.worktree else ""
    return f"{clean(entry.name, 60)}: {entry.ahead} ahead{behind}{age}{where}"
