"""The service of one repository: it answers every question about its checkouts.

A server keeps one for its lifetime. A command that finds no server makes one for a single answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from brief.brief_signature import signature_of
from brief.compose import DEADLINE_SECONDS, Composer, Frame, assemble_brief
from brief.core.model.brief import SECTIONS, AnsweredBy, Brief, Section
from brief.core.model.errors import (
    GitError,
    NoServerError,
    StoreError,
    SupersededError,
)
from brief.core.model.level import Level
from brief.core.sessions.presence import Seen, without_ended
from brief.fastpath.lease import state_dir
from brief.git.worktree_cache import WorktreeCache
from brief.git.worktrees import Checkout
from brief.notices.fix_follow_ups import FixFollowUps
from brief.notices.store import NoticeSnapshot, NoticeStores
from brief.policy import policy_in_force, switch_reason
from brief.request import RequestContext, Requests
from brief.sections.context import SectionContext, Sessions
from brief.sections.peer_count import peers_of, with_one_less
from brief.sections.readers import READERS
from brief.sessions.activity import Activity
from brief.sessions.board import Board
from brief.sessions.client_records import SeenSessions, seen_folder
from brief.sessions.endings import Endings
from brief.support.daemon_threads import in_thread
from brief.support.delivery import Turns
from brief.support.single_flight import SingleFlight
from brief.support.steady_clock import SteadyClock
from brief.support.ttl_cache import CacheEntry, TtlCache
from brief.trust import WAKING, Trust

if TYPE_CHECKING:
    from brief.clones.neighbours import Neighbourhood

GIT_SECONDS = 1.0
"""How long a request waits for git to list the checkouts."""

GIT_LINGER_SECONDS = 5.0
"""How long a server lets git continue after that, so that the next request finds its list."""

HOOK_SECONDS = 0.3
"""How long the sections may take while a hook waits, which gives the server 0.5 s in all."""

SIGNATURE_GIT_SECONDS = 0.1
"""How long a request waits for git to learn whether the cached brief is still valid."""

NOBODY = ""
"""A session id that no session has: the query of everybody."""

_OWN = ("state", "alerts")
_OTHERS = tuple(name for name in SECTIONS if name not in _OWN)


class _Others(Struct, frozen=True):
    """The sections that are the same for every checkout with the same settings, composed for everybody.

    They keep only their urgent rows. `peers` are the ids of the sessions that they list.
    """

    sections: tuple[Section, ...]
    peers: frozenset[str]


class _Prepared(NamedTuple):
    """A request for a brief, with what decides whether the cached brief is still valid."""

    request: RequestContext
    listing: tuple[Checkout, ...] | type[GitError]
    notices: NoticeSnapshot
    signature: tuple[object, ...]


class RepositoryService:
    """Answers for every checkout of the repository whose git folder is `common_dir`.

    `identity` says who answers, given the checkout. `absence` is why no server answers; None in a server. `composed` is
    called with every newly composed brief. `neighbours` asks the servers of other clones. `remarks` returns whole
    sentences for the notes of every brief. `steady` is a clock that is never set. `deadline_seconds` bounds the sections
    of each brief.
    """

    def __init__(  # noqa: PLR0913 - the parts of a service, each by its name
        self,
        common_dir: str,
        *,
        now: Callable[[], datetime],
        sessions: Sessions,
        absence: str | None,
        identity: Callable[[str], AnsweredBy],
        composed: Callable[[RequestContext, Brief], None] | None = None,
        neighbours: Callable[[], Neighbourhood] | None = None,
        remarks: Callable[[], tuple[str, ...]] = tuple,
        steady: Callable[[], float] | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        self.common_dir = common_dir
        self.now = now
        self.clock = SteadyClock(now, steady)
        self.fixes = FixFollowUps()
        self.handing_over: asyncio.Future[None] | None = None
        """The background work that writes heirs into notices, referenced here so that it is not garbage collected."""
        self.notices = NoticeStores()
        self.turns = Turns()
        self._sessions = sessions
        self.activity = sessions.activity if isinstance(sessions, Board) else Activity()
        self._endings = Endings(sessions, common_dir, now) if isinstance(sessions, Board) else None
        self._absence = absence
        self._identity = identity
        self._composed = composed
        self._worktrees = WorktreeCache(common_dir, GIT_LINGER_SECONDS if absence is None else 0.0)
        self._hook_seconds = HOOK_SECONDS if absence is None else deadline_seconds
        self._seen = SeenSessions(seen_folder())
        self._composer = Composer(READERS, deadline_seconds)
        self._requests: SingleFlight[_Prepared] = SingleFlight()
        self._briefs: TtlCache[Brief] = TtlCache()
        self._others: TtlCache[_Others] = TtlCache()
        self.context = SectionContext(
            common_dir=common_dir,
            state_dir=state_dir(common_dir),
            now=now,
            sessions=sessions,
            absence=absence,
            worktrees=lambda: self._worktrees.read(GIT_SECONDS),
            notices=self.notices.read,
            seen=self._recorded_sessions,
            neighbours=neighbours,
            has_channel=lambda session: self.activity.channel(session) is not None,
            untrusted=self._untrusted,
        )
        requests = Requests(self.context, self._worktrees, remarks=remarks, refresh=self._refresh_endings)
        self.request_context = requests.request_context
        self.checkout_config = requests.checkout_config

    def _untrusted(self, session: str) -> bool:
        """Whether a session's channel is installed for the user, who does not trust it to wake sessions here."""
        channel = self.activity.channel(session)
        needs_trust = channel is not None and channel.scope == "user"
        return needs_trust and not Trust.of_person(self.common_dir).is_trusted(self.common_dir, *WAKING)

    def _recorded_sessions(self) -> Seen:
        return without_ended(self._seen.read(), self._sessions.ended_sessions())

    def _refresh_endings(self) -> None:
        if self._endings is not None:
            self._endings.refresh()

    def end_lost(self) -> None:
        """Close every episode that ended without being reported. Raises MajordomusError."""
        if self._endings is not None:
            self._endings.close_ended()

    @property
    def board(self) -> Board:
        """The board, which only a server has. Raises NoServerError elsewhere."""
        if not isinstance(self._sessions, Board):
            raise NoServerError(self._absence or "no server holds this repository")
        return self._sessions

    async def brief(self, root: str, session: str | None, *, local: bool, hurried: bool = False) -> CacheEntry[Brief]:
        """The brief of a checkout, composed anew unless the one of the last second is still valid."""

        def prepare() -> _Prepared:
            request = self.request_context(root, session, local=local, hurried=hurried)
            listing = self._listing(SIGNATURE_GIT_SECONDS)
            seen, snapshot = self.notices.read_signed(request.notice_folders)
            return _Prepared(request, listing, snapshot, (listing, seen, *signature_of(request, self._seen)))

        prepared = await self._requests.get((root, session, local, hurried), prepare)
        return await self._briefs.get(
            (prepared.request.query.root, session, local, hurried),
            prepared.signature,
            lambda: self._compose(self._pin(prepared)),
        )

    def _listing(self, patience_s: float) -> tuple[Checkout, ...] | type[GitError]:
        """The checkouts, or the type of the error if git could not list them in time."""
        try:
            return self._worktrees.read(patience_s)
        except GitError as fault:
            return type(fault)

    def _pin(self, prepared: _Prepared) -> RequestContext:
        """The request, whose sections read the checkouts and notices that its signature was made from."""
        request, listing, own = prepared.request, prepared.listing, prepared.request.notice_folders

        def notices(folders: tuple[str, ...]) -> NoticeSnapshot:
            return prepared.notices if folders == own else self.notices.read(folders)

        context = replace(request.context, notices=notices)
        if isinstance(listing, tuple):
            context = replace(context, worktrees=lambda: listing)
        return replace(request, context=context)

    async def section(self, name: str, root: str, session: str | None, *, local: bool = False) -> Section:
        """One section alone, without the others."""
        request = await in_thread(lambda: self.request_context(root, session, local=local))
        return await self._composer.read_section(name, request.context, request.query)

    async def sections_for_line(self, request: RequestContext, session: str) -> tuple[Section, ...]:
        """The sections, as complete as a session's line needs them.

        The session's own sections are read now. The others are shared by all sessions and read at most once a second, or
        sooner if a session came or went.
        """
        others = self._others.get(
            (request.query.settings, request.query.is_policy_unread),
            self.board.comings,
            lambda: self._compose_others(request),
        )
        own, shared = await asyncio.gather(self._composer.read(_OWN, request.context, request.query), others)
        found = {section.name: section for section in (*own, *shared.value.sections)}
        if session in shared.value.peers:
            found["peers"] = with_one_less(found["peers"])
        return tuple(found[name] for name in SECTIONS)

    async def _compose_others(self, request: RequestContext) -> _Others:
        sections = await self._composer.read(_OTHERS, request.context, replace(request.query, session=NOBODY))
        urgent = (tuple(row for row in section.rows if row.level is not Level.NORMAL) for section in sections)
        return _Others(
            sections=tuple(section.replace(rows=rows) for section, rows in zip(sections, urgent, strict=True)),
            peers=frozenset(peer.episode for section in sections for peer in peers_of(section)),
        )

    async def _compose(self, request: RequestContext) -> Brief:
        seconds = self._hook_seconds if request.hurried else None
        sections = await self._composer.read(tuple(SECTIONS), request.context, request.query, seconds)
        frame = Frame(
            answered_by=self._identity(request.repository.root),
            repository=request.repository,
            interval_minutes=request.query.settings.session.brief_interval_minutes,
            on_interval_reason=switch_reason(request.policy),
            policy=policy_in_force(request.policy),
            notes=request.notes,
        )
        brief = assemble_brief(sections, frame, self.now())
        if self._composed is not None:
            self._composed(request, brief)
        return brief

    def mark_delivered(self, session: str, text: str) -> None:
        """Mark the follow-ups whose line appears in `text` as delivered. If saving fails, they are delivered again."""
        delivered = [one.number for one in self._sessions.follow_ups(session) if one.line in text]
        if delivered:
            with contextlib.suppress(StoreError, SupersededError):
                self.board.mark_delivered(delivered)
