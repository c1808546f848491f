from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from brief.core.model.brief import AlertsSection
from brief.core.model.level import Level
from brief.core.sessions.life import Life
from brief.handlers.episodes import CloseInputs, OpenInputs, close_episode, open_episode
from brief.handlers.heartbeat import HeartbeatInputs, answer_heartbeat
from brief.handlers.locks import LocksInputs, PlaceInputs, ReleaseInputs, list_locks, place_lock, release_lock
from brief.notices import inheritance
from brief.notices.folder_lock import NoticeError
from brief.sessions.board import Board
from brief.sessions.client_records import SeenSessions
from process_helpers import start_of
from repo_fixture import ANN, BOB, Place

ME = os.getpid()
OWED = "the bug in auth is mended"
CID = "33333333-3333-4333-8333-333333333333"


@pytest.fixture
def busy(place: Place) -> Place:
    """A session of this process that has a task, a claim, a lock, and waits for a bug-dep and for a line."""
    repo = str(place.lab.repo)
    place.hook("session-start", source="startup", pid=ME)
    place.board.set_task(ANN, "mend the login", ("auth",), "write the test", place.clock.now)
    place.board.announce(ANN, "work", "mend", ("auth",), place.clock.now)
    place.board.follow_up(ANN, repo, OWED, place.clock.now)
    place.call(place_lock, PlaceInputs, session=ANN, component="koda")
    place.put("bug", kind="bug-dep", session_id=ANN)
    return place


def left(place: Place, session: str) -> tuple[str | None, list[str], list[str]]:
    """The task, the claims and the notices of a session."""
    task = place.board.tasks().get(session)
    active = Path(place.lab.state / "notices/active")
    return (
        task.title if task else None,
        [claim.name for claim in place.board.claims() if claim.episode == session],
        sorted(path.stem[:4] for path in active.iterdir() if session in path.read_text()),
    )


ALL = ("mend the login", ["work"], ["bug", "lock"])


def alerts(place: Place, session: str) -> AlertsSection:
    """The alerts of a session."""
    found = asyncio.run(place.service.section("alerts", str(place.lab.repo), session))
    assert isinstance(found, AlertsSection)
    return found


def cleared(place: Place) -> str:
    """The text that the next session reads after a new start of the client. The client reports both ends."""
    place.hook("session-end", reason="clear", pid=ME)
    return place.hook("session-start", session=BOB, source="clear", pid=ME)


def test_between_the_two_the_owner_is_not_gone(busy: Place) -> None:
    """While the client lives and its next session has not opened yet, nobody is advised to take the lock by force."""
    busy.hook("session-end", reason="clear", pid=ME)
    assert busy.board.life_of(ANN) is Life.UNKNOWN
    told = busy.call(list_locks, LocksInputs)
    assert [one.owner for one in told.locks] == [Life.UNKNOWN]
    busy.hook("session-start", session=BOB, source="clear", pid=ME)
    assert busy.board.life_of(ANN) is Life.ALIVE


def test_clear(busy: Place) -> None:
    """The session after `/clear` has what the one before it had; its own lock is none that it is warned of."""
    assert OWED in cleared(busy)
    assert left(busy, BOB) == ALL
    assert busy.episode(ANN) is None
    assert [row.level for row in alerts(busy, BOB).rows if "koda" in row.text] == [Level.NORMAL]
    assert busy.call(place_lock, PlaceInputs, session=BOB, component="koda").did == "held already"


def test_lock_for_others(busy: Place) -> None:
    """For everybody else the lock stands, and its owner lives."""
    cleared(busy)
    (lock,) = busy.call(list_locks, LocksInputs, session=CID).locks
    assert (lock.session_id, lock.owner) == (BOB, Life.ALIVE)
    assert [row.level for row in alerts(busy, CID).rows if "koda" in row.text] == [Level.HIGH]
    assert busy.call(release_lock, ReleaseInputs, session=BOB, component="koda").did == "released"


def test_start_before_the_end(busy: Place) -> None:
    """The client may report the new start first; the end of the old session then changes nothing."""
    busy.hook("session-start", session=BOB, source="clear", pid=ME)
    busy.hook("session-end", reason="clear", pid=ME)
    assert left(busy, BOB) == ALL
    assert busy.board.closed_episodes(1)[0].closed_reason == f"its client went on as {BOB}"


def test_start_that_a_waiting_process_was_faster_than(busy: Place) -> None:
    """It does not matter which report about the new session comes first."""
    busy.call(open_episode, OpenInputs, session=BOB, pid=ME)
    busy.hook("session-start", session=BOB, source="clear", pid=ME)
    assert left(busy, BOB) == ALL


def test_mod(busy: Place) -> None:
    """A mod that looks for a session which nobody knew, in the process of another, has gone over to it."""
    busy.call(answer_heartbeat, HeartbeatInputs, session=BOB, state="idle", pid=ME)
    assert left(busy, BOB) == ALL
    assert [one.text for one in busy.board.follow_ups(BOB)] == [OWED]
    assert busy.episode(ANN) is None


def test_mod_that_told_the_end(busy: Place) -> None:
    """So has one that closed the session before."""
    reason = "its client ended it: another took its place"
    busy.call(close_episode, CloseInputs, session=ANN, reason=reason, pid=ME)
    busy.call(answer_heartbeat, HeartbeatInputs, session=BOB, state="idle", pid=ME)
    assert left(busy, BOB) == ALL


def test_twice(busy: Place) -> None:
    """What a session inherited is passed on again."""
    cleared(busy)
    busy.hook("session-end", session=BOB, reason="clear", pid=ME)
    busy.hook("session-start", session=CID, source="clear", pid=ME)
    assert left(busy, CID) == ALL


def test_after_a_restart(busy: Place) -> None:
    """A server that begins between the two knows what was left, and nobody holds it meanwhile."""
    busy.hook("session-end", reason="clear", pid=ME)
    busy.service._sessions = busy.board = Board(busy.board._database)
    assert busy.board.claims() == ()
    busy.hook("session-start", session=BOB, source="clear", pid=ME)
    assert left(busy, BOB) == ALL


def test_another_process(busy: Place) -> None:
    """A session of another process takes over nothing, whatever it says."""
    busy.hook("session-end", reason="clear", pid=ME)
    busy.hook("session-start", session=BOB, source="clear", pid=os.getppid())
    assert left(busy, BOB) == (None, [], [])
    assert left(busy, ANN)[2] == ["bug", "lock"]


@pytest.mark.parametrize("reason", ["logout", "resume", "prompt_input_exit"])
def test_another_end(busy: Place, reason: str) -> None:
    """A session that ended otherwise, as for another conversation in the same client, leaves nothing to the next."""
    busy.hook("session-end", reason=reason, pid=ME)
    busy.hook("session-start", session=BOB, source="startup", pid=ME)
    assert left(busy, BOB)[:2] == (None, [])


def test_a_session_that_was_known(busy: Place) -> None:
    """A client that goes back to an earlier session leaves that one what it had, and the other one its own."""
    busy.hook("session-start", session=BOB, pid=os.getppid())
    busy.hook("session-end", session=BOB, reason="logout", pid=os.getppid())
    busy.call(answer_heartbeat, HeartbeatInputs, session=BOB, state="idle", pid=ME)
    assert left(busy, BOB)[0] is None
    assert left(busy, ANN)[0] == "mend the login"


def test_going_back(busy: Place) -> None:
    """A session that nobody took over from has its claims and its task when it is resumed."""
    busy.hook("session-end", reason="clear", pid=ME)
    busy.hook("session-start", source="resume", pid=ME)
    assert left(busy, ANN) == ALL


def test_own_task_is_kept(busy: Place) -> None:
    """A session that has a task already keeps it."""
    busy.hook("session-start", session=BOB, source="startup", pid=ME)
    busy.board.set_task(BOB, "its own", (), None, busy.clock.now)
    cleared(busy)
    assert left(busy, BOB)[:2] == ("its own", ["work"])


def test_notices_that_cannot_be_written(busy: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the lock cannot be written, everything else is inherited all the same."""

    def refuse(*_: object) -> None:
        raise NoticeError("the disk is full")

    monkeypatch.setattr(inheritance, "rewrite", refuse)
    cleared(busy)
    assert left(busy, BOB) == (*ALL[:2], [])


def test_record_that_keeps_the_old_id(busy: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that was reported as ended is not a peer and owns no lock, although its client's record goes on."""
    record = {
        "pid": ME,
        "sessionId": ANN,
        "cwd": str(busy.lab.repo),
        "startedAt": 1_772_366_400_000,
        "procStart": str(start_of(ME)),
        "status": "idle",
    }
    (tmp_path / f"{ME}.json").write_text(json.dumps(record))
    monkeypatch.setattr(busy.service, "_seen", SeenSessions(str(tmp_path)))
    busy.hook("session-end", reason="clear", pid=ME)
    assert busy.service.context.seen().sessions == ()
    busy.hook("session-start", source="resume", pid=ME)
    assert [one.id for one in busy.service.context.seen().sessions] == [ANN]
