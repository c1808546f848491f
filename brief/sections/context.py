"""What every section reader is given: the context of one repository, and the query of one checkout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from brief.core.model.brief import Section
from brief.core.notices.follow_up import FollowUp
from brief.core.policy.settings import Settings
from brief.core.sessions.claims import Claim
from brief.core.sessions.episode import Client, Ended, KnownEpisode, choose_meant
from brief.core.sessions.life import Life
from brief.core.sessions.presence import Seen
from brief.core.sessions.task import Task
from brief.core.text.sanitize import to_wire
from brief.core.wakes.state import WakeState
from brief.git.worktrees import Checkout
from brief.notices.store import NoticeSnapshot
from brief.trust import Pair

if TYPE_CHECKING:
    from brief.clones.neighbours import Neighbourhood


class Sessions(Protocol):
    """The source of episodes and tasks: a server's board, or the database that the last server left."""

    @property
    def version(self) -> int:
        """A number that changes whenever any of the rest does."""

    def loss(self) -> str | None:
        """Why the board is held in memory only and no longer stored. None if it is stored."""

    def missing(self) -> str | None:
        """Why open sessions may be missing from the board. None if none are."""

    def open_episodes(self) -> tuple[KnownEpisode, ...]:
        """The open episodes, oldest first."""

    def find_open(self, episode_id: str) -> KnownEpisode | None:
        """The open episode with this id, or None."""

    def open_ids_at(self, checkout: str) -> tuple[str, ...]:
        """The ids of the open episodes of a checkout."""

    def tasks(self) -> dict[str, Task]:
        """The current task of each open episode that has one, by episode id."""

    def follow_ups(self, episode_id: str) -> tuple[FollowUp, ...]:
        """The follow-ups of an open episode that were not yet delivered."""

    def wake_state(self, episode_id: str) -> WakeState | None:
        """The wake state of an episode. None if it is unknown."""

    def clients(self, episode_id: str, now: datetime) -> tuple[Client, ...]:
        """The clients that show an episode, the episode's own client first. Empty if they are not known."""

    def claims(self) -> tuple[Claim, ...]:
        """The claims of the open episodes: what they announce they will change."""

    def ended_sessions(self) -> Mapping[str, Ended]:
        """The closed sessions that were reported as ended, by episode id."""

    def life_of(self, episode_id: str) -> Life:
        """Whether the session with this id is still alive, as far as this repository knows."""


class SectionContext(Struct, frozen=True):
    """One repository. `absence` is why no server answers, None if one does; without a server the peers are unread.

    `seen` reads the sessions that clients record. `neighbours` asks the servers of the other clones, and is None if no
    server answers. `has_channel` says whether a mod or hook calls for a session; `untrusted` whether that channel needs
    trust to wake the session and does not have it.
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
    has_channel: Callable[[str], bool] = lambda session: False  # noqa: ARG005 - without a server nobody calls one
    untrusted: Callable[[str], bool] = lambda session: False  # noqa: ARG005 - without a server nobody is woken


class SectionQuery(Struct, frozen=True):
    """One question about the checkout `root`, asked by the episode `session` if it gave its id.

    `primary` is the root of the primary checkout and `branch` the branch of HEAD; each is None if it is unknown.
    `local` restricts the answer to this server. `untrusted` are the policy's values that are not in force until they
    are trusted, each with its dotted key. `is_policy_unread`: the policy could not be read, so `settings` may differ
    from what it sets. `is_unborn`: the branch of HEAD is known to have no commit yet.
    """

    root: str
    settings: Settings
    session: str | None = None
    component: str | None = None
    local: bool = False
    untrusted: tuple[Pair, ...] = ()
    primary: str | None = None
    branch: str | None = None
    is_policy_unread: bool = False
    is_unborn: bool = False

    @property
    def checkout(self) -> str:
        """The checkout's path as spelled on the wire and in the database."""
        return to_wire(self.root)


Answer = Callable[[SectionContext, SectionQuery], Section]


def own_episode(context: SectionContext, query: SectionQuery) -> KnownEpisode | None:
    """The asking episode: the one with the given id, else the only one open in the checkout."""
    own = choose_meant(query.session, () if query.session is not None else context.sessions.open_ids_at(query.checkout))
    return None if own is None else context.sessions.find_open(own)
