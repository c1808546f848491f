"""Alerts to read: all of them, the reminders, one in full."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from brief.core.model.brief import AlertsSection, Wire
from brief.core.model.errors import NotFoundError, UsageError
from brief.core.notices.locks import Owner
from brief.core.notices.notice import Audience, Kind
from brief.core.notices.visibility import Expired, Hidden, Shown, Verdict
from brief.core.text.page import section_page
from brief.core.text.sanitize import clean, clean_block
from brief.handlers.shape import SessionInputs, Words
from brief.sections.alerts import Judged, judged, listed
from brief.service import RepositoryService, RequestContext
from brief.support.daemon_threads import in_thread

_BODY_LINES = 400
_BODY_WIDTH = 400


class AlertsInputs(SessionInputs):
    """For whom the notices are judged."""

    component: str | None = Field(
        default=None, max_length=200, description="the component in focus; else the task's scope, else the policy's"
    )


class ShowInputs(AlertsInputs):
    """Which notice."""

    slug: Words = Field(max_length=250, description="the name of the notice, as lists give it")


class NoticeInFull(Wire):
    """One notice. `verdict` is `shown`, `hidden` or `expired`, with the reason where it is not shown; texts as written."""

    slug: str
    kind: str
    title: str
    verdict: str
    reason: str | None
    countdown: str | None
    owner: Owner | None
    fields: dict[str, str]
    body: str


async def list_alerts(service: RepositoryService, asked: AlertsInputs) -> AlertsSection:
    """Every notice that concerns the caller, for whichever audience."""
    return await in_thread(lambda: _listed(service, asked, tuple(Kind)))


async def list_reminders(service: RepositoryService, asked: AlertsInputs) -> AlertsSection:
    """The reminders alone, the owner's own among them."""
    return await in_thread(lambda: _listed(service, asked, (Kind.REMINDER,)))


async def show_alert(service: RepositoryService, asked: ShowInputs) -> NoticeInFull:
    """One notice in full, also one that is not shown now, with the reason."""
    return await in_thread(lambda: _in_full(_found(service, asked)))


def looked(service: RepositoryService, asked: AlertsInputs) -> RequestContext:
    """The look at the checkout, with the component that was named as its focus."""
    request = service.request_context(asked.root, asked.session)
    return replace(request, query=replace(request.query, component=asked.component))


def _listed(service: RepositoryService, asked: AlertsInputs, kinds: tuple[Kind, ...]) -> AlertsSection:
    query = looked(service, asked).query
    found = judged(service.context, query)
    of_kinds = replace(found, shown=tuple(one for one in found.shown if one.notice.kind in kinds))
    return listed(service.context, query, of_kinds, tuple(Audience))


def _found(service: RepositoryService, asked: ShowInputs) -> Verdict:
    found = judged(service.context, looked(service, asked).query)
    verdicts: tuple[Verdict, ...] = (*found.shown, *found.hidden, *found.expired)
    named = [verdict for verdict in verdicts if verdict.notice.slug == asked.slug]
    if len(named) > 1:
        raise UsageError(
            f"{len(named)} notices in different folders are called {clean(asked.slug)}; rename one of them"
        )
    if not named:
        raise NotFoundError(_unknown(found, asked.slug))
    return named[0]


def _unknown(found: Judged, slug: str) -> str:
    broken = next((f"{file}: {why}" for file, why in found.snapshot.unparsable if file.endswith(f"/{slug}.md")), None)
    return broken or f"no active notice is called {clean(slug)}; majordomus alerts list names them"


def _in_full(verdict: Verdict) -> NoticeInFull:
    notice = verdict.notice
    shown = isinstance(verdict, Shown)
    return NoticeInFull(
        slug=notice.slug,
        kind=notice.kind,
        title=notice.title,
        verdict="shown" if shown else "hidden" if isinstance(verdict, Hidden) else "expired",
        reason=verdict.reason if isinstance(verdict, (Hidden, Expired)) else None,
        countdown=verdict.countdown if isinstance(verdict, Shown) else None,
        owner=verdict.lock_owner if isinstance(verdict, Shown) else None,
        fields={name: str(value) for name, value in notice.fields.items()},
        body=notice.body,
    )


def alerts_text(section: AlertsSection) -> str:
    """The notices, a line each."""
    return section_page(section)


def notice_text(notice: NoticeInFull) -> str:
    """What it is and why it is shown or not, its fields, and its body."""
    why = f": {clean(notice.reason)}" if notice.reason else ""
    when = f" {notice.countdown}" if notice.countdown else ""
    owner = f", owner {notice.owner}" if notice.owner else ""
    head = [f"{clean(notice.slug)}: {notice.kind}{owner}{when}, {notice.verdict}{why}", clean(notice.title), ""]
    fields = [f"  {clean(name, 60)}: {clean(value, 200)}" for name, value in notice.fields.items()]
    body = clean_block(notice.body, _BODY_LINES, _BODY_WIDTH)
    return "\n".join([*head, *fields, "", *body]) + "\n"
