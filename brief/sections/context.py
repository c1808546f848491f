"""What every owner is given: the world of one repository, and the question of one checkout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from brief.core.model.brief import Section
from brief.core.notices.follow_up import FollowUp
from brief.core.notices.locks import Owner
from brief.core.policy.settings import Settings
from brief.core.sessions.claims import Claim
from brief.core.sessions.episode import Client, Ended, KnownEpisode, meant
from brief.core.sessions.presence import Seen
from brief.core.sessions.task import Task
from brief.core.text.sanitize import wire
from brief.core.wakes.state import WakeState
from brief.git.worktrees import Checkout
from brief.notices.store import NoticeSnapshot
from brief.trust import Pair

if TYPE_CHECKING:
    from brief.clones.neighbours import Neighbourhood


class Sessions(Protocol):
    """Where episodes and tasks are known from: the board of a server, or what the last one stored."""

    @property
    def version(self) -> int:
        """A number that changes with what is known."""

    def loss(self) -> str | None:
        """Why what is known is in memory alone and is not stored any more; None where it is stored."""

    def known(self) -> tuple[KnownEpisode, ...]:
        """The open episodes, the longest open first."""

    def one(self, episode_id: str) -> KnownEpisode | None:
        """The open episode of this id; None where none is."""

    def at(self, checkout: str) -> tuple[str, ...]:
        """The ids of the open episodes of a checkout."""

    def tasks(self) -> dict[str, Task]:
        """The current task of each open episode that has one, by episode id."""

    def follow_ups(self, episode_id: str) -> tuple[FollowUp, ...]:
        """What is owed to an open episode and was not told yet."""

    def waking(self, episode_id: str) -> WakeState | None:
        """How the wakes of an episode stand; None where nothing is known of them."""

    def clients(self, episode_id: str, now: datetime) -> tuple[Client, ...]:
        """The clients that show an episode, the one that has it first; none where that is not known."""

    def claims(self) -> tuple[Claim, ...]:
        """What the open episodes say they are about to change."""

    def ended(self) -> Mapping[str, Ended]:
        """The closed sessions of which somebody said that they ended."""

    def owner(self, episode_id: str) -> Owner:
        """Whether the session of this id still lives, as far as is known here."""


@dataclass(frozen=True, slots=True)
class SectionContext:
    """One repository. `absence` is why no server answers, and then nobody can say who else is here.

    `seen` reads what clients record, `neighbours` the servers of the other clones; None where no server answers.
    `has_channel` tells whether a mod or hook asks for a session, `untrusted` whether that needs trust to wake and has none.
    """

    common_dir: str
    state_dir: str
    now: Callable[[], datetime]
    sessions: Sessions
    absence: str | None
    worktrees: Callable[[], Sequence[Checkout]]
    notices: Callable[[tuple[str, ...]], NoticeSnapshot]
    seen: Callable[[], Seen] = Seen
    neighbours: Callable[[], Neighbourhood] | None = None
    has_channel: Callable[[str], bool] = lambda session: False  # noqa: ARG005 - no server, so nobody asks one
    untrusted: Callable[[str], bool] = lambda session: False  # noqa: ARG005 - whoever asks, nobody is woken


@dataclass(frozen=True, slots=True)
class SectionQuery:
    """One question: about the checkout `root`, by the episode `session` if it named itself, under these settings.

    `primary` is the root of the primary checkout and `branch` what HEAD names, None where that is not known.
    `untrusted` are the values that the policy asks for and that wait for trust, each with its dotted key.
    """

    root: str
    settings: Settings
    session: str | None = None
    component: str | None = None
    local: bool = False
    untrusted: tuple[Pair, ...] = ()
    primary: str | None = None
    branch: str | None = None

    @property
    def checkout(self) -> str:
        """The checkout as it is spelled on the wire and in the database."""
        return wire(self.root)


Answer = Callable[[SectionContext, SectionQuery], Section]


def own_episode(context: SectionContext, query: SectionQuery) -> KnownEpisode | None:
    """The episode that asks: the one it named, else the only open one of its checkout."""
    own = meant(query.session, () if query.session is not None else context.sessions.at(query.checkout))
    return None if own is None else context.sessions.one(own)
