"""The desk of one repository: what any question about one of its checkouts is answered from.

A server keeps one for as long as it lives; a command that finds no server makes one for a single answer.
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
"""How long a question waits for git to list the checkouts."""

GIT_LINGER_SECONDS = 5.0
"""How long a server lets git go on after that, so that the next question finds what it listed."""

HOOK_SECONDS = 0.3
"""How long the sections of a brief may take that a hook waits for, which gives a server 0.5 s in all."""

HOOK_GIT_SECONDS = 0.2
"""How long a question that a hook waits for waits for git."""

GLANCE_SECONDS = 0.1
"""How long it is waited for git to tell whether an earlier brief still stands."""

NOBODY = ""
"""What no session is called: who asks under this name asks for everybody."""

PRIMARY = ""
"""What no checkout is called: it stands for the primary one, or the first that is no bare repository."""

_MOST_NAMED = 5
"""How many episodes a mistake names of which one may be meant."""

_LEAST_LETTERS = 6
"""How many letters of an id may stand for the whole."""

_OWN = ("state", "alerts")
_OTHERS = tuple(name for name in SECTIONS if name not in _OWN)


class CheckoutConfig(NamedTuple):
    """A checkout, its policy, and what of that is in force there."""

    here: Located
    policy: Policy
    effective: Effective

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.effective.settings


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A checkout as it stands at one moment: what is asked about it, and what a brief says beside its sections.

    `hurried` is whether a hook waits for the answer: its sections have less time, and what they cannot read is unread.
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
    """The sections that are alike in every checkout of the same settings, asked for everybody.

    They keep their urgent rows alone, and `peers` are the sessions told in them.
    """

    sections: tuple[Section, ...]
    peers: frozenset[str]


class RepositoryService:
    """Answers for every checkout of the repository whose git folder is `common_dir`.

    `identity` tells who answers, given the checkout; `absence` is why no server does, None on a server's own desk;
    `composed` is told of every brief that was composed anew; `neighbours` reads the servers of other clones;
    `remarks` gives whole sentences for the notes of every brief; `steady` is a clock that is never set;
    `deadline_seconds` bounds the sections of each brief.
    """

    def __init__(  # noqa: PLR0913 - what a desk is made of, each by its name
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
        self.latest_notices: dict[tuple[str, ...], NoticeSnapshot] = {}
        """What was read last of each set of folders."""
        self.turns = Turns()
        self._sessions = sessions
        self.activity = sessions.activity if isinstance(sessions, Board) else Activity()
        self._endings = Endings(sessions, common_dir, now) if isinstance(sessions, Board) else None
        self._absence = absence
        self._identity = identity
        self._told = composed
        self._remarks = remarks
        self._worktrees = WorktreeCache(common_dir, GIT_LINGER_SECONDS if absence is None else 0.0)
        self._hook_seconds = HOOK_SECONDS if absence is None else deadline_seconds
        self._policies = PolicyCache()
        self._seen = SeenSessions(seen_folder())
        self._notices: dict[tuple[str, ...], NoticeStore] = {}
        self._composer = Composer(READERS, deadline_seconds)
        self._looks: SingleFlight[tuple[RequestContext, tuple[object, ...]]] = SingleFlight()
        self._fresh: TtlCache[Brief] = TtlCache()
        self._glances: TtlCache[_Others] = TtlCache()
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
        """Whether the channel of a session is its person's own, and nothing of theirs is to wake sessions here."""
        channel = self.activity.channel(session)
        needs_trust = channel is not None and channel.scope == "user"
        return needs_trust and not Trust.read().trusted(self.common_dir, *WAKING)

    def _recorded_sessions(self) -> Seen:
        return without_ended(self._seen.read(), self._sessions.ended())

    def end_lost(self) -> None:
        """Close every episode that has ended although nobody said so; raises MajordomusError."""
        if self._endings is not None:
            self._endings.look()

    @property
    def board(self) -> Board:
        """The board, which only a server has; raises NoServerError elsewhere."""
        if not isinstance(self._sessions, Board):
            raise NoServerError(self._absence or "no server holds this repository")
        return self._sessions

    def checkout_config(self, root: str) -> CheckoutConfig:
        """What holds in the checkout of the folder `root`, which must be one of this repository. Blocks on files."""
        here = checkout_at(self._real(root))
        if here.common_dir != self.common_dir:
            raise RepositoryError(f"{clean(wire(here.root))} is no checkout of {clean(wire(self.common_dir))}")
        policy = self._policies.read(here.root)
        return CheckoutConfig(here, policy, effective(policy.settings, Trust.read(), self.common_dir, here.root))

    def request_context(
        self, root: str, session: str | None = None, *, local: bool = False, hurried: bool = False
    ) -> RequestContext:
        """The checkout that holds the folder `root`, which must be one of this repository. Blocks on files, not on git."""
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
        """The folder that a name from the wire means: bytes that are no UTF-8 travel spelled out."""
        if root == PRIMARY:
            parent, name = os.path.split(self.common_dir)
            return (
                parent if name == ".git" else self._first_checkout(lambda tree: not tree.bare and not tree.gone, parent)
            )
        if "\\" not in root or os.path.isdir(root):
            return root
        return self._first_checkout(lambda tree: wire(tree.root) == root, root)

    def _first_checkout(self, is_meant: Callable[[Checkout], bool], otherwise: str) -> str:
        """The root of the first checkout that is meant, as git lists them; `otherwise` where git lists none."""
        with contextlib.suppress(GitError):
            return next((tree.root for tree in self.context.worktrees() if is_meant(tree)), otherwise)
        return otherwise

    def _signature(self, request: RequestContext) -> tuple[object, ...]:
        """What a brief depends on beside checkouts and notices: equal as long as an earlier one stands."""
        query, state = request.query, self.context.state_dir
        observed = stamp(f"{state}/observation.json")
        told = (request.repository, request.notes, query.settings)
        return (
            told,
            self._sessions.version,
            self._sessions.loss(),
            self._seen.signature(),
            self._receipts(query),
            observed,
            _derive_lock(state),
        )

    def _receipts(self, query: SectionQuery) -> object:
        """What changes with what the one who asks has acknowledged; nothing where who asks cannot be told, as sections say."""
        try:
            own = own_episode(self.context, query) if query.session is None else None
        except MajordomusError:
            return None
        session = own.episode.id if own else query.session
        return stamp(receipts_path(self.context.state_dir, session)) if session else None

    def _listing(self, patience_s: float) -> tuple[Checkout, ...] | type[GitError]:
        """The checkouts, or what kept git from listing them in time."""
        try:
            return self._worktrees.read(patience_s)
        except GitError as fault:
            return type(fault)

    async def brief(self, root: str, session: str | None, *, local: bool, hurried: bool = False) -> CacheEntry[Brief]:
        """The brief of a checkout, composed anew unless one of the last second still stands."""

        def look() -> tuple[RequestContext, tuple[object, ...]]:
            request = self.request_context(root, session, local=local, hurried=hurried)
            listing = self._listing(GLANCE_SECONDS)
            context, notices = self._with_notices(request)
            if isinstance(listing, tuple):  # one look lists the checkouts once
                context = replace(context, worktrees=lambda: listing)
            return replace(request, context=context), (listing, notices, *self._signature(request))

        request, signature = await self._looks.get((root, session, local, hurried), look)
        return await self._fresh.get(
            (request.query.root, session, local, hurried), signature, lambda: self._composed(request)
        )

    async def section(self, name: str, root: str, session: str | None, *, local: bool = False) -> Section:
        """One section, asked of its owner alone."""
        request = await in_thread(lambda: self.request_context(root, session, local=local))
        return await self._composer.section(name, request.context, request.query)

    async def glance(self, request: RequestContext, session: str) -> tuple[Section, ...]:
        """The sections as far as the line of a session needs them.

        Its own are as they are now; the others are asked once a second for all who look, and anew where a session came
        or went.
        """
        others = self._glances.get(request.query.settings, self.board.comings, lambda: self._others(request))
        own, kept = await asyncio.gather(self._composer.some(_OWN, request.context, request.query), others)
        found = {section.name: section for section in (*own, *kept.value.sections)}
        if session in kept.value.peers:
            found["peers"] = with_one_less(found["peers"])
        return tuple(found[name] for name in SECTIONS)

    async def _others(self, request: RequestContext) -> _Others:
        sections = await self._composer.some(_OTHERS, request.context, replace(request.query, session=NOBODY))
        urgent = (tuple(row for row in section.rows if row.level is not Level.NORMAL) for section in sections)
        return _Others(
            sections=tuple(
                section.model_copy(update={"rows": rows}) for section, rows in zip(sections, urgent, strict=True)
            ),
            peers=frozenset(peer.episode for section in sections for peer in peers_of(section)),
        )

    async def _composed(self, request: RequestContext) -> Brief:
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
        if self._told is not None:
            self._told(request, brief)
        return brief

    def told(self, session: str, text: str) -> None:
        """Mark the follow-ups whose line stands in the text that a session has read as told; if that fails, they are told again."""
        told = [one.number for one in self._sessions.follow_ups(session) if one.line in text]
        if told:
            with contextlib.suppress(StoreError, SupersededError):
                self.board.told(told)

    def episode_meant(self, query: SectionQuery) -> str:
        """The id of the episode a command is about; raises UsageError where that cannot be told."""
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
        """The id of the only open episode that begins with these letters, as lists show them; else the id as given."""
        if len(session) < _LEAST_LETTERS or self._sessions.one(session) is not None:
            return session
        found = [one.episode.id for one in self._sessions.known() if one.episode.id.startswith(session)]
        return found[0] if len(found) == 1 else session

    def _with_notices(self, request: RequestContext) -> tuple[SectionContext, Hashable]:
        """The context in which the notices are those that lie there now, looked at once, and their signature."""
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
    """How the derive lock stands, or why that cannot be told, which is its owner's to say."""
    try:
        return read_lock(state_dir)
    except MajordomusError as fault:
        return fault.sentence
