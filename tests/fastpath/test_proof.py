from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from brief.fastpath.lease import ForeignFolderError, NoServerError, read_lease
from brief.fastpath.locate import Located
from brief.fastpath.proof import UnprovenError, accepted, check_git_folder, open_file, open_folder, read_file
from brief.fastpath.statusline import last_known, line_file
from hostile import FOREIGN, FORM_PARAMS, FORMS, needs_root, widen
from impostor import socket_of, write_lease
from sandbox import Lab


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of ours in a folder of ours."""
    (tmp_path / "folder").mkdir(mode=0o700)
    made = tmp_path / "folder/file"
    made.write_text("content")
    made.chmod(0o600)
    return made


def test_what_is_ours_is_read(file: Path) -> None:
    """At most this many bytes are read, and a missing file is reported as missing."""
    assert read_file(str(file.parent), "file", 4) == b"cont"
    with pytest.raises(FileNotFoundError):
        read_file(str(file.parent), "none", 4)
    with pytest.raises(FileNotFoundError):
        read_file(str(file.parent / "none"), "none", 4)


@pytest.mark.parametrize("form", FORM_PARAMS)
@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_may_be_anothers_is_not_read(file: Path, which: str, form: str, tmp_path: Path) -> None:
    """A file or its folder in any hostile form is refused at once, and the sentence names it."""
    victim = file if which == "file" else file.parent
    FORMS[form](victim, tmp_path / "elsewhere")
    with pytest.raises(UnprovenError, match=f"{victim} (is|belongs)"):
        read_file(str(file.parent), "file", 100)


@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_others_may_write_is_not_read(file: Path, which: str) -> None:
    """Until its mode is mended, which only who writes does."""
    victim = file if which == "file" else file.parent
    widen(victim)
    with pytest.raises(UnprovenError, match=r"can be written by others \(mode 0(666|777)\).* run chmod go-w"):
        read_file(str(file.parent), "file", 100)
    opened = open_file(str(file), tighten=True) if which == "file" else open_folder(str(file.parent), tighten=True)
    os.close(opened)
    assert stat.S_IMODE(victim.stat().st_mode) == (0o600 if which == "file" else 0o700)
    assert read_file(str(file.parent), "file", 100) == b"content"


def test_what_has_another_name_is_not_written(file: Path, tmp_path: Path) -> None:
    """A write, and a mode that is mended, would reach whatever else a hard link names; reading does no harm."""
    os.link(file, tmp_path / "elsewhere")
    widen(file)
    for flags in (os.O_RDWR, os.O_WRONLY | os.O_APPEND | os.O_CREAT):
        with pytest.raises(UnprovenError, match=rf"{file} has 2 names \(hard links\)"):
            open_file(str(file), flags=flags, tighten=True)
    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o666
    file.chmod(0o600)
    assert read_file(str(file.parent), "file", 100) == b"content"


def test_no_descriptor_is_left_open(file: Path, tmp_path: Path) -> None:
    """No descriptor stays open, neither of a file that is read nor of one that is refused."""
    before = set(os.listdir("/proc/self/fd"))
    os.link(file, tmp_path / "elsewhere")
    with pytest.raises(UnprovenError):
        open_file(str(file), flags=os.O_RDWR)
    (tmp_path / "elsewhere").unlink()
    read_file(str(file.parent), "file", 100)
    widen(file)
    with pytest.raises(UnprovenError):
        read_file(str(file.parent), "file", 100)
    assert set(os.listdir("/proc/self/fd")) == before


@needs_root
def test_the_git_folder_of_another_user(tmp_path: Path) -> None:
    """It passes once git was asked and accepts it."""
    os.chown(tmp_path, FOREIGN, FOREIGN)
    with pytest.raises(UnprovenError, match=r"safe\.directory"):
        check_git_folder(str(tmp_path))
    accepted.add(str(tmp_path))
    try:
        check_git_folder(str(tmp_path))
    finally:
        accepted.discard(str(tmp_path))


# ---------------------------------------------------------------- what the fast path reads


@pytest.mark.parametrize("form", FORM_PARAMS)
@pytest.mark.parametrize("name", ["", "lease.json"])
def test_no_lease_of_others_is_believed(lab: Lab, name: str, form: str) -> None:
    """If the lease or its folder may be another user's, no server is asked, and the reason says so."""
    write_lease(lab.common_dir, socket_of(lab))
    FORMS[form](lab.state / name, lab.base / "elsewhere")
    with pytest.raises(NoServerError, match=f"no server is asked: {lab.state}"):
        read_lease(lab.common_dir)


@needs_root
def test_no_server_is_asked_in_a_git_folder_of_another_user(lab: Lab) -> None:
    """A planted `.git` brings its own lease; the fast path decides by the owner alone."""
    write_lease(lab.common_dir, socket_of(lab))
    os.chown(lab.common_dir, FOREIGN, FOREIGN)
    with pytest.raises(ForeignFolderError, match=f"belongs to uid {FOREIGN}"):
        read_lease(lab.common_dir)


@pytest.mark.parametrize("form", FORM_PARAMS)
@pytest.mark.parametrize("name", ["", "lines", "lines/primary"])
def test_no_line_of_others_is_printed(lab: Lab, name: str, form: str) -> None:
    """If the stored line or a folder on the way to it may be another user's, no line is known."""
    here = Located(str(lab.repo), lab.common_dir, lab.common_dir)
    path = Path(line_file(here, None))
    path.parent.mkdir(parents=True, mode=0o700)
    lab.state.chmod(0o700)
    path.write_text("kept\n")
    assert last_known(here, None, path.stat().st_mtime, None) == "no answer, as of just now · kept"
    FORMS[form](lab.state / name, lab.base / "elsewhere")
    assert last_known(here, None, 0.0, None) is None
