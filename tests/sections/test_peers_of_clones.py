from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from brief.clones.asking import Neighbour, make_unread
from brief.clones.neighbours import Neighbourhood
from brief.core.model.brief import PeersSection, Status
from brief.core.model.section_data import Board, EpisodeState
from brief.core.notices.follow_up import FollowUp
from brief.core.policy.settings import Settings
from brief.core.sessions.claims import Claim
from brief.core.sessions.episode import Client, Ended, Episode, KnownEpisode
from brief.core.sessions.life import Life
from brief.core.sessions.task import Task
from brief.git.worktrees import Checkout
from brief.notices.store import NoticeSnapshot
from brief.sections.context import SectionContext, SectionQuery
from brief.sections.peers import answer
from neighbourhood import NOW, entry, peer
from sandbox import Lab

ROOT = "/src/koda"


class OneSession:
    """The board of a server with one session, in the primary checkout."""

    version = 1

    def loss(self) -> str | None:
        """It is stored."""
        return None

    def missing(self) -> str | None:
        """Nobody."""
        return None

    def open_episodes(self) -> tuple[KnownEpisode, ...]:
        """Its episode."""
        episode = Episode(
            id="mine",
            provider="claude-code",
            checkout=ROOT,
            branch="main",
            process=None,
            state=EpisodeState.IDLE,
            since=NOW,
            heard=NOW,
        )
        return (KnownEpisode(episode=episode, liveness="heard"),)

    def find_open(self, episode_id: str) -> KnownEpisode | None:
        """Its episode by its id."""
        return self.open_episodes()[0] if episode_id == "mine" else None

    def open_ids_at(self, checkout: str) -> tuple[str, ...]:
        """Its id, in its own checkout."""
        return ("mine",) if checkout == ROOT else ()

    def tasks(self) -> dict[str, Task]:
        """It has no task."""
        return {}

    def follow_ups(self, episode_id: str) -> tuple[FollowUp, ...]:
        """It has no follow-ups."""
        return ()

    def wake_state(self, episode_id: str) -> None:
        """It has no wake state."""

    def clients(self, episode_id: str, now: datetime) -> tuple[Client, ...]:
        """Its clients are not known."""
        return ()

    def claims(self) -> tuple[Claim, ...]:
        """It has no claims."""
        return ()

    def ended_sessions(self) -> dict[str, Ended]:
        """No session has ended."""
        return {}

    def life_of(self, episode_id: str) -> Life:
        """Nobody asks for locks here."""
        raise AssertionError(episode_id)


def no_notices(folders: tuple[str, ...]) -> NoticeSnapshot:
    """Nobody asks for notices here."""
    raise AssertionError(folders)


def told(hood: Neighbourhood, *, session: str | None = None, local: bool = False) -> PeersSection:
    """The peers section of a repository with one checkout and one session, beside these neighbours."""
    primary = Checkout(ROOT, f"{ROOT}/.git", "main", "1" * 40, False, False, None, None, False, True)
    context = SectionContext(
        common_dir=f"{ROOT}/.git",
        state_dir=f"{ROOT}/.git/majordomus",
        now=lambda: NOW,
        sessions=OneSession(),
        absence=None,
        worktrees=lambda: (primary,),
        notices=no_notices,
        neighbours=lambda: hood,
    )
    section = answer(context, SectionQuery(root=ROOT, settings=Settings(), session=session, local=local))
    assert isinstance(section, PeersSection)
    return section


def clone(name: str, *episodes: str, condition: str = "ready") -> Neighbour:
    """A clone that was asked."""
    board = Board(kind="clone", name=name, path=f"/other/{name}", condition=condition, reason=None, count=len(episodes))
    return Neighbour(board, tuple(peer(episode, f"/other/{name}") for episode in episodes))


def test_the_sessions_of_clones_are_peers() -> None:
    """Boards and sessions of clones are listed beside those of the checkouts, without the asking session."""
    section = told(Neighbourhood((clone("a", "e1", "e2"), clone("b")), (), age_s=0.5))
    assert section.status is Status.READ
    assert section.headline == "2 other sessions in 1 checkout and 2 clones"
    assert section.data is not None
    assert [(board.kind, board.name, board.count) for board in section.data.boards] == [
        ("checkout", "koda", 1),
        ("clone", "a", 2),
        ("clone", "b", 0),
    ]
    assert (section.data.count, [peer.episode for peer in section.data.peers]) == (2, ["e1", "e2"])
    assert section.rows[0].text == "/other/a, busy (claude-code e1, on main)"
    assert section.as_of == NOW - timedelta(seconds=0.5)


def test_a_clone_that_could_not_be_read_makes_it_partial(lab: Lab) -> None:
    """The count covers the clones that were read; every other board has its condition and reason."""
    quiet = make_unread(entry(lab.runtime, "quiet"), "silent", "it hangs")
    section = told(Neighbourhood((clone("a", "e1"), quiet, clone("old", condition="superseded")), ()))
    assert section.status is Status.PARTIAL
    assert section.reason == f"clone {lab.runtime}/quiet is silent: it hangs"
    assert section.headline == "1 other session in 1 checkout and 1 clone, 1 clone silent, 1 clone superseded"
    assert section.data is not None
    assert (section.data.count, section.data.boards[2].count) == (1, None)
    assert f"clone {lab.runtime}/quiet is silent: it hangs" in [row.text for row in section.rows]


def test_a_superseded_server_alone_is_told_in_full() -> None:
    """Its board is listed with its condition, and nothing is missing."""
    section = told(Neighbourhood((clone("old", condition="superseded"),), ()))
    assert section.status is Status.READ
    assert section.headline == "0 other sessions in 1 checkout, 1 clone superseded"


def test_what_may_be_a_clone_makes_it_partial() -> None:
    """While it is unknown who is a clone, the section does not say that nobody is here."""
    section = told(Neighbourhood((), ("the root commits are not known",)))
    assert (section.status, section.reason) == (Status.PARTIAL, "the root commits are not known")


@pytest.mark.parametrize(("session", "peers"), [(None, ["mine"]), ("mine", [])])
def test_asked_by_another_server_it_tells_its_own_boards_alone(session: str | None, peers: list[str]) -> None:
    """For another server's question no clone is asked, and no session is left out."""
    section = told(Neighbourhood((clone("a", "e1"),), ("a gap",)), session=session, local=True)
    assert section.status is Status.READ
    assert section.data is not None
    assert [peer.episode for peer in section.data.peers] == peers
    assert [board.kind for board in section.data.boards] == ["checkout"]


def test_another_server_of_this_repository_is_no_clone() -> None:
    """Another server of the repository is listed as such, beside the clones."""
    old = clone("koda", "e1", condition="superseded")
    sibling = Neighbour(old.board.replace(kind="server", reason="replaced"), old.peers)
    section = told(Neighbourhood((clone("a"), sibling), ()))
    assert section.headline == "1 other session in 1 checkout and 1 clone, 1 other server superseded"
    assert "another server of /other/koda is superseded: replaced" in [row.text for row in section.rows]
