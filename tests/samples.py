"""Samples for several tests: a moment, a brief of six sections, and a context for section readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from brief.compose import Frame, assemble_brief
from brief.core.model.brief import SECTIONS, AnsweredBy, Brief, PolicyInForce, Repository, Row, Section, Status
from brief.core.model.level import Level
from brief.core.model.section_data import EpisodeState, PeersData, StateData
from brief.core.model.wire import from_plain
from brief.core.notices.follow_up import FollowUp
from brief.core.policy.names import PolicySource
from brief.core.policy.settings import Settings
from brief.core.sessions.claims import Claim
from brief.core.sessions.episode import Client, Ended, Episode, KnownEpisode
from brief.core.sessions.life import Life
from brief.core.sessions.task import Task
from brief.core.wakes.state import WakeState
from brief.git.worktrees import Checkout
from brief.notices.store import NoticeSnapshot
from brief.sections.context import SectionContext, SectionQuery

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
"""The present moment in the tests of rules."""

DATA: dict[str, Any] = {
    "state": StateData(episode=None, open=0, task=None),
    "peers": PeersData(count=0, boards=(), peers=()),
}


def ago(**span: int) -> datetime:
    """Return a moment before NOW, as in `ago(minutes=5)`."""
    return NOW - timedelta(**span)


def section(name: str, status: Status = Status.READ, **fields: Any) -> Section:
    """A section of this name that fits its status. `fields` replace its defaults."""
    asked = status in (Status.READ, Status.PARTIAL)
    honest: dict[str, Any] = {
        "status": status,
        "headline": f"{name} {status}",
        "as_of": NOW if asked else None,
        "data": DATA.get(name) if asked else None,
        "reason": None if status is Status.READ else f"why {name}",
    }
    return SECTIONS[name](**{**honest, **fields})


def rows(*texts: str, level: Level = Level.NORMAL) -> tuple[Row, ...]:
    """Return rows of one level."""
    return tuple(Row(text=text, level=level) for text in texts)


def brief(*sections: Section, reason: str | None = None, notes: tuple[str, ...] = (), **place: Any) -> Brief:
    """A brief of the lease holder, or with a `reason` of a command alone. A section that is not given is read and empty."""
    given = {each.name: each for each in sections}
    frame = Frame(
        answered_by=AnsweredBy(
            kind="self" if reason else "lease-holder",
            pid=7,
            root="/r",
            epoch=None if reason else 5,
            version="0",
            reason=reason,
        ),
        repository=Repository(
            **{
                "root": "/r",
                "common_dir": "/r/.git",
                "primary": "/r",
                "branch": "main",
                "head": "c0ffee" * 6 + "c0ff",
                "detached": False,
                **place,
            }
        ),
        interval_minutes=20,
        on_interval_reason="session.brief_on_interval is not set",
        policy=PolicyInForce(source=PolicySource.DEFAULTS, path=None),
        notes=notes,
    )
    return assemble_brief([given.get(name, section(name)) for name in SECTIONS], frame, NOW)


def episode(name: str = "e1", checkout: str = "/r", **fields: Any) -> Episode:
    """Return an open episode that was heard a minute ago."""
    known: dict[str, Any] = {
        "id": name,
        "provider": "claude-code",
        "checkout": checkout,
        "branch": "main",
        "process": None,
        "state": EpisodeState.BUSY,
        "since": ago(hours=1),
        "heard": ago(minutes=1),
    }
    return Episode(**{**known, **fields})


def checkout(root: str = "/r", **fields: Any) -> Checkout:
    """Return an existing checkout on main."""
    known: dict[str, Any] = {
        "root": root,
        "git_dir": f"{root}/.git",
        "branch": "main",
        "head": "0" * 39 + "1",
        "detached": False,
        "bare": False,
        "locked": None,
        "prunable": None,
        "gone": False,
        "primary": False,
    }
    return Checkout(**{**known, **fields})


class Known:
    """Sessions from a list."""

    version = 0

    def loss(self) -> str | None:
        """Everything is stored."""
        return None

    def missing(self) -> str | None:
        """No session is missing."""
        return None

    def __init__(
        self,
        heard: Sequence[Episode] = (),
        unheard: Sequence[Episode] = (),
        tasks: Sequence[Task] = (),
        follow_ups: Sequence[FollowUp] = (),
        wake_states: Mapping[str, WakeState] | None = None,
        clients: Sequence[Client] = (),
    ) -> None:
        self._known = (
            *(KnownEpisode(episode=each, liveness="heard") for each in heard),
            *(KnownEpisode(episode=each, liveness="unheard") for each in unheard),
        )
        self._tasks = {task.episode: task for task in tasks}
        self._follow_ups = tuple(follow_ups)
        self._wakings = wake_states or {}
        self._clients = tuple(clients)

    def open_episodes(self) -> tuple[KnownEpisode, ...]:
        """Return all of them."""
        return self._known

    def find_open(self, episode_id: str) -> KnownEpisode | None:
        """Return the session with this id."""
        return next((one for one in self._known if one.episode.id == episode_id), None)

    def open_ids_at(self, checkout: str) -> tuple[str, ...]:
        """The ids of the sessions in a checkout."""
        return tuple(one.episode.id for one in self._known if one.episode.checkout == checkout)

    def follow_ups(self, episode_id: str) -> tuple[FollowUp, ...]:
        """The follow-ups of a session."""
        return tuple(one for one in self._follow_ups if one.session == episode_id)

    def wake_state(self, episode_id: str) -> WakeState | None:
        """The wake state of a session."""
        return self._wakings.get(episode_id)

    def clients(self, episode_id: str, now: datetime) -> tuple[Client, ...]:
        """No clients are known."""
        return self._clients

    def claims(self) -> tuple[Claim, ...]:
        """No claims."""
        return ()

    def tasks(self) -> dict[str, Task]:
        """The tasks by episode."""
        return self._tasks

    def ended_sessions(self) -> dict[str, Ended]:
        """No session has ended."""
        return {}

    def life_of(self, episode_id: str) -> Life:
        """Alive if it was heard."""
        heard = any(one.episode.id == episode_id and one.liveness == "heard" for one in self._known)
        return Life.ALIVE if heard else Life.UNKNOWN


def context(sessions: Known | None = None, **fields: Any) -> SectionContext:
    """A context at NOW with one checkout, no notices and a server that answers. `fields` replace its defaults."""
    known: dict[str, Any] = {
        "common_dir": "/r/.git",
        "state_dir": "/r/.git/majordomus",
        "now": lambda: NOW,
        "sessions": sessions or Known(),
        "absence": None,
        "worktrees": lambda: [checkout()],
        "notices": lambda folders: NoticeSnapshot((), (), ()),
    }
    return SectionContext(**{**known, **fields})


def ask(root: str = "/r", session: str | None = None, settings: dict[str, Any] | None = None) -> SectionQuery:
    """A query from a checkout with settings written as in a policy, as in `{"mesh": {"url": ...}}`."""
    return SectionQuery(root=root, settings=from_plain(Settings, settings or {}), session=session)
