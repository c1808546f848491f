"""The commands that show notices: all of them, the reminders, or one in full."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from brief.core.model.brief import AlertsSection
from brief.core.model.errors import UsageError
from brief.core.model.wire import Wire
from brief.core.notices.notice import Audience, Kind
from brief.core.notices.visibility import Expired, Hidden, Shown, Verdict, decide_visibility
from brief.core.sessions.life import Life
from brief.core.text.abbreviation import whole_name
from brief.core.text.page import section_page
from brief.core.text.sanitize import clean, clean_block
from brief.handlers.inputs import OwnerByDefault, OwnerFlag, SessionInputs, Words
from brief.handlers.locks import release_of_gone
from brief.notices.finding import LEAST_LETTERS, find, read_content
from brief.request import RequestContext
from brief.sections.alerts import compose_alerts, lock_owners, read_visibility
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.zone import find_zone_in_force

OWNERS_LEFT_OUT = "those for the owner alone are left out: majordomus reminders shows them in the owner's own shell"

_BODY_LINES = 400
_BODY_WIDTH = 400


class AlertsInputs(SessionInputs, frozen=True, kw_only=True):
    """The session and component for which the notices are selected."""

    component: (
        Annotated[
            str,
            Meta(
                max_length=200,
                description="component to list notices for (default: from the task's scope, else from the policy)",
            ),
        ]
        | None
    ) = None


class ListInputs(AlertsInputs, frozen=True, kw_only=True):
    """The same, and whether notices for the owner alone are listed too."""

    owner: Annotated[
        OwnerFlag, Meta(description="also show notices meant for the owner alone; refused in a model's shell")
    ] = False


class RemindersInputs(AlertsInputs, frozen=True, kw_only=True):
    """The same, and whether reminders for the owner alone are listed too."""

    owner: Annotated[
        OwnerByDefault, Meta(description="also show notices meant for the owner alone; never shown in a model's shell")
    ] = False


class ShowInputs(ListInputs, frozen=True, kw_only=True):
    """The notice to show."""

    slug: Annotated[Words, Meta(max_length=250, description="name of the notice, as lists show it")]


class NoticeInFull(Wire, frozen=True):
    """One notice, with its texts as written. `verdict` is `shown`, `hidden` or `expired`; `reason` says why not shown."""

    slug: str
    kind: str
    title: str
    verdict: str
    reason: str | None
    countdown: str | None
    owner: Life | None
    fields: dict[str, str]
    body: str


async def list_alerts(service: RepositoryService, inputs: ListInputs) -> AlertsSection:
    """List the notices that concern the caller. Those for the owner alone are listed only on request."""

    def work() -> AlertsSection:
        query = request_for(service, inputs).query
        return compose_alerts(
            service.context, query, read_visibility(service.context, query), _visible_audiences(owner=inputs.owner)
        )

    return await in_thread(work)


async def list_reminders(service: RepositoryService, inputs: RemindersInputs) -> AlertsSection:
    """List the reminders and everything else that is due, and what is still to come."""

    def work() -> AlertsSection:
        query = request_for(service, inputs).query
        found = read_visibility(service.context, query)
        due = tuple(one for one in found.shown if one.fired or one.notice.kind is Kind.REMINDER)
        of_days = replace(found, shown=due)
        section = compose_alerts(
            service.context, query, of_days, _visible_audiences(owner=inputs.owner), with_upcoming=True
        )
        left_out = "" if inputs.owner else f"; {OWNERS_LEFT_OUT}"
        return section.replace(headline=f"{section.headline}{left_out}")

    return await in_thread(work)


def _visible_audiences(*, owner: bool) -> tuple[Audience, ...]:
    return tuple(Audience) if owner else (Audience.ALL,)


async def show_alert(service: RepositoryService, inputs: ShowInputs) -> NoticeInFull:
    """Show one notice in full, even if it is hidden at present, with the reason."""

    def work() -> NoticeInFull:
        verdict = _find_verdict(service, inputs)
        if verdict.notice.audience is Audience.OWNER and not inputs.owner:
            raise UsageError(f"{clean(inputs.slug)} is for the owner alone; in a shell of your own, add --owner")
        return _in_full(verdict)

    return await in_thread(work)


def request_for(service: RepositoryService, inputs: AlertsInputs) -> RequestContext:
    """The context of the request, with the named component as its focus."""
    request = service.request_context(inputs.root, inputs.session)
    return replace(request, query=replace(request.query, component=inputs.component))


def _find_verdict(service: RepositoryService, inputs: ShowInputs) -> Verdict:
    found = read_visibility(service.context, request_for(service, inputs).query)
    verdicts: tuple[Verdict, ...] = (*found.shown, *found.hidden, *found.expired)
    slugs = (one.notice.slug for one in verdicts if inputs.owner or one.notice.audience is not Audience.OWNER)
    slug = whole_name(inputs.slug, slugs, LEAST_LETTERS, "notices")
    named = [verdict for verdict in verdicts if verdict.notice.slug == slug]
    if len(named) > 1:
        raise UsageError(
            f"{len(named)} notices in different folders are called {clean(inputs.slug)}; rename one of them"
        )
    return named[0] if named else _find_by_name(service, inputs)


def _find_by_name(service: RepositoryService, inputs: ShowInputs) -> Verdict:
    """Find a notice by its name, if a folder holds more files than a brief reads. Raises like `find`."""
    request = request_for(service, inputs)
    _, notice = read_content(find(request.notice_folders, inputs.slug).file)
    return decide_visibility(
        notice, service.now(), find_zone_in_force(request.query.settings)[0], lock_owners(service.context)(notice)
    )


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
    """The notices, one line each."""
    return section_page(section)


def notice_text(notice: NoticeInFull) -> str:
    """The notice: its kind and verdict, its fields, and its body."""
    why = f": {clean(notice.reason)}" if notice.reason else ""
    when = f" {notice.countdown}" if notice.countdown else ""
    owner = f", owner {notice.owner}" if notice.owner else ""
    head = [f"{clean(notice.slug)}: {notice.kind}{owner}{when}, {notice.verdict}{why}", clean(notice.title)]
    if notice.owner is Life.GONE:
        head.append(release_of_gone(notice.fields.get("component") or "COMPONENT"))
    fields = [f"  {clean(name, 60)}: {clean(value, 200)}" for name, value in notice.fields.items()]
    body = clean_block(notice.body, _BODY_LINES, _BODY_WIDTH)
    return "\n".join([*head, "", *fields, "", *body]) + "\n"
