from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brief.clones import entries
from brief.clones.entries import Entry, Listed, read_entries
from brief.core.model.wire import to_json
from brief.core.text.sanitize import to_wire
from brief.fastpath.lease import socket_name
from neighbourhood import entry, listed, listening, silent
from sandbox import Lab


@pytest.fixture
def folder(lab: Lab) -> Path:
    """The folder of entries, which does not exist yet."""
    return lab.runtime / "servers"


@pytest.fixture
def ended(lab: Lab) -> Entry:
    """The entry of a server whose process has ended and on whose socket nobody listens."""
    made = entry(lab.runtime)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left_behind:
        left_behind.bind(made.socket)
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    return made.replace(pid=process.pid)


def test_no_folder_means_no_server(folder: Path) -> None:
    """Before the first server there is no folder, which is not a fault."""
    assert read_entries(str(folder)) == entries.Listed((), ())


def test_servers_are_listed_the_oldest_first(lab: Lab, folder: Path) -> None:
    """An entry is read as it was written; a file that is still being written is skipped."""
    made = [entry(lab.runtime, f"clone{number}", epoch=number) for number in (20, 3)]
    for each in made:
        listed(lab.runtime, each)
    (folder / "7.json").touch()
    (folder / ".9.json.x1").write_text("{")
    assert read_entries(str(folder)) == entries.Listed((made[1], made[0]), ())


def test_a_newer_server_may_say_more(lab: Lab, folder: Path) -> None:
    """Unknown fields of a newer version are ignored; an older entry has neither root nor root commits."""
    made = entry(lab.runtime)
    told = json.loads(to_json(made)) | {"mood": "fine"}
    del told["root"], told["root_commits"]
    listed(lab.runtime, made).write_text(json.dumps(told))
    assert read_entries(str(folder)).entries == (made.replace(root=None, root_commits=None),)


def test_an_entry_that_was_never_written_is_removed(folder: Path) -> None:
    """A server killed while it wrote its entry leaves an empty file, removed once it is old or dated ahead."""
    young, old, ahead = folder / "1.json", folder / "2.json", folder / "3.json"
    folder.mkdir()
    for path in (young, old, ahead):
        path.touch()
    os.utime(old, (0, 0))
    os.utime(ahead, (4_000_000_000, 4_000_000_000))
    assert read_entries(str(folder)) == entries.Listed((), ())
    assert (young.exists(), old.exists(), ahead.exists()) == (True, False, False)


@pytest.mark.parametrize("socket_is_left", [True, False])
def test_a_stale_entry_is_removed(lab: Lab, folder: Path, ended: Entry, socket_is_left: bool) -> None:
    """If the process is gone and nobody listens, any reader removes the entry, and nothing else."""
    path = listed(lab.runtime, ended)
    if not socket_is_left:
        os.unlink(ended.socket)
    assert read_entries(str(folder)) == entries.Listed((), ())
    assert not path.exists()
    assert os.path.lexists(ended.socket) is socket_is_left


def test_a_running_server_that_does_not_listen_is_kept(lab: Lab, folder: Path) -> None:
    """A process that still runs may be ending or starting: only it may remove its entry."""
    made = entry(lab.runtime)
    listed(lab.runtime, made)
    assert read_entries(str(folder)).entries == (made,)


def test_a_server_whose_process_is_not_seen_is_kept(lab: Lab, folder: Path, ended: Entry) -> None:
    """A server that listens is alive, even if its process id means nothing here, as from another container."""
    os.unlink(ended.socket)
    listed(lab.runtime, ended)
    with listening(ended, silent):
        assert read_entries(str(folder)).entries == (ended,)


def test_only_the_entry_that_was_seen_is_removed(
    lab: Lab, folder: Path, ended: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that was rewritten between reading and removing stays."""
    path = listed(lab.runtime, ended)
    judged = entries.is_gone

    def replaced_meanwhile(stale: Entry) -> bool:
        path.with_name("new").write_text(to_json(entry(lab.runtime)))
        path.with_name("new").rename(path)
        return judged(stale)

    monkeypatch.setattr(entries, "is_gone", replaced_meanwhile)
    read_entries(str(folder))
    assert path.exists()


HOSTILE: dict[str, Callable[[Path, Entry], object]] = {
    "garbage": lambda path, _: path.write_bytes(b"\x00\xff{"),
    "no object": lambda path, _: path.write_text("[1]"),
    "deep": lambda path, _: path.write_text("[" * 30_000),
    "huge": lambda path, made: path.write_text(to_json(made) + " " * 70_000),
    "a link": lambda path, _: path.symlink_to("/dev/zero"),
    "a fifo": lambda path, _: os.mkfifo(path),
    "a folder": lambda path, _: path.mkdir(),
    "another schema": lambda path, made: path.write_text(to_json(made).replace("server/v1", "server/v2")),
    "a relative socket": lambda path, made: path.write_text(to_json(made).replace(made.socket, "x.sock")),
    "a NUL in the socket": lambda path, made: path.write_text(to_json(made).replace(".sock", "\\u0000")),
    "a text for an epoch": lambda path, made: path.write_text(
        to_json(made).replace(f"{made.epoch},", f'"{made.epoch}",')
    ),
    "no name of a commit": lambda path, made: path.write_text(to_json(made).replace("aaaa", "zzzz")),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_no_entry_is_named(lab: Lab, folder: Path, case: str) -> None:
    """A file that is not an entry is named, left alone, and hides no entry beside it."""
    good = entry(lab.runtime, "good")
    listed(lab.runtime, good)
    bad = folder / "1.json"
    HOSTILE[case](bad, entry(lab.runtime, "bad"))
    found = read_entries(str(folder))
    assert found.entries == (good,)
    assert len(found.faults) == 1
    assert str(bad) in found.faults[0]
    assert "remove it" in found.faults[0]
    assert os.path.lexists(bad)


@pytest.mark.parametrize(
    "name", ["agent.sock", "sub/{}", "{}"], ids=["an agent", "another folder", "another repository"]
)
def test_an_entry_may_name_no_socket_but_its_own(lab: Lab, folder: Path, ended: Entry, name: str) -> None:
    """An entry with a foreign socket is a fault, and nobody connects there, not even to see who listens."""
    path = listed(lab.runtime, ended)
    own = Path(ended.socket).name
    theirs = lab.runtime / name.format(own if "/" in name else f"{'0' * 12}-{ended.epoch}.sock")
    theirs.parent.mkdir(exist_ok=True)
    path.write_text(to_json(ended.replace(socket=str(theirs))))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(theirs))
        listener.listen()
        listener.settimeout(0)
        found = read_entries(str(folder))
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert found.entries == ()
    assert "its socket is not the one of its repository and epoch" in found.faults[0]
    assert path.exists()


def test_an_entry_of_a_path_that_is_no_text(lab: Lab, folder: Path) -> None:
    """A git folder whose name is not UTF-8 is escaped in the entry, and its socket is still recognized."""
    common_dir = os.fsdecode(b"/r\xe9po/.git")
    made = entry(lab.runtime, common_dir=to_wire(common_dir))
    spelled = made.replace(socket=f"{lab.runtime}/{socket_name(common_dir, made.epoch)}")
    listed(lab.runtime, spelled)
    assert read_entries(str(folder)) == Listed((spelled,), ())


FOREIGN = 54_321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a file another user's")


@needs_root
def test_another_users_entry_is_not_taken(lab: Lab, folder: Path) -> None:
    """A file of somebody else is named, with its owner."""
    path = listed(lab.runtime, entry(lab.runtime))
    os.chown(path, FOREIGN, FOREIGN)
    found = read_entries(str(folder))
    assert found.entries == ()
    assert f"belongs to uid {FOREIGN}" in found.faults[0]
    assert path.exists()


def test_an_entry_that_others_may_write_is_not_taken(lab: Lab, folder: Path) -> None:
    """An entry that others may write to is refused, since they could name a socket of theirs."""
    path = listed(lab.runtime, entry(lab.runtime))
    path.chmod(0o666)
    found = read_entries(str(folder))
    assert found.entries == ()
    assert "can be written by others (mode 0666)" in found.faults[0]


@pytest.mark.parametrize("how", ["link", "wide", pytest.param("foreign", marks=needs_root)])
def test_a_folder_that_may_be_anothers_is_not_read(lab: Lab, folder: Path, ended: Entry, how: str) -> None:
    """In a folder that may be somebody else's nothing is taken for an entry or removed, and the fault is reported."""
    path = listed(lab.runtime, ended)
    if how == "link":
        folder.rename(lab.base / "elsewhere")
        folder.symlink_to(lab.base / "elsewhere")
    elif how == "wide":
        folder.chmod(0o777)
    else:
        os.chown(folder, FOREIGN, FOREIGN)
    found = read_entries(str(folder))
    assert found.entries == ()
    assert f"other servers cannot be found: {folder} " in found.faults[0]
    assert path.exists()


def test_only_names_of_entries_are_removed(folder: Path) -> None:
    """An old empty file with a name that servers do not use is left alone and reported."""
    folder.mkdir(mode=0o700)
    (folder / "letter.json").touch()
    os.utime(folder / "letter.json", (0, 0))
    assert "servers do not use such a name" in read_entries(str(folder)).faults[0]
    assert (folder / "letter.json").exists()


def test_a_flood_of_entries_is_bounded(lab: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most so many entries are read, and the rest is reported."""
    monkeypatch.setattr(entries, "MOST_ENTRIES", 2)
    for number in range(1, 4):
        listed(lab.runtime, entry(lab.runtime, epoch=number))
    found = read_entries(str(folder))
    assert len(found.entries) == 2
    assert "has 3 entries, of which 2 were read" in found.faults[0]


def test_a_folder_that_is_none_is_told(folder: Path) -> None:
    """A file in place of the folder is a fault, not an empty machine."""
    folder.touch()
    assert f"{folder} is not a folder" in read_entries(str(folder)).faults[0]
