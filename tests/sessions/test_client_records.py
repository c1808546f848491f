from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brief.core.model.section_data import EpisodeState
from brief.core.sessions.presence import Seen, SeenSession
from brief.fastpath import process as processes
from brief.fastpath.process import describe_process
from brief.sessions import client_records as module
from brief.sessions.client_records import MOST_BYTES, SeenSessions, group_by_checkout, seen_folder
from brief.support import stat_cache
from process_helpers import start_of

UNKNOWN = EpisodeState.UNKNOWN
ME = os.getpid()
HERE = module._own_domain()

Write = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of session records."""
    made = tmp_path / "sessions"
    made.mkdir()
    return made


@pytest.fixture
def write(folder: Path) -> Write:
    """Writes a record as the client does; None leaves a field out."""

    def put(pid: int = ME, *, file: str | None = None, **told: Any) -> Path:
        fields = {
            "pid": pid,
            "sessionId": f"session-{pid}",
            "cwd": str(folder.parent),
            "startedAt": 1_772_366_400_000,
            "procStart": str(describe_process(pid)["process_start"] if type(pid) is int else None),
            "version": "2.1.332",
            "kind": "interactive",
            "pidDomain": HERE,
            "status": "idle",
            "peerFeatures": ["new"],
            **told,
        }
        path = folder / (file or f"{pid}.json")
        path.write_text(json.dumps({name: value for name, value in fields.items() if value is not None}))
        return path

    return put


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """Another process, which runs until it is ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def sessions(folder: Path) -> tuple[SeenSession, ...]:
    """The result of the first reading of the folder."""
    found = SeenSessions(str(folder)).read()
    assert found.unread is None
    return found.sessions


def test_session_that_runs(folder: Path, write: Write) -> None:
    """A record whose process runs is a session: id, folder, state, since, and its name cleaned."""
    write(name="fix \x1b[31mlogin\x1b[0m")
    (session,) = sessions(folder)
    assert (session.id, session.provider, session.cwd) == (f"session-{ME}", "claude-code", str(folder.parent))
    assert (session.state, session.pid, session.name) == (EpisodeState.IDLE, ME, "fix login")
    assert session.since.isoformat() == "2026-03-01T12:00:00+00:00"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("idle", EpisodeState.IDLE),
        ("busy", EpisodeState.BUSY),
        ("waiting", EpisodeState.WAITING),
        ("shell", UNKNOWN),
        ("IDLE", UNKNOWN),
        ("", UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_status(folder: Path, write: Write, status: str | None, state: EpisodeState) -> None:
    """The three known words are states; any other, and none at all, is unknown and never idle."""
    write(status=status)
    assert [session.state for session in sessions(folder)] == [state]


def test_age_proves_nothing(folder: Path, write: Write) -> None:
    """A record that was not rewritten for a day is still a session that is busy, since its process runs."""
    os.utime(write(status="busy"), (0, 0))
    assert [session.state for session in sessions(folder)] == [EpisodeState.BUSY]


def test_reused_number(folder: Path, write: Write) -> None:
    """A process that began at another time than the record says is somebody else."""
    write(procStart=str(start_of(ME) - 1))
    assert sessions(folder) == ()


def test_process_that_ends(folder: Path, write: Write, other: subprocess.Popen[bytes]) -> None:
    """A session is gone with its process, although its record stays and was read before."""
    write(other.pid)
    store = SeenSessions(str(folder))
    assert [session.pid for session in store.read().sessions] == [other.pid]
    other.kill()
    other.wait()
    assert store.read().sessions == ()


@pytest.mark.parametrize(
    "domain", ["linux:another-machine:pid:[4026531836]", HERE.replace("pid:[", "pid:[9"), "darwin", ""]
)
def test_foreign_process_table(folder: Path, write: Write, domain: str) -> None:
    """A record of another machine or container is kept with its state unknown, whatever runs here under its number."""
    write(2**31 - 1, pidDomain=domain, procStart="1", status="busy")
    assert [session.state for session in sessions(folder)] == [UNKNOWN]


def test_record_without_domain(folder: Path, write: Write, other: subprocess.Popen[bytes]) -> None:
    """A client that names no process table is taken to be of this one, and is checked."""
    write(pidDomain=None)
    write(other.pid, pidDomain=None, procStart="1")
    assert [session.pid for session in sessions(folder)] == [ME]


def test_system_without_proc(
    folder: Path, write: Write, other: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a process cannot be distinguished from a later one, the session is unknown while its number is used, then gone."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(processes, "PROC", "/nowhere")
    write(other.pid, pidDomain="darwin", procStart="Sun Mar  1 12:00:00 2026", status="busy")
    write(1, pidDomain="darwin", procStart="Sun Mar  1 12:00:00 2026")
    assert {session.pid: session.state for session in sessions(folder)} == {1: UNKNOWN, other.pid: UNKNOWN}
    other.kill()
    other.wait()
    assert [session.pid for session in sessions(folder)] == [1]


def test_latest_record_of_a_session(folder: Path, write: Write, other: subprocess.Popen[bytes]) -> None:
    """Of two records of one session the one that began later counts."""
    write(sessionId="one", status="idle")
    write(other.pid, sessionId="one", status="busy", startedAt=1_772_366_500_000)
    assert [(session.id, session.state) for session in sessions(folder)] == [("one", EpisodeState.BUSY)]


@pytest.mark.parametrize(
    "told",
    [
        {"procStart": None, "status": None},
        {"file": f"pid-{ME}.json"},
        {"file": "999.json"},
        {"file": f"{ME}.json.tmp"},
        {"sessionId": "a\x1b[2Jb"},
        {"sessionId": "a\nb"},
        {"sessionId": "x" * 200},
        {"sessionId": ""},
        {"sessionId": None},
        {"cwd": "relative/path"},
        {"cwd": ""},
        {"cwd": "/a\0b"},
        {"cwd": "/" + "a" * 5_000},
        {"cwd": 5},
        {"pid": 0, "file": "0.json"},
        {"pid": str(ME)},
        {"pid": float(ME)},
        {"pid": True},
        {"startedAt": -1},
        {"startedAt": 10**18},
        {"startedAt": "yesterday"},
        {"startedAt": None},
        {"status": 3},
        {"procStart": 4},
        {"pidDomain": ["linux"]},
        {"filler": "x" * MOST_BYTES},
    ],
)
def test_record_that_is_not_understood(folder: Path, write: Write, told: dict[str, Any]) -> None:
    """Records of older clients, and those with a value that cannot be, are of no session, and their client is not nobody."""
    path = write(**told)
    found = SeenSessions(str(folder)).read()
    assert found.sessions == ()
    assert (found.unread is not None) is (path.name == f"{ME}.json")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b"[" * 9_000, b'{"cwd":"\\ud800"}'])
def test_garbage(folder: Path, content: bytes) -> None:
    """A file that is not a record may be one of a session as long as a process has its number."""
    (folder / f"{ME}.json").write_bytes(content)
    found = SeenSessions(str(folder)).read()
    assert found.sessions == ()
    assert f"{folder}/{ME}.json may be the record of a session" in (found.unread or "")


def test_garbage_that_a_client_left(folder: Path) -> None:
    """A file that is not a record, named after a process that is gone, is ignored."""
    for name in (f"{2**31 - 1}.json", "notes.json"):
        (folder / name).write_bytes(b"{")
    assert SeenSessions(str(folder)).read() == Seen()


def test_several_that_cannot_be_read(folder: Path, write: Write, other: subprocess.Popen[bytes]) -> None:
    """The readable records are listed, and the others are counted."""
    write()
    for pid in (1, other.pid):
        os.mkfifo(folder / f"{pid}.json")
    found = SeenSessions(str(folder)).read()
    assert [session.pid for session in found.sessions] == [ME]
    assert (
        found.unread
        == f"{folder}/1.json may be the record of a session: it is not a regular file, and 1 more could not be read"
    )


def test_no_regular_file(folder: Path, write: Write, tmp_path: Path) -> None:
    """A pipe, a folder, and a link to somewhere else are never followed or waited for, and never count as records."""
    write().rename(tmp_path / "outside.json")
    (folder / f"{ME}.json").symlink_to(tmp_path / "outside.json")
    found = SeenSessions(str(folder)).read()
    assert found.sessions == ()
    assert "cannot be opened" in (found.unread or "")
    (folder / f"{ME}.json").unlink()
    (folder / f"{ME}.json").mkdir()
    assert "is not a regular file" in (SeenSessions(str(folder)).read().unread or "")


def test_keys_stay_shut(folder: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is opened but records, and nothing in the folder changes."""
    write()
    key = folder / f"{ME}.0123abcd.key"
    key.write_text("secret")
    before = {entry.name: entry.stat().st_mtime_ns for entry in os.scandir(folder)}
    opened: list[str] = []

    def read(path: str, most: int) -> bytes:
        opened.append(path)
        return b""

    monkeypatch.setattr(module, "read_bounded", read)
    SeenSessions(str(folder)).read()
    assert opened == [str(folder / f"{ME}.json")]
    assert {entry.name: entry.stat().st_mtime_ns for entry in os.scandir(folder)} == before


def test_change_is_seen_at_once(folder: Path, write: Write) -> None:
    """Every call sees the files as they are then, and the signature changes with them."""
    store = SeenSessions(str(folder))
    states, signatures = [], [store.signature()]
    for status in ("idle", "busy", "idle", "busy"):
        write(status=status)
        states += [session.state.value for session in store.read().sessions]
        signatures.append(store.signature())
    (folder / f"{ME}.json").unlink()
    assert store.read().sessions == ()
    assert states == ["idle", "busy", "idle", "busy"]
    assert all(one != after for one, after in zip(signatures, [*signatures[1:], store.signature()], strict=True))


def test_unchanged_record_is_not_read_again(folder: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settled record is parsed once."""
    os.utime(write(), (0, 0))
    monkeypatch.setattr(stat_cache, "any_young", lambda stamps: False)
    store = SeenSessions(str(folder))
    first = store.read()
    monkeypatch.setattr(module, "read_bounded", None)
    assert store.read() == first


def test_absent_folder(tmp_path: Path) -> None:
    """No folder means that no such client was ever run: nothing, and nothing unread."""
    assert sessions(tmp_path / "none") == ()


def test_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    """A folder that is there and cannot be listed is unread, with the reason, and not empty."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    found = SeenSessions(str(loop)).read()
    assert found.sessions == ()
    assert found.unread is not None
    assert "cannot be listed" in found.unread


def test_more_records_than_are_read(folder: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with more records than are read says so."""
    monkeypatch.setattr(module, "MOST_RECORDS", 1)
    write()
    write(1, procStart="x")
    found = SeenSessions(str(folder)).read()
    assert found.unread is not None
    assert "more than 1 records" in found.unread


def test_where_the_folder_is() -> None:
    """The folder is the client's own: CLAUDE_CONFIG_DIR, else .claude in the home."""
    assert seen_folder({"CLAUDE_CONFIG_DIR": "/etc/claude"}) == "/etc/claude/sessions"
    assert seen_folder({"HOME": "/home/ada"}) == "/home/ada/.claude/sessions"
    assert seen_folder({"CLAUDE_CONFIG_DIR": "", "HOME": "/home/ada"}) == "/home/ada/.claude/sessions"


def test_belonging(folder: Path, write: Write, other: subprocess.Popen[bytes], tmp_path: Path) -> None:
    """A session belongs to the deepest checkout that holds its folder, through links on either side."""
    inner = tmp_path / "repo/wt/a"
    (inner / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(inner)
    (tmp_path / "named").symlink_to(tmp_path / "repo")
    write(cwd=str(tmp_path / "link/src"))
    write(other.pid, cwd=str(tmp_path / "repox"))
    found = group_by_checkout(SeenSessions(str(folder)).read(), [str(tmp_path / "named"), str(inner)])
    assert {checkout: [one.pid for one in there] for checkout, there in found.items()} == {
        str(inner): [ME],
        None: [other.pid],
    }


VALUES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.builds(list)
)
NAMES = ["pid", "sessionId", "cwd", "startedAt", "procStart", "pidDomain", "status", "name"]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_any_values(folder: Path, write: Write, told: dict[str, Any]) -> None:
    """Whatever a record holds, reading and placing it raises nothing."""
    write(file=f"{ME}.json", **told)
    group_by_checkout(SeenSessions(str(folder)).read(), [str(folder.parent)])
