"""The alerts section: the notices that sessions leave each other, for the asking session, most urgent first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache, partial
from itertools import compress
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from brief.core.model.brief import AlertsSection, Row, Status
from brief.core.model.errors import MajordomusError
from brief.core.model.level import URGENCY, Level
from brief.core.model.section_data import AlertsData, EpisodeState, ShownNotice, Unparsable
from brief.core.notices.days import until
from brief.core.notices.notice import Audience, Kind, Notice
from brief.core.notices.relevance import Focus, Truth, evaluate_rule, find_fault
from brief.core.notices.unread import Unread
from brief.core.notices.visibility import Expired, Hidden, Shown, decide_visibility, may_be_acknowledged, order_shown
from brief.core.policy.names import POLICY_FILE
from brief.core.sessions.life import Life
from brief.core.text.sanitize import clean, to_wire
from brief.notices.read_receipts import find_acknowledged
from brief.notices.store import NoticeSnapshot
from brief.sections.context import SectionContext, SectionQuery, own_episode
from brief.sections.notice_folders import notice_folders
from brief.support.state_folder import UnprovenStateError, refuse_unproven
from brief.support.zone import find_zone_in_force
from brief.trust import FOLDERS

Read = TypeVar("Read")
Otherwise = TypeVar("Otherwise")

TOP = 8
"""The most notices that a brief names. `alerts list` names all of them."""

ELSEWHERE = "its applies_when does not hold here"

URGENT_FROM = 8
"""The priority from which a bug-dep or a due obligation is pinned to the line."""

UNTRUSTED = "is outside the checkout and was not read, because it is not trusted; run majordomus trust"

FOLDERS_UNKNOWN = f"cannot be read, so {FOLDERS} is unknown; majordomus policy check says why"

_PLURAL = {Kind.COURTESY: "courtesies"}


class NoticeVisibility(Struct, frozen=True):
    """The notices of the folders by visibility: `shown` in order, the others with their reasons.

    `upcoming` are the hidden notices that will concern the asking session when their day comes, the next one first.
    `acknowledged` are the notices that the asking session has acknowledged and is not shown again.
    """

    snapshot: NoticeSnapshot
    shown: tuple[Shown, ...]
    hidden: tuple[Hidden, ...]
    expired: tuple[Expired, ...]
    upcoming: tuple[Hidden, ...] = ()
    acknowledged: tuple[Shown, ...] = ()

    @property
    def unread(self) -> Unread:
        """The files and folders that could not be read. Any of them may hold a lock."""
        return Unread(self.snapshot.unparsable, self.snapshot.folders_unread)


def answer(context: SectionContext, query: SectionQuery) -> AlertsSection:
    """The most urgent notices. PARTIAL if a file or a folder could not be read.

    Raises UnprovenStateError if the repository's folder is the only one and is not proven to be the user's.
    """
    if not query.settings.alerts.folders:
        refuse_unproven(context.state_dir)
    return compose_alerts(context, query, read_visibility(context, query), audiences=(Audience.ALL,), most=TOP)


def read_visibility(context: SectionContext, query: SectionQuery) -> NoticeVisibility:
    """Read every notice and decide its visibility now, for what the asking session works on."""
    snapshot = _read_snapshot(context, notice_folders(context.state_dir, query))
    if unread := unread_folders(query):
        snapshot = replace(snapshot, folders_unread=(*snapshot.folders_unread, *unread))
    now, (days, _, _) = context.now(), find_zone_in_force(query.settings)
    focus = find_focus(context, query)
    owner = lock_owners(context)
    verdicts = [decide_visibility(notice, now, days, owner(notice)) for notice in snapshot.notices]
    shown = [verdict for verdict in verdicts if isinstance(verdict, Shown)]
    here = [_may_apply(one.notice, focus) for one in shown]
    ahead = [one for one in verdicts if isinstance(one, Hidden) and one.in_days is not None]
    return NoticeVisibility(
        snapshot=snapshot,
        shown=tuple(sorted(compress(shown, here), key=order_shown)),
        hidden=(
            *(verdict for verdict in verdicts if isinstance(verdict, Hidden)),
            *(Hidden(one.notice, ELSEWHERE) for one, is_here in zip(shown, here, strict=True) if not is_here),
        ),
        expired=tuple(verdict for verdict in verdicts if isinstance(verdict, Expired)),
        upcoming=tuple(sorted((one for one in ahead if _may_apply(one.notice, focus)), key=_days_ahead)),
    )


def without_acknowledged(context: SectionContext, found: NoticeVisibility, session: str | None) -> NoticeVisibility:
    """Move the notices that the session has acknowledged from `shown` to `acknowledged`."""
    may_be = {one.notice.slug for one in found.shown if may_be_acknowledged(one.notice)}
    slugs = find_acknowledged(context.state_dir, session, may_be)
    if not slugs:
        return found
    of_session = tuple(one for one in found.shown if one.notice.slug in slugs)
    rest = tuple(one for one in found.shown if one.notice.slug not in slugs)
    return replace(found, shown=rest, acknowledged=of_session)


def _may_apply(notice: Notice, focus: Focus) -> bool:
    return evaluate_rule(notice.applies_when, focus) is not Truth.NO


def _days_ahead(one: Hidden) -> tuple[int, int, str]:
    return one.in_days or 0, -one.notice.priority, one.notice.slug


def _read_snapshot(context: SectionContext, folders: tuple[str, ...]) -> NoticeSnapshot:
    """The notices of the folders. The repository's own counts as unread if it is not proven to be the user's."""
    try:
        refuse_unproven(context.state_dir)
    except UnprovenStateError as fault:
        unread = (to_wire(folders[0]), fault.sentence)
        rest = context.notices(folders[1:])
        return replace(rest, folders_unread=(unread, *rest.folders_unread))
    return context.notices(folders)


def compose_alerts(
    context: SectionContext,
    query: SectionQuery,
    found: NoticeVisibility,
    audiences: Collection[Audience],
    *,
    with_upcoming: bool = False,
    most: int | None = None,
) -> AlertsSection:
    """Compose the section of every notice for the given audiences, most urgent first, in at most `most` rows.

    At equal urgency, locks come first, then files that could not be read, since those may be locks, then all others.
    Omitted rows are counted, and their text is never rendered.
    """
    own = _read_or(lambda: own_episode(context, query), None)
    own_id = own.episode.id if own else None
    found = without_acknowledged(context, found, own_id or query.session)
    shown = [one for one in found.shown if one.notice.audience in audiences]
    read = [one for one in found.acknowledged if one.notice.audience in audiences]
    upcoming = [one for one in found.upcoming if with_upcoming and one.notice.audience in audiences]
    reason = _describe_unread(found.unread)
    ordered = _order_rows(found.snapshot, shown, own_id, _detail_teller(context, query))
    rest = ordered[most:] if most is not None else []
    return AlertsSection(
        status=Status.PARTIAL if reason else Status.READ,
        headline=_make_headline([one.notice for one in shown], len(upcoming), len(read), in_full=reason is None),
        rows=(
            *(make() for _, make in ordered[:most]),
            *(Row(text=_row_text(one.notice, "", one.countdown)) for one in upcoming),
        ),
        omitted=len(rest),
        omitted_urgent=sum(level is not Level.NORMAL for level, _ in rest),
        data=AlertsData(
            shown=tuple(_as_shown_notice(one, _find_level(one, own_id)) for one in shown),
            hidden=len(found.snapshot.notices) - len(shown) - len(upcoming) - len(read),
            upcoming=tuple(_as_shown_notice(one) for one in upcoming),
            acknowledged=tuple(_as_shown_notice(one) for one in read),
            unparsable=tuple(Unparsable(file=file, reason=why) for file, why in found.snapshot.unparsable),
        ),
        reason=reason,
        as_of=context.now(),
    )


def unread_folders(query: SectionQuery) -> tuple[tuple[str, str], ...]:
    """The folders that the policy names, or may name, and that are not read, each with the reason."""
    untrusted = tuple((clean(str(value)), UNTRUSTED) for key, value in query.untrusted if key == FOLDERS)
    return (*untrusted, (POLICY_FILE, FOLDERS_UNKNOWN)) if query.is_policy_unread else untrusted


def find_focus(context: SectionContext, query: SectionQuery) -> Focus:
    """What the asking session works on, as far as it is known.

    The component is the one in the query, else the task's scope if that is a single bare name, else the policy's. The
    paths are the task's scope. Whatever cannot be read now counts as unknown, and so hides no notice.
    """
    scope = _read_or(lambda: _find_scope(context, query), None)
    bare = scope[0] if scope and len(scope) == 1 and "/" not in scope[0] and "." not in scope[0] else None
    return Focus(
        component=query.component or bare or query.settings.alerts.component,
        repo=os.path.basename(query.primary.removesuffix(".git").rstrip("/")) if query.primary else None,
        branch=query.branch,
        paths=scope,
        agent=None,
    )


def _find_scope(context: SectionContext, query: SectionQuery) -> tuple[str, ...] | None:
    own = own_episode(context, query)
    task = context.sessions.tasks().get(own.episode.id) if own else None
    return task.scope if task and task.scope else None


def _read_or(read: Callable[[], Read], otherwise: Otherwise) -> Read | Otherwise:
    """The result of `read`, or `otherwise` if it fails: unreadable sessions or checkouts must not hide the notices."""
    try:
        return read()
    except MajordomusError:
        return otherwise


def lock_owners(context: SectionContext) -> Callable[[Notice], Life]:
    """A function that says whether a lock's owner is alive, by the records of its client, else by the board.

    The owner is UNKNOWN if neither can be read. Each session is looked up once, however many locks it has placed.
    """

    @cache
    def recorded() -> frozenset[str]:
        return frozenset(one.id for one in context.seen().sessions if one.state is not EpisodeState.UNKNOWN)

    @cache
    def owner(session: str) -> Life:
        if session in _read_or(recorded, frozenset()):
            return Life.ALIVE
        return _read_or(lambda: context.sessions.life_of(session), Life.UNKNOWN)

    def lock_owner(lock: Notice) -> Life:
        if lock.kind is not Kind.LOCK or lock.session_id is None:
            return Life.UNKNOWN
        return owner(lock.session_id)

    return lock_owner


def _as_shown_notice(one: Shown | Hidden, level: Level = Level.NORMAL) -> ShownNotice:
    notice = one.notice
    return _shown_notice(notice.slug, notice.kind, notice.priority, notice.title, one.countdown, level)


@lru_cache(maxsize=2_000)
def _shown_notice(slug: str, kind: Kind, priority: int, title: str, countdown: str | None, level: Level) -> ShownNotice:
    """Cached, since consecutive briefs list mostly the same notices."""
    return ShownNotice(slug=slug, kind=kind, priority=priority, title=title, countdown=countdown, level=level)


def _make_headline(shown: list[Notice], upcoming: int, read: int, *, in_full: bool) -> str:
    ahead = f", {upcoming} still to come" if upcoming else ""
    ahead += f", {read} acknowledged by this session" if read else ""
    if not shown:
        return f"no notices{'' if in_full else ' that could be read'}{ahead}"
    kinds = Counter(notice.kind for notice in shown)
    counted = ", ".join(
        f"{count} {kind if count == 1 else _PLURAL.get(kind, kind + 's')}" for kind, count in kinds.items()
    )
    return f"{len(shown)} notice{'' if len(shown) == 1 else 's'}: {counted}{ahead}"


def _detail_teller(context: SectionContext, query: SectionQuery) -> Callable[[Notice], tuple[str, ...]]:
    """A function that says by whom a notice is, by the folder of the checkout, and until when it holds."""

    def tell(notice: Notice) -> tuple[str, ...]:
        details = []
        if notice.session_id is not None:
            session = notice.session_id
            holder = _read_or(lambda: context.sessions.find_open(session), None)
            details.append(f"by {clean(os.path.basename(holder.episode.checkout) if holder else session[:8], 40)}")
        if notice.expires is not None:
            days, _, _ = find_zone_in_force(query.settings)
            details.append(until(notice.expires, context.now(), days))
        return tuple(details)

    return tell


def _order_rows(
    snapshot: NoticeSnapshot, shown: Sequence[Shown], own: str | None, details: Callable[[Notice], tuple[str, ...]]
) -> list[tuple[Level, Callable[[], Row]]]:
    """The level of each row and the function that renders it, most urgent first."""
    locks = sum(one.notice.kind is Kind.LOCK for one in shown)  # locks come first in `shown`
    rows = [(_find_level(one, own), partial(_make_row, one, own, details)) for one in shown]
    unreadable = [(Level.NORMAL, partial(_unreadable_row, file, why)) for file, why in snapshot.unparsable]
    return sorted([*rows[:locks], *unreadable, *rows[locks:]], key=lambda row: URGENCY[row[0]])


def _is_own(one: Shown, own: str | None) -> bool:
    return own is not None and one.notice.session_id == own


def _find_level(one: Shown, own: str | None) -> Level:
    return Level.NORMAL if _is_own(one, own) or not _is_urgent(one) else Level.HIGH


def _make_row(one: Shown, own: str | None, details: Callable[[Notice], tuple[str, ...]]) -> Row:
    holder = (", yours" if _is_own(one, own) else f", owner {one.lock_owner}") if one.lock_owner else ""
    text, level = _row_text(one.notice, holder, one.countdown), _find_level(one, own)
    if level is Level.NORMAL:
        return Row(text=text, level=level)
    return Row(text=text, level=level, pin=_about(one.notice), pin_details=details(one.notice))


def _about(notice: Notice) -> str:
    return f"{notice.kind} on {clean(notice.component, 40)}" if notice.component else str(notice.kind)


def _row_text(notice: Notice, holder: str, countdown: str | None) -> str:
    ticket = f", {clean(notice.ticket, 40)}" if notice.ticket else ""
    when = f" {countdown}" if countdown else ""
    fault = find_fault(notice.applies_when)
    broken = f"; shown to all until applies_when is corrected: {fault}" if fault else ""
    text = f"{_about(notice)}{holder}{ticket}{when}: {clean(notice.title, 120)} ({clean(notice.slug, 80)})"
    return f"{text}{clean(broken, 200)}"


def _is_urgent(one: Shown) -> bool:
    kind, priority = one.notice.kind, one.notice.priority
    return kind is Kind.LOCK or (priority >= URGENT_FROM and (kind is Kind.BUG_DEP or one.fired))


def _describe_unread(unread: Unread) -> str | None:
    parts = [Unread(unread.files).sentence, *(f"{clean(folder)}: {why}" for folder, why in unread.folders)]
    return "; ".join(part for part in parts if part) or None


def _unreadable_row(file: str, why: str) -> Row:
    return Row(text=f"unreadable: {clean(file, 120)}: {clean(why)}")
