from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from brief.core.model.errors import RuntimeFolderError
from brief.fastpath.lease import socket_name
from brief.server.runtime import SOCKET_PATH_BYTES, runtime_folder, sweep
from neighbourhood import entry, listed
from sandbox import Lab
from serving import python

NAME = socket_name("/repo/.git", 1_800_000_000_000)


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path, which only its user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="mj", dir="/tmp")).resolve()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def temporary(short: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, for this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(short))
    return short


def _runtime(given: object) -> Path:
    return runtime_folder({"XDG_RUNTIME_DIR": str(given)}, NAME)


def _foreign(folder: Path) -> Path:
    """A folder of somebody else: root can give one away, and to others the root folder belongs to root."""
    if os.geteuid() != 0:
        return Path("/")
    folder.mkdir()
    os.chown(folder, 12_345, -1)
    return folder


def test_the_folder_is_made_for_its_user_alone(short: Path) -> None:
    """If XDG_RUNTIME_DIR is usable, the folder in it has mode 0700, and the next call returns the same folder."""
    folder = _runtime(short)
    assert (folder, stat.S_IMODE(folder.stat().st_mode)) == (short / "majordomus", 0o700)
    assert _runtime(short) == folder


@pytest.mark.parametrize("given", ["", "relative/folder", "/nowhere/at/all"])
def test_what_names_no_folder_is_passed_over(given: str, temporary: Path) -> None:
    """An XDG_RUNTIME_DIR that is empty, relative or missing leads to a folder of ours under the temporary folder."""
    assert _runtime(given) == temporary / f"majordomus-{os.getuid()}" / "majordomus"


def test_without_the_variable_there_is_a_folder_too(temporary: Path) -> None:
    """Both folders that are made under the temporary folder have mode 0700."""
    folder = runtime_folder({}, NAME)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, folder.parent)] == [0o700, 0o700]
    assert folder.is_relative_to(temporary)


def test_a_path_too_long_for_a_socket_is_passed_over(short: Path, temporary: Path) -> None:
    """If the socket's path would exceed 104 bytes, the temporary folder is used."""
    long = short / ("d" * SOCKET_PATH_BYTES)
    long.mkdir(mode=0o700)
    folder = _runtime(long)
    assert folder.is_relative_to(temporary)
    assert len(os.fsencode(folder / NAME)) <= SOCKET_PATH_BYTES


def test_a_path_of_exactly_the_limit_fits(short: Path) -> None:
    """104 bytes are not too many, counted in bytes and not in characters."""
    room = SOCKET_PATH_BYTES - len(os.fsencode(short / "majordomus" / NAME)) - 1
    fitting = short / ("é" + "d" * (room - 2))
    fitting.mkdir(mode=0o700)
    folder = _runtime(fitting)
    assert len(os.fsencode(folder / NAME)) == SOCKET_PATH_BYTES
    assert folder.is_relative_to(fitting)


def test_no_room_anywhere_is_told(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary folder too deep for a socket is a fault that says what to set."""
    monkeypatch.setattr(tempfile, "tempdir", str(short / ("d" * SOCKET_PATH_BYTES)))
    with pytest.raises(RuntimeFolderError, match=r"too long a path .* set XDG_RUNTIME_DIR to a shorter one"):
        runtime_folder({}, NAME)


def test_a_runtime_folder_of_somebody_else_is_refused(short: Path) -> None:
    """A socket is never put where another user could take its place."""
    with pytest.raises(RuntimeFolderError, match=r"belongs to uid \d+, not to you"):
        _runtime(_foreign(short / "given"))


def test_our_folder_owned_by_somebody_else_is_refused(temporary: Path) -> None:
    """A folder of our name that somebody made before us is not taken."""
    base = temporary / f"majordomus-{os.getuid()}"
    if os.geteuid() == 0:
        _foreign(base)
        told = r"belongs to uid 12345"
    else:
        base.symlink_to("/")
        told = r"is a link"
    with pytest.raises(RuntimeFolderError, match=told):
        runtime_folder({}, NAME)


@pytest.mark.parametrize("where", ["given", "ours"])
def test_a_link_is_refused(where: str, short: Path) -> None:
    """The target of a link may change after the check, so no link is followed."""
    (short / "real").mkdir(mode=0o700)
    given = short / "given"
    if where == "given":
        given.symlink_to(short / "real")
    else:
        given.mkdir(mode=0o700)
        (given / "majordomus").symlink_to(short / "real")
    with pytest.raises(RuntimeFolderError, match="is a link"):
        _runtime(given)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o701])
def test_our_folder_open_to_others_is_refused(mode: int, short: Path) -> None:
    """The sentence names the mode that was found and the command that mends it."""
    (short / "majordomus").mkdir()
    (short / "majordomus").chmod(mode)
    with pytest.raises(RuntimeFolderError, match=rf"mode {mode:o}.*chmod 700"):
        _runtime(short)


def test_a_runtime_folder_that_others_may_write_is_refused(short: Path) -> None:
    """Anybody who may write into XDG_RUNTIME_DIR could put a folder in place of ours."""
    short.chmod(0o777)
    with pytest.raises(RuntimeFolderError, match="chmod go-w"):
        _runtime(short)


@pytest.mark.parametrize("where", ["given", "ours"])
def test_a_file_in_the_way_is_told(where: str, short: Path) -> None:
    """A file where a folder should be is named, with what to do."""
    given = short / "given"
    if where == "given":
        given.touch(mode=0o600)
    else:
        given.mkdir(mode=0o700)
        (given / "majordomus").touch(mode=0o600)
    with pytest.raises(RuntimeFolderError, match="is not a folder; remove it"):
        _runtime(given)


def test_a_folder_that_cannot_be_made_is_told(temporary: Path) -> None:
    """If nothing can be created, the sentence says why."""
    temporary.rmdir()
    with pytest.raises(RuntimeFolderError, match=r"cannot be created \(No such file"):
        runtime_folder({}, NAME)


def test_the_name_of_a_socket_is_its_repository_and_its_epoch() -> None:
    """Two repositories, and two epochs of one, never share a socket; a name may hold bytes that are not UTF-8."""
    names = {socket_name(place, epoch) for place in ("/a", "/b", os.fsdecode(b"/\xff")) for epoch in (1, 2)}
    assert len(names) == 6


def test_sockets_of_killed_servers_are_swept(short: Path) -> None:
    """Those of this repository at which nobody listens go; who is superseded, and other repositories, keep theirs."""
    dead, alive, other = (short / socket_name(*of) for of in (("/a", 1), ("/a", 2), ("/b", 1)))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(alive))
        listener.listen()
        for path in (dead, other):
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(str(path))
        sweep(short, "/a")
    assert sorted(short.iterdir()) == sorted((alive, other))


def test_what_may_be_served_is_not_swept(short: Path) -> None:
    """A stopped server with a full backlog does not count as dead, and a file does not count as a socket."""
    full, file = short / socket_name("/a", 1), short / socket_name("/a", 2)
    file.write_text("no socket")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as caller:
        listener.bind(str(full))
        listener.listen(0)
        caller.connect(str(full))
        sweep(short, "/a")
    assert sorted(short.iterdir()) == sorted((full, file))


def test_entries_of_killed_servers_are_swept(lab: Lab) -> None:
    """An entry goes whose server is gone, of whatever repository, and that of a server whose process runs stays."""
    killed = python(lab, "")
    killed.wait()
    gone = listed(lab.runtime, entry(lab.runtime, "gone", pid=killed.pid))
    there = listed(lab.runtime, entry(lab.runtime, "there"))
    sweep(lab.runtime, "/a")
    assert (gone.exists(), there.exists()) == (False, True)
