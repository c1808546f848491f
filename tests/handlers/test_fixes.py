"""Who waits for a bug-dep is told once that it is done, however it became so."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from brief.core.model.errors import GitError, StoreError
from brief.git.worktrees import Checkout
from brief.handlers.alert_commands import AddInputs, NoticeInputs, add_alert, archive_alert, end_alert
from brief.handlers.fixes import queue_fix_follow_ups
from brief.server.housekeeping import tend, tidy
from brief.sessions import follow_ups
from brief.sessions.board import Board
from brief.sessions.database import Database
from repo_fixture import ANN, BOB, Place
from sandbox import Lab
from serving import SIGNAL_BEFORE, finish, serve

LINE = "fixed in KODA-12 on koda: update and resume (Dates are off)"


@pytest.fixture
def bug(place: Place) -> Path:
    """The file of a bug-dep that a session waits for."""
    place.hook("session-start")
    made = place.call(
        add_alert,
        AddInputs,
        title="Dates are off",
        kind="bug-dep",
        component="koda",
        ticket="KODA-12",
        session=ANN,
    )
    return Path(made.path)


def edit(path: Path, status: str) -> None:
    """Write a status into a file as a person does."""
    text = re.sub("status: .*\n", "", path.read_text())
    path.write_text(text.replace("---\n", f"---\nstatus: {status}\n", 1))


def owed(place: Place, session: str = ANN) -> list[str]:
    """The follow-ups of a session."""
    return [one.line for one in place.board.follow_ups(session)]


def test_an_edit_by_hand_is_told_once(place: Place, bug: Path) -> None:
    """The follow-up is queued by the server's next check and delivered once, even across servers."""
    tend(place.service)
    assert owed(place) == []
    edit(bug, "done")
    for _ in range(2):
        tend(place.service)
        tidy(place.service)
        assert owed(place) == [LINE]
    assert LINE in place.hook("session-start", source="resume")
    assert owed(place) == []
    tend(place.service)
    bug.write_text(bug.read_text() + "one more line\n")
    tend(place.service)
    assert owed(place) == []
    next_board = Board(Database(place.lab.state / "majordomus.db", epoch=2))
    assert next_board.is_fix_followed_up(f"{bug.stem} {_created(bug)}")


def _created(bug: Path) -> str:
    found = re.search(r"created: (.*)Z\n", bug.read_text())
    assert found is not None
    return found[1].replace("T", " ") + "+00:00"


def test_one_that_is_reopened_is_told_again(place: Place, bug: Path) -> None:
    """By hand or by the command, since it was seen to be active between."""
    for _ in range(2):
        edit(bug, "done")
        tend(place.service)
        assert owed(place) == [LINE]
        place.board.mark_delivered([one.number for one in place.board.follow_ups(ANN)])
        edit(bug, "active")
        tend(place.service)
    assert place.call(end_alert, NoticeInputs, slug=bug.stem).detail == f"session {ANN} will be told in its next brief"
    assert owed(place) == [LINE]


def test_a_database_that_fails_loses_nothing(place: Place, bug: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file says done, the command says that the rest comes later, and the next look makes up for it."""

    def refuse(*_: object) -> None:
        raise StoreError("no database")

    with monkeypatch.context() as patch:
        patch.setattr(follow_ups, "put_follow_up", refuse)
        done = place.call(end_alert, NoticeInputs, slug=bug.stem)
    assert (done.did, owed(place)) == ("done", [])
    assert done.detail == "this cannot be stored now (no database); the waiting session will be told once it can"
    tend(place.service)
    assert owed(place) == [LINE]


def test_done_again_makes_up_for_it(place: Place, bug: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated command queues the follow-up if it was missed, and never twice."""
    with monkeypatch.context() as patch:
        patch.setattr(follow_ups, "put_follow_up", lambda *_: (_ for _ in ()).throw(StoreError("no database")))
        place.call(end_alert, NoticeInputs, slug=bug.stem)
    told = [place.call(end_alert, NoticeInputs, slug=bug.stem) for _ in range(2)]
    assert [one.did for one in told] == ["was done", "was done"]
    assert owed(place) == [LINE]


def test_archiving_tells_first(place: Place, bug: Path) -> None:
    """Once its file is gone nobody could find out."""
    edit(bug, "done")
    place.call(archive_alert, NoticeInputs, slug=bug.stem)
    assert owed(place) == [LINE]


def test_copies_in_two_work_trees_are_told_once(place: Place) -> None:
    """A tracked folder has a copy of the notice in every work tree, and they become done one after another."""
    place.hook("session-start")
    trees = [place.lab.worktree("one"), place.lab.worktree("two")]
    for tree in trees:
        (tree / ".ai/repo").mkdir(parents=True)
        (tree / ".ai/repo/policy.yaml").write_text("version: 1\nalerts:\n  folders: [notices]\n")
        (tree / "notices/active").mkdir(parents=True)
        (tree / "notices/active/bug.md").write_text(
            f"---\nkind: bug-dep\ncomponent: koda\nticket: KODA-12\nsession_id: {ANN}\n---\n# Dates are off\n"
        )
    told = []
    for tree in trees:
        edit(tree / "notices/active/bug.md", "done")
        for each in trees:
            queue_fix_follow_ups(place.service, place.service.request_context(str(each)).query)
        told.append(owed(place))
    assert told == [[LINE], [LINE]]


def test_nobody_here_waits_for_what_a_clone_brought(place: Place) -> None:
    """A session that was never here, and a checkout that is none of this repository, owe nobody a line."""
    place.hook("session-start", session=BOB)
    place.put("theirs", kind="bug-dep", status="done", session_id=ANN, checkout="/elsewhere", component="koda")
    place.put("nobodys", kind="bug-dep", status="done", component="koda")
    tend(place.service)
    assert owed(place, BOB) == []
    place.put("ours", kind="bug-dep", status="done", session_id=ANN, checkout=str(place.lab.repo), ticket="KODA-9")
    tend(place.service)
    assert [line.partition(":")[0] for line in owed(place, BOB)] == ["fixed in KODA-9"]


def test_a_kill_between_the_two_is_made_up_for(lab: Lab) -> None:
    """The server dies when the file says done and nothing is stored; the next one tells it within two briefs."""
    lab.commit()
    place_of_kill = "brief.sessions.follow_ups:put_follow_up"
    killed = serve(lab, SIGNAL_BEFORE.format(place=place_of_kill, number=int(signal.SIGKILL)))
    opened = lab.majordomus("episode", "open", "--session", ANN)
    assert opened.returncode == 0, opened.stderr
    added = lab.majordomus(
        *("alerts", "add", "Dates are off", "--kind", "bug-dep", "--component", "koda"),
        *("--ticket", "KODA-12", "--session", ANN),
    )
    assert added.returncode == 0, added.stderr
    (bug,) = (lab.state / "notices/active").iterdir()
    lab.majordomus("alerts", "done", bug.stem)
    assert finish(killed)[0] == -signal.SIGKILL
    assert "status: done" in bug.read_text()
    assert lab.majordomus("serve", "ensure").returncode == 0
    told = [lab.majordomus("brief", "--session", ANN).stdout for _ in range(3)]
    assert sum(LINE in text for text in told) == 1


def test_a_checkout_that_cannot_be_told_is_told_later(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """While git cannot list the checkouts nobody is taken for a stranger; once it can, the line is owed."""

    def fails() -> tuple[Checkout, ...]:
        raise GitError("git is gone")

    here = str(place.lab.repo)
    place.put("ours", kind="bug-dep", status="done", session_id=ANN, checkout=here, component="koda", ticket="KODA-12")
    working = place.service.context
    monkeypatch.setattr(place.service, "context", replace(working, worktrees=fails))
    tend(place.service)
    monkeypatch.setattr(place.service, "context", working)
    tend(place.service)
    assert "fixed in KODA-12 on koda" in place.hook("session-start")
