from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from brief.core.model.wire import to_plain
from brief.derive import lock_state as module
from brief.derive.lock_state import DeriveState, Names, read_lock
from brief.support.state_folder import UnprovenStateError

HOLDER = {
    "episode": "11111111-1111-4111-8111-111111111111",
    "pid": 4_242,
    "checkout": "/home/ada/repo",
    "command": "make schema",
    "since": "2026-01-02T03:04:05Z",
}

TAKE = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.{how}); print('taken', flush=True); input()"
LEAVE_TO_A_CHILD = """
import fcntl, os, sys
f = open(sys.argv[1], "a")
fcntl.flock(f, fcntl.LOCK_EX)
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
os.set_inheritable(f.fileno(), True)
os.close(1)
os.execvp("sleep", ["sleep", "600"])
"""


@contextmanager
def taken(folder: Path, how: str = "LOCK_EX") -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until it is told to end."""
    command = [sys.executable, "-c", TAKE.format(how=how), str(folder / "derive.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "taken\n"
        yield process
        process.kill()


def tell(folder: Path, **told: object) -> None:
    """Write derive.json."""
    (folder / "derive.json").write_text(json.dumps(told))


def ask(folder: Path) -> DeriveState:
    """The state of the lock in a folder."""
    return read_lock(str(folder))


@pytest.fixture(params=["listed by the kernel", "not listed"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs with /proc/locks, as on Linux, and without it."""
    if request.param == "not listed":
        monkeypatch.setattr(module, "_PROC_LOCKS", "/nowhere/locks")


def test_no_lock_file_is_free(tmp_path: Path) -> None:
    """If nobody ever derived, or without a state folder, the lock is free."""
    assert ask(tmp_path) == DeriveState("free")
    assert ask(tmp_path / "gone") == DeriveState("free")


@pytest.mark.usefixtures("both")
def test_a_lock_file_that_nobody_holds_is_free(tmp_path: Path) -> None:
    """The lock file stays after its holders; only the lock on it counts."""
    (tmp_path / "derive.lock").touch()
    tell(tmp_path, holder=None, waiting=0)
    assert ask(tmp_path) == DeriveState("free")


@pytest.mark.usefixtures("both")
def test_a_held_lock_names_its_holder_and_who_waits(tmp_path: Path) -> None:
    """The state names the holder, since when, its command, and how many wait."""
    with taken(tmp_path):
        tell(tmp_path, holder=HOLDER, waiting=2)
        found = ask(tmp_path)
    assert (found.state, found.waiting, found.reason) == ("held", 2, None)
    assert found.holder is not None
    assert to_plain(found.holder) == HOLDER


@pytest.mark.usefixtures("both")
def test_a_killed_holder_leaves_a_stale_name(tmp_path: Path) -> None:
    """The kernel releases a dead holder's lock at once; the name that stays is stale, with the reason."""
    with taken(tmp_path) as process:
        tell(tmp_path, holder=HOLDER, waiting=1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = ask(tmp_path)
    assert (found.state, found.waiting) == ("stale", 1)
    assert found.reason == "nobody holds derive.lock, but derive.json still names process 4242, which did not finish"


@pytest.mark.usefixtures("both")
def test_a_holder_that_has_not_said_its_name_is_still_a_holder(tmp_path: Path) -> None:
    """Between taking the lock and writing the name, the lock is held by an unknown holder."""
    with taken(tmp_path):
        found = ask(tmp_path)
        assert (found.state, found.holder) == ("held", None)
        assert found.reason == "derive.json does not name the holder yet"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"holder": {"pid": 1}}', b'{"waiting": -1}', b"\xff", b"x" * 70_000]
)
def test_an_unreadable_name_does_not_free_the_lock(tmp_path: Path, content: bytes) -> None:
    """With a damaged derive.json a held lock stays held, without a holder, and the reason says what is wrong."""
    with taken(tmp_path):
        (tmp_path / "derive.json").write_bytes(content)
        found = ask(tmp_path)
    assert (found.state, found.holder, found.waiting) == ("held", None, 0)
    assert found.reason is not None
    assert "so it is unknown who holds the lock and who waits" in found.reason


def test_a_pipe_in_place_of_the_name_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe in place of derive.json is an error and does not block."""
    (tmp_path / "derive.lock").touch()
    os.mkfifo(tmp_path / "derive.json")
    with pytest.raises(UnprovenStateError, match=r"derive\.json is not a regular file"):
        ask(tmp_path)


@pytest.mark.usefixtures("both")
def test_a_lock_left_to_a_child_is_held(tmp_path: Path) -> None:
    """A holder that ended while its child still has the lock has not released it."""
    tell(tmp_path, holder=HOLDER, waiting=0)
    command = [sys.executable, "-c", LEAVE_TO_A_CHILD, str(tmp_path / "derive.lock")]
    child = int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    try:
        assert ask(tmp_path).state == "held"
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_lock_that_the_kernel_hides_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc/locks does not show another container's lock; its holder's claim makes us try the lock."""
    (tmp_path / "locks").touch()
    monkeypatch.setattr(module, "_PROC_LOCKS", str(tmp_path / "locks"))
    tell(tmp_path, holder=HOLDER, waiting=0)
    with taken(tmp_path):
        assert ask(tmp_path).state == "held"


def test_someone_who_only_looks_is_no_holder(tmp_path: Path) -> None:
    """A shared lock is another reader's and does not count as held."""
    with taken(tmp_path, "LOCK_SH"):
        assert ask(tmp_path) == DeriveState("free")


def test_a_free_lock_is_not_touched_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the kernel lists the locks and nobody claims this one, it is never tried, so no taker is turned away."""

    def refuse(*_: object) -> None:
        raise AssertionError("the lock was tried")

    (tmp_path / "derive.lock").touch()
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert ask(tmp_path) == DeriveState("free")
    with taken(tmp_path):
        assert ask(tmp_path).state == "held"


def test_another_device_in_the_kernels_list_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems show another device in the list; the inode alone proves nothing, so the lock is tried."""
    (tmp_path / "derive.lock").touch()
    inode = (tmp_path / "derive.lock").stat().st_ino
    listed = tmp_path / "locks"
    listed.write_text(f"1: FLOCK  ADVISORY  WRITE 7 00:2f:{inode} 0 EOF\n")
    monkeypatch.setattr(module, "_PROC_LOCKS", str(listed))
    assert ask(tmp_path).state == "free"
    with taken(tmp_path):
        assert ask(tmp_path).state == "held"


def test_a_lock_taken_while_we_look_is_not_called_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that takes the lock between our two reads is seen as its holder, not its predecessor."""
    (tmp_path / "derive.lock").touch()
    tell(tmp_path, holder=HOLDER, waiting=0)
    real = module._read
    takers: list[AbstractContextManager[object]] = []

    def and_taken(path: str) -> tuple[Names, str | None]:
        seen = real(path)
        if not takers:
            takers.append(taken(tmp_path))
            takers[0].__enter__()
            tell(tmp_path, holder={**HOLDER, "pid": 777}, waiting=0)
        return seen

    monkeypatch.setattr(module, "_read", and_taken)
    found = ask(tmp_path)
    takers[0].__exit__(None, None, None)
    assert found.state == "held"
    assert found.holder is not None
    assert found.holder.pid == 777


def test_what_cannot_be_looked_at_is_a_sentence(tmp_path: Path) -> None:
    """A state folder that is not a folder is an error, not a free lock."""
    (tmp_path / "file").touch()
    with pytest.raises(UnprovenStateError, match="file is not a folder"):
        ask(tmp_path / "file")


@pytest.mark.usefixtures("both")
def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """A link in place of the lock is an error, since another file would be tried."""
    (tmp_path / "real").touch()
    (tmp_path / "derive.lock").symlink_to("real")
    tell(tmp_path, holder=HOLDER, waiting=0)
    with pytest.raises(UnprovenStateError, match=r"derive\.lock is a symbolic link"):
        ask(tmp_path)
