"""The peers section: all sessions but the asking one, by checkout, and unread if nobody was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from brief.core.model.brief import PeersSection, Status
from brief.core.model.errors import GitError
from brief.core.model.section_data import EpisodeState, PeersData
from brief.core.model.wire import from_json, to_json
from brief.core.sessions.task import Task
from brief.git.worktrees import Checkout, list_worktrees
from brief.sections.peers import answer
from samples import NOW, Known, ago, ask, checkout, context, episode
from sandbox import Lab


@pytest.fixture
def repo(lab: Lab) -> Lab:
    """A repository with one commit."""
    lab.commit()
    return lab


def asked(
    sessions: Known, *checkouts: Checkout, root: str = "/r", session: str | None = None, common_dir: str = "/r/.git"
) -> PeersSection:
    """The peers section of a server with these sessions, where git lists those checkouts."""
    listed = checkouts or (checkout(),)
    known = context(sessions, worktrees=lambda: listed, common_dir=common_dir)
    return answer(known, ask(root, session=session))


def data(section: PeersSection) -> PeersData:
    """The data of the section."""
    assert section.data is not None
    return section.data


def boards(section: PeersSection) -> list[tuple[str | None, str, int | None]]:
    """Path, condition and count of each board."""
    return [(board.path, board.condition, board.count) for board in data(section).boards]


def texts(section: PeersSection) -> list[str]:
    """The texts of the rows."""
    return [row.text for row in section.rows]


def test_without_a_server_nobody_was_asked() -> None:
    """Without a server it is unread, with the reason and no number; stored sessions are not passed off as present."""
    found = answer(context(Known(unheard=[episode()]), absence="no server runs here"), ask())
    assert (found.status, found.data, found.reason) == (Status.UNREAD, None, "no server runs here")
    assert not any(character.isdigit() for character in found.headline)


def test_a_server_that_knows_nobody_has_read_it() -> None:
    """Nobody is there, and that was asked: 0, as of now."""
    found = asked(Known())
    assert (found.status, found.headline, found.as_of) == (Status.READ, "0 other sessions in 1 checkout", NOW)
    assert (data(found).count, boards(found)) == (0, [("/r", "ready", 0)])


def test_everybody_but_oneself() -> None:
    """The asking session is on its board but not among its peers."""
    sessions = Known([episode("e1"), episode("e2"), episode("e3", "/w/b")])
    found = asked(sessions, checkout("/r"), checkout("/w/b"), session="e2")
    assert [peer.episode for peer in data(found).peers] == ["e1", "e3"]
    assert boards(found) == [("/r", "ready", 2), ("/w/b", "ready", 1)]
    assert found.headline == "2 other sessions in 2 checkouts"


def test_one_who_does_not_say_who_it_is_sees_all_of_several() -> None:
    """If it is unknown which session asks, none is left out by a guess."""
    assert data(asked(Known([episode("e1"), episode("e2")]))).count == 2
    assert data(asked(Known([episode("e1")]))).count == 0


def test_a_peer_is_told_with_what_it_does_and_where() -> None:
    """A peer has the state, task, branch, checkout, since and heard that its session reported."""
    sessions = Known([episode("e2", "/w/koda", branch="fix")], tasks=[Task(episode="e2", title="fix login", since=NOW)])
    found = asked(sessions, checkout("/r"), checkout("/w/koda"))
    (peer,) = data(found).peers
    assert (peer.state, peer.task, peer.branch, peer.checkout) == (EpisodeState.BUSY, "fix login", "fix", "/w/koda")
    assert (peer.since, peer.heard, peer.source, peer.liveness) == (ago(hours=1), ago(minutes=1), "registered", "heard")
    assert texts(found) == ["koda, busy: fix login (claude-code e2, on fix)"]


def test_what_is_not_known_of_a_peer_is_no_word_alone() -> None:
    """An unreported state is called unknown, and an unnamed provider is left out."""
    sessions = Known([episode("e2", "/w/b", provider="unknown", state=EpisodeState.UNKNOWN)])
    assert texts(asked(sessions, checkout("/r"), checkout("/w/b"))) == ["b, state unknown (e2, on main)"]


def test_an_unheard_peer_is_not_said_to_be_busy() -> None:
    """A session known from before the restart has no state, and the row says how long it was not heard."""
    found = asked(Known(unheard=[episode("e2", "/w/b", branch=None)]), checkout("/r"), checkout("/w/b"))
    (peer,) = data(found).peers
    assert (peer.liveness, peer.state, peer.task) == ("unheard", EpisodeState.UNKNOWN, None)
    assert texts(found) == ["b, unheard for 1m (claude-code e2)"]


GONE: list[tuple[dict[str, Any], str, str]] = [
    ({"gone": True, "prunable": "x"}, "away", "its folder is missing, and 1 session may still run in it"),
    (
        {"gone": True, "locked": ""},
        "away",
        "its folder is missing, and it is locked; if the folder is on a removable drive, mount that",
    ),
    (
        {"gone": True, "locked": "on a stick"},
        "away",
        "its folder is missing, and it is locked: on a stick; if the folder is on a removable drive, mount that",
    ),
    ({"prunable": "gitdir file points elsewhere"}, "prunable", "gitdir file points elsewhere"),
    ({"prunable": ""}, "prunable", "git would prune it"),
]


@pytest.mark.parametrize(("fields", "condition", "reason"), GONE)
def test_a_checkout_that_is_not_there_is_told(fields: dict[str, Any], condition: str, reason: str) -> None:
    """A checkout that is not there stays a board, with its episodes and what is wrong with it."""
    found = asked(Known([episode("e2", "/w/b")]), checkout("/r"), checkout("/w/b", **fields))
    assert boards(found) == [("/r", "ready", 0), ("/w/b", condition, 1)]
    assert data(found).boards[1].reason == reason
    assert found.headline == f"1 other session in 2 checkouts, 1 of them {condition}"
    assert texts(found)[-1] == f"b is {condition}: {reason}"


def test_a_missing_folder_without_a_session_is_gone() -> None:
    """Only a checkout that has no session and no lock is called gone; a locked one may come back."""
    away = checkout("/w/c", gone=True, locked="")
    found = asked(Known(), checkout("/r"), checkout("/w/b", gone=True, prunable="x"), away)
    assert boards(found) == [("/r", "ready", 0), ("/w/b", "gone", 0), ("/w/c", "away", 0)]
    assert (
        data(found).boards[1].reason
        == "its folder is missing; if it was deleted for good, git worktree prune removes its record"
    )


def test_a_locked_checkout_that_is_there_is_ready() -> None:
    """A git lock only prevents pruning, so a locked checkout is ready."""
    assert boards(asked(Known(), checkout("/r", locked="mine"))) == [("/r", "ready", 0)]


def test_a_checkout_that_git_does_not_list_keeps_its_episodes(repo: Lab) -> None:
    """Its sessions are still listed, on a board that is away while its folder or git's entry is left, else gone."""
    kept, removed = repo.worktree("kept"), repo.worktree("removed")
    repo.git("worktree", "remove", str(removed))
    sessions = Known([episode("e2", str(kept)), episode("e3", str(kept)), episode("e4", str(removed))])
    found = asked(sessions, checkout("/r"), common_dir=repo.common_dir)
    assert boards(found) == [("/r", "ready", 0), (str(kept), "away", 2), (str(removed), "gone", 1)]
    assert [board.reason for board in data(found).boards[1:]] == [
        "git does not list it",
        "it was removed, but a session is still open in it",
    ]
    assert data(found).count == 3


def test_a_session_beside_a_bare_repository(repo: Lab) -> None:
    """If git considers the repository bare, the root that a session runs in is away, and the reason says why."""
    root = str(repo.repo)
    found = asked(Known([episode("e2", root)]), checkout(root, bare=True), common_dir=repo.common_dir)
    assert boards(found) == [(root, "away", 1)]
    assert "the repository is bare (core.bare)" in (data(found).boards[0].reason or "")


def test_a_bare_repository_is_no_board() -> None:
    """A bare repository is not a board: nobody works in the git folder itself."""
    assert boards(asked(Known(), checkout("/r.git", bare=True), checkout("/w/b"))) == [("/w/b", "ready", 0)]


def test_names_are_as_they_are_in_data_and_cleaned_in_rows() -> None:
    """Paths and branches are verbatim in data and sanitized where they are shown, even if they are not UTF-8."""
    hostile = "a\x1b[31mb\u202ec"
    raw = "/w/d\udcff"
    sessions = Known(
        [episode("e2", f"/w/{hostile}", branch=hostile), episode("e3", r"/w/d\xff")],
        tasks=[Task(episode="e2", title=hostile, since=NOW)],
    )
    found = asked(sessions, checkout("/r"), checkout(f"/w/{hostile}"), checkout(raw, gone=True, locked="stick\udcff\n"))
    assert boards(found) == [("/r", "ready", 0), (f"/w/{hostile}", "ready", 1), (r"/w/d\xff", "away", 1)]
    assert [(peer.branch, peer.task) for peer in data(found).peers] == [(hostile, hostile), ("main", None)]
    assert texts(found) == [
        "abc, busy: abc (claude-code e2, on abc)",
        r"d\xff, busy (claude-code e3, on main)",
        r"d\xff is away: its folder is missing, and it is locked: stick\xff; if the folder is on a removable drive, mount that",
    ]
    assert from_json(PeersSection, to_json(found)) == found


def test_an_episode_of_a_checkout_with_no_name() -> None:
    """A repository at the root of the file system is named by its path."""
    assert [board.name for board in data(asked(Known(), checkout("/"), root="/")).boards] == ["/"]


def test_git_that_fails_is_for_the_composer_to_tell() -> None:
    """If the checkouts cannot be listed, no board is made up."""

    def failing() -> Sequence[Checkout]:
        raise GitError("git did not answer within 1 s")

    with pytest.raises(GitError):
        answer(context(Known([episode()]), worktrees=failing), ask())


def test_a_worktree_that_git_does_not_list_makes_the_peers_partial(repo: Lab) -> None:
    """An entry that git skips, or a folder of entries that cannot be listed, never counts as nobody."""
    repo.worktree("topic")
    entries = repo.repo / ".git/worktrees"
    (entries / "topic/gitdir").write_text("")
    found = asked(Known(), *list_worktrees(repo.common_dir), common_dir=repo.common_dir)
    assert (found.status, found.reason) == (Status.PARTIAL, "the worktree entry topic could not be read")
    listed = list_worktrees(repo.common_dir)
    entries.rename(repo.base / "away")
    entries.touch()
    found = asked(Known(), *listed, common_dir=repo.common_dir)
    assert found.status is Status.PARTIAL
    assert (found.reason or "").startswith("the worktree entries could not be read: ")
    assert (found.reason or "").endswith("Not a directory")
