from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from brief.notices.folder_lock import NoticeError
from brief.notices.read_receipts import KEPT, find_seen, mark_seen, prune_seen
from brief.support.state_folder import UnprovenStateError
from notice_helpers import SESSION
from racing import race


def only(state: Path) -> Path:
    """The one file of marks."""
    (path,) = (state / "seen").iterdir()
    return path


def test_a_courtesy_is_seen_once_a_session(tmp_path: Path) -> None:
    """Not before it was marked, from then on always, and not by another session."""
    state = str(tmp_path)
    assert find_seen(state, SESSION, ["a", "b"]) == frozenset()
    assert mark_seen(state, SESSION, ["a"]) == {"a"}
    assert find_seen(state, SESSION, ["a", "b"]) == frozenset({"a"})
    assert find_seen(state, "another", ["a", "b"]) == frozenset()


def test_marking_again_adds_nothing(tmp_path: Path) -> None:
    """Only what was not marked yet is told as new; the file stays small, and the person's own."""
    state = str(tmp_path / "state")
    mark_seen(state, SESSION, ["a"])
    assert mark_seen(state, SESSION, ["a", "b"]) == {"b"}
    assert mark_seen(state, SESSION, ["a", "b"]) == frozenset()
    path = only(tmp_path / "state")
    assert path.stat().st_size == 2 * 33
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("session_id", [None, "", "  "])
def test_without_a_session_nothing_is_seen(tmp_path: Path, session_id: str | None) -> None:
    """Nobody knows who asks, so all is shown, and nothing is written."""
    assert mark_seen(str(tmp_path), session_id, ["a"]) == frozenset()
    assert find_seen(str(tmp_path), session_id, ["a"]) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("session_id", ["../../x", "/etc/passwd", "a\0b", "x" * 5_000, "\udce9", ".", "a\nb"])
def test_no_session_id_leads_out(tmp_path: Path, session_id: str) -> None:
    """Whatever the id is, its file has a plain name in the folder, and is its own."""
    mark_seen(str(tmp_path), session_id, ["../slug", "\udce9", "x\ny"])
    assert len(only(tmp_path).name) == 32
    assert find_seen(str(tmp_path), session_id, ["../slug", "\udce9", "x\ny", "x", "y"]) == frozenset(
        {"../slug", "\udce9", "x\ny"}
    )


def test_an_unreadable_marker_shows_all(tmp_path: Path) -> None:
    """A folder, a link or a huge file in its place: nobody knows, and marking says so; a damaged one shows again."""
    state = str(tmp_path)
    mark_seen(state, SESSION, ["a"])
    path = only(tmp_path)
    path.write_bytes(b"\xff\x00rubbish")
    assert find_seen(state, SESSION, ["a"]) == frozenset()
    assert mark_seen(state, SESSION, ["a"]) == {"a"}
    assert find_seen(state, SESSION, ["a"]) == frozenset({"a"})
    path.write_bytes(b"x" * 300_000)
    assert find_seen(state, SESSION, ["a"]) is None
    with pytest.raises(NoticeError, match="cannot hold what the session has seen; remove it"):
        mark_seen(state, SESSION, ["a"])
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert find_seen(state, SESSION, ["a"]) is None
    with pytest.raises(NoticeError, match="cannot be written"):
        mark_seen(state, SESSION, ["a"])
    path.unlink()
    path.mkdir()
    assert find_seen(state, SESSION, ["a"]) is None
    path.rmdir()
    os.mkfifo(path)
    assert find_seen(state, SESSION, ["a"]) is None
    with pytest.raises(NoticeError, match="not a regular file"):
        mark_seen(state, SESSION, ["a"])


def test_a_state_folder_that_is_none_is_told(tmp_path: Path) -> None:
    """Where no marker can be kept, the courtesy is shown again."""
    (tmp_path / "file").touch()
    assert find_seen(str(tmp_path / "file"), SESSION, ["a"]) is None
    for touch in (lambda state: mark_seen(state, SESSION, ["a"]), lambda state: prune_seen(state, datetime.now(UTC))):
        with pytest.raises(UnprovenStateError, match="file is not a folder"):
            touch(str(tmp_path / "file"))


def test_one_of_racing_carriers_shows_it(tmp_path: Path) -> None:
    """Of fifty processes that mark twenty courtesies at once, each is new to one of them."""
    work = """
from brief.support.state_folder import UnprovenStateError
from brief.notices.read_receipts import mark_seen
def work(number, state):
    return sorted(slug for each in range(20) for slug in mark_seen(state, "session", [f"c{each:02}"]))
"""
    new = [slug for slugs in race(50, work, str(tmp_path)) for slug in slugs]
    assert sorted(new) == [f"c{number:02}" for number in range(20)]
    assert len(find_seen(str(tmp_path), "session", new) or ()) == 20


def test_old_markers_are_removed(tmp_path: Path) -> None:
    """A session that has marked nothing for thirty days is forgotten; one marked since is not, nor is a folder."""
    now = datetime.now(UTC)
    for session in ("old", "new"):
        mark_seen(str(tmp_path), session, ["a"])
    (tmp_path / "seen/folder").mkdir()
    for path in (tmp_path / "seen").iterdir():
        moment = (now - KEPT + timedelta(minutes=1)).timestamp()
        os.utime(path, (moment, moment))
    mark_seen(str(tmp_path), "new", ["b"])
    assert prune_seen(str(tmp_path), now) == 0
    assert prune_seen(str(tmp_path), now + timedelta(minutes=2)) == 1
    assert find_seen(str(tmp_path), "old", ["a"]) == frozenset()
    assert find_seen(str(tmp_path), "new", ["a"]) == frozenset({"a"})
    assert prune_seen(str(tmp_path / "gone"), now) == 0
