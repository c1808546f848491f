"""The service of one repository: it answers every question about its checkouts.

A server keeps one for its lifetime. A command that finds no server makes one for a single answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from brief.compose import DEADLINE_SECONDS, Composer, Frame, assemble
from brief.core.model.brief import SECTIONS, AnsweredBy, Brief, Repository, Section
from brief.core.model.errors import (
    GitError,
    MajordomusError,
    NoServerError,
    RepositoryError,
    StoreError,
    SupersededError,
    UsageError,
)
from brief.core.model.level import Level
from brief.core.policy.settings import Settings
from brief.core.sessions.presence import Seen, without_ended
from brief.core.text.sanitize import clean, wire
from brief.derive.lock_state import read_lock
from brief.fastpath.known import Known
from brief.fastpath.lease import state_dir
from brief.fastpath.locate import Located
from brief.git.place import checkout_at, head_of, primary_root, repository
from brief.git.worktree_cache import WorktreeCache
from brief.git.worktrees import Checkout
from brief.notices.read_receipts import receipts_path
from brief.notices.store import NoticeSnapshot, NoticeStore
from brief.notices.told_fixes import ToldFixes
from brief.policy import Policy, PolicyCache, switch_reason
from brief.sections.context import SectionContext, SectionQuery, Sessions, own_episode
from brief.sections.notice_folders import notice_folders
from brief.sections.peer_count import peers_of, with_one_less
from brief.sections.readers import READERS
from brief.sessions.activity import Activity
from brief.sessions.board import Board
from brief.sessions.client_records import SeenSessions, seen_folder
from brief.sessions.endings import Endings
from brief.support.daemon_threads import in_thread
from brief.support.delivery import Turns
from brief.support.files import stamp
from brief.support.single_flight import SingleFlight
from brief.support.steady_clock import SteadyClock
from brief.support.ttl_cache import CacheEntry, TtlCache
from brief.support.zone import zone_doubt
from brief.trust import WAKING, Effective, Trust, effective

if TYPE_CHECKING:
    from brief.clones.neighbours import Neighbourhood

GIT_SECONDS = 1.0
"""How long a request waits for git to list the checkouts."""

GIT_LINGER_SECONDS = 5.0
"""How long a server lets git continue after that, so that the next request finds its list."""

HOOK_SECONDS = 0.3
"""How long the sections may take while a hook waits, which gives the server 0.5 s in all."""

HOOK_GIT_SECONDS = 0.2
"""How long a request waits for git to list the checkouts while a hook waits for the answer."""

SIGNATURE_GIT_SECONDS = 0.1
"""How long a request waits for git to learn whether the cached brief is still valid."""

NOBODY = ""
"""A session id that no session has: the query of everybody."""

PRIMARY = ""
"""A root that no checkout has: the primary checkout, or the first one that is not bare."""

_MOST_NAMED = 5
"""The most candidate episodes that an error names."""

_LEAST_LETTERS = 6
"""The fewest letters that may abbreviate an episode id."""

_OWN = ("state", "alerts")
_OTHERS = tuple(name for name in SECTIONS if name not in _OWN)


class CheckoutConfig(NamedTuple):
    """A checkout, its policy, and the part of the policy that is in force there."""

    here: Located
    policy: Policy
    effective: Effective

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.effective.settings


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A checkout at the moment of a request: the query, and everything in its brief but the sections.

    `hurried` says whether a hook waits for the answer. Its sections then have less time; one that needs more is unread.
    """

    here: Located
    query: SectionQuery
    repository: Repository
    context: SectionContext
    policy: Policy
    notes: tuple[str, ...]
    hurried: bool

    @property
    def notice_folders(self) -> tuple[str, ...]:
        """The folders of notices of the checkout, that of the repository first."""
        return notice_folders(self.context.state_dir, self.query)


@dataclass(frozen=True, slots=True)
class _Others:
    """The sections that are the same for every checkout with the same settings, composed for everybody.

    They keep only their urgent rows. `peers` are the ids of the sessions that they list.
    """

    sections: tuple[Section, ...]
    peers: frozenset[str]


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
        self.fixes = ToldFixes()
        self.handing_over: asyncio.Future[None] | None = None
        """Keeps the work alive that writes heirs into notices beside a brief."""
        self.latest_notices: dict[tuple[str, ...], NoticeSnapshot] = {}
        """The last snapshot of each set of folders."""
        self.turns = Turns()
        self._sessions = sessions
        self.activity = sessions.activity if isinstance(sessions, Board) else Activity()
        self._endings = Endings(sessions, common_dir, now) if isinstance(sessions, Board) else None
        self._absence = absence
        self._identity = identity
        self._composed = composed
        self._remarks = remarks
        self._worktrees = WorktreeCache(common_dir, GIT_LINGER_SECONDS if absence is None else 0.0)
        self._hook_seconds = HOOK_SECONDS if absence is None else deadline_seconds
        self._policies = PolicyCache()
        self._seen = SeenSessions(seen_folder())
        self._notices: dict[tuple[str, ...], NoticeStore] = {}
        self._composer = Composer(READERS, deadline_seconds)
        self._requests: SingleFlight[tuple[RequestContext, tuple[object, ...]]] = SingleFlight()
        self._briefs: TtlCache[Brief] = TtlCache()
        self._others: TtlCache[_Others] = TtlCache()
        self.context = SectionContext(
            common_dir=common_dir,
            state_dir=state_dir(common_dir),
            now=now,
            sessions=sessions,
            absence=absence,
            worktrees=lambda: self._worktrees.read(GIT_SECONDS),
            notices=self._snapshot,
            seen=self._recorded_sessions,
            neighbours=neighbours,
            has_channel=lambda session: self.activity.channel(session) is not None,
            untrusted=self._untrusted,
        )

    def _untrusted(self, session: str) -> bool:
        """Whether a session's channel is installed for the user, who does not trust it to wake sessions here."""
        channel = self.activity.channel(session)
        needs_trust = channel is not None and channel.scope == "user"
        return needs_trust and not Trust.read().trusted(self.common_dir, *WAKING)

    def _recorded_sessions(self) -> Seen:
        return without_ended(self._seen.read(), self._sessions.ended())

    def end_lost(self) -> None:
        """Close every episode that ended without being reported. Raises MajordomusError."""
        if self._endings is not None:
            self._endings.look()

    @property
    def board(self) -> Board:
        """The board, which only a server has. Raises NoServerError elsewhere."""
        if not isinstance(self._sessions, Board):
            raise NoServerError(self._absence or "no server holds this repository")
        return self._sessions

    def checkout_config(self, root: str) -> CheckoutConfig:
        """The policy of the checkout that holds the folder `root`. Blocks on files.

        Raises RepositoryError if the checkout is not one of this repository.
        """
        here = checkout_at(self._real(root))
        if here.common_dir != self.common_dir:
            raise RepositoryError(f"{clean(wire(here.root))} is not a checkout of {clean(wire(self.common_dir))}")
        policy = self._policies.read(here.root)
        return CheckoutConfig(here, policy, effective(policy.settings, Trust.read(), self.common_dir, here.root))

    def request_context(
        self, root: str, session: str | None = None, *, local: bool = False, hurried: bool = False
    ) -> RequestContext:
        """The context of a request about the checkout that holds the folder `root`. Blocks on files, not on git.

        Raises RepositoryError if the checkout is not one of this repository.
        """
        if self._endings is not None and not hurried:
            self._endings.refresh()
        here, policy, (settings, untrusted, unmet) = self.checkout_config(root)
        context = replace(self.context, worktrees=self._hurried_worktrees) if hurried else self.context
        head = head_of(here, context.worktrees)
        place = repository(here, head)
        query = SectionQuery(
            root=here.root,
            settings=settings,
            session=session,
            local=local,
            untrusted=untrusted,
            is_policy_unread=policy.is_unread,
            is_unborn=isinstance(head, Known) and head.value.commit is None,
            primary=primary_root(here),
            branch=head.value.branch if isinstance(head, Known) else None,
        )
        notes = (*(fault.sentence for fault in policy.faults), *unmet, *_doubts(settings), *self._remarks())
        return RequestContext(
            here=here,
            query=query,
            repository=place,
            context=context,
            policy=policy,
            notes=tuple(clean(text, 600) for text in notes),
            hurried=hurried,
        )

    def _hurried_worktrees(self) -> tuple[Checkout, ...]:
        return self._worktrees.read(HOOK_GIT_SECONDS)

    def _real(self, root: str) -> str:
        """The folder that a wire name denotes. Bytes that are not UTF-8 are escaped on the wire."""
        if root == PRIMARY:
            parent, name = os.path.split(self.common_dir)
            return (
                parent if name == ".git" else self._first_checkout(lambda tree: not tree.bare and not tree.gone, parent)
            )
        if "\\" not in root or os.path.isdir(root):
            return root
        return self._first_checkout(lambda tree: wire(tree.root) == root, root)

    def _first_checkout(self, is_meant: Callable[[Checkout], bool], otherwise: str) -> str:
        """The root of the first checkout in git's list that is meant, or `otherwise` if there is none."""
        with contextlib.suppress(GitError):
            return next((tree.root for tree in self.context.worktrees() if is_meant(tree)), otherwise)
        return otherwise

    def _signature(self, request: RequestContext) -> tuple[object, ...]:
        """All that a brief depends on but checkouts and notices. A cached brief is valid while this stays equal."""
        query, state = request.query, self.context.state_dir
        observed = stamp(f"{state}/observation.json")
        return (
            (request.repository, request.notes, query.settings, query.is_policy_unread),
            self._sessions.version,
            self._sessions.loss(),
            self._seen.signature(),
            self._receipts(query),
            observed,
            _derive_lock(state),
        )

    def _receipts(self, query: SectionQuery) -> object:
        """A value that changes when the asking session acknowledges a notice; None if that session is not known."""
        try:
            own = own_episode(self.context, query) if query.session is None else None
        except MajordomusError:
            return None
        session = own.episode.id if own else query.session
        return stamp(receipts_path(self.context.state_dir, session)) if session else None

    def _listing(self, patience_s: float) -> tuple[Checkout, ...] | type[GitError]:
        """The checkouts, or the type of the error if git could not list them in time."""
        try:
            return self._worktrees.read(patience_s)
        except GitError as fault:
            return type(fault)

    async def brief(self, root: str, session: str | None, *, local: bool, hurried: bool = False) -> CacheEntry[Brief]:
        """The brief of a checkout, composed anew unless the one of the last second is still valid."""

        def prepare() -> tuple[RequestContext, tuple[object, ...]]:
            request = self.request_context(root, session, local=local, hurried=hurried)
            listing = self._listing(SIGNATURE_GIT_SECONDS)
            context, notices = self._with_notices(request)
            if isinstance(listing, tuple):  # a request lists the checkouts once
                context = replace(context, worktrees=lambda: listing)
            return replace(request, context=context), (listing, notices, *self._signature(request))

        request, signature = await self._requests.get((root, session, local, hurried), prepare)
        return await self._briefs.get(
            (request.query.root, session, local, hurried), signature, lambda: self._compose(request)
        )

    async def section(self, name: str, root: str, session: str | None, *, local: bool = False) -> Section:
        """One section alone, without the others."""
        request = await in_thread(lambda: self.request_context(root, session, local=local))
        return await self._composer.section(name, request.context, request.query)

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
        own, shared = await asyncio.gather(self._composer.some(_OWN, request.context, request.query), others)
        found = {section.name: section for section in (*own, *shared.value.sections)}
        if session in shared.value.peers:
            found["peers"] = with_one_less(found["peers"])
        return tuple(found[name] for name in SECTIONS)

    async def _compose_others(self, request: RequestContext) -> _Others:
        sections = await self._composer.some(_OTHERS, request.context, replace(request.query, session=NOBODY))
        urgent = (tuple(row for row in section.rows if row.level is not Level.NORMAL) for section in sections)
        return _Others(
            sections=tuple(
                section.model_copy(update={"rows": rows}) for section, rows in zip(sections, urgent, strict=True)
            ),
            peers=frozenset(peer.episode for section in sections for peer in peers_of(section)),
        )

    async def _compose(self, request: RequestContext) -> Brief:
        seconds = self._hook_seconds if request.hurried else None
        sections = await self._composer.some(tuple(SECTIONS), request.context, request.query, seconds)
        frame = Frame(
            answered_by=self._identity(request.repository.root),
            repository=request.repository,
            interval_minutes=request.query.settings.session.brief_interval_minutes,
            on_interval_reason=switch_reason(request.policy),
            notes=request.notes,
        )
        brief = assemble(sections, frame, self.now())
        if self._composed is not None:
            self._composed(request, brief)
        return brief

    def mark_delivered(self, session: str, text: str) -> None:
        """Mark the follow-ups whose line appears in `text` as delivered. If saving fails, they are delivered again."""
        delivered = [one.number for one in self._sessions.follow_ups(session) if one.line in text]
        if delivered:
            with contextlib.suppress(StoreError, SupersededError):
                self.board.told(delivered)

    def episode_meant(self, query: SectionQuery) -> str:
        """The id of the episode that a command is about. Raises UsageError if that is not clear."""
        if query.session is not None:
            return self._whole(query.session)
        own = own_episode(self.context, query)
        if own is not None:
            return own.episode.id
        here = self._sessions.at(query.checkout)
        where = f"in {clean(query.checkout)}; say which one is meant with --session ID or CLAUDE_CODE_SESSION_ID"
        if here:
            named = ", ".join(here[:_MOST_NAMED]) + (" ..." if len(here) > _MOST_NAMED else "")
            raise UsageError(f"{len(here)} episodes are open {where}: {named}")
        raise UsageError(f"no episode is open {where}, or open one with majordomus episode open")

    def _whole(self, session: str) -> str:
        """The id of the only open episode that begins with these letters, as lists show them, else the id as given."""
        if len(session) < _LEAST_LETTERS or self._sessions.one(session) is not None:
            return session
        found = [one.episode.id for one in self._sessions.known() if one.episode.id.startswith(session)]
        return found[0] if len(found) == 1 else session

    def _with_notices(self, request: RequestContext) -> tuple[SectionContext, Hashable]:
        """The context with the notices as they are now, read once, and their signature."""
        asked = request.notice_folders
        signature, snapshot = self._store(asked).read_signed()
        self.latest_notices[asked] = snapshot

        def notices(folders: tuple[str, ...]) -> NoticeSnapshot:
            return snapshot if folders == asked else self._snapshot(folders)

        return replace(request.context, notices=notices), signature

    def _snapshot(self, folders: tuple[str, ...]) -> NoticeSnapshot:
        snapshot = self.latest_notices[folders] = self._store(folders).read()
        return snapshot

    def _store(self, folders: tuple[str, ...]) -> NoticeStore:
        return self._notices.setdefault(folders, NoticeStore(folders))


def _doubts(settings: Settings) -> tuple[str, ...]:
    doubt = zone_doubt(settings)
    return () if doubt is None else (doubt,)


def _derive_lock(state_dir: str) -> object:
    """The state of the derive lock, or why it cannot be read. Its section says so."""
    try:
        return read_lock(state_dir)
    except MajordomusError as fault:
        return fault.sentence
