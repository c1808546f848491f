from __future__ import annotations

import os
from pathlib import Path

import pytest

from brief.server.owned_file import OwnedFile


def test_our_file_is_removed(tmp_path: Path) -> None:
    """A file that we created and nobody changed is removed."""
    path = tmp_path / "lease.json"
    path.touch()
    made = OwnedFile.at(path)
    assert made.is_there()
    made.remove()
    assert not path.exists()


def test_a_file_renamed_over_ours_stays(tmp_path: Path) -> None:
    """A later file of the same name is somebody else's."""
    path, other = tmp_path / "lease.json", tmp_path / "other"
    path.touch()
    made = OwnedFile.at(path)
    other.write_text("theirs")
    other.replace(path)
    made.remove()
    assert path.read_text() == "theirs"


def test_a_freed_inode_does_not_make_a_file_ours(tmp_path: Path) -> None:
    """A file system that gives our inode to somebody else's file does not make us remove it."""
    path = tmp_path / "lease.json"
    path.touch()
    made = OwnedFile.at(path)
    os.utime(path, ns=(0, made.found.st_mtime_ns + 1))
    assert not made.is_there()
    made.remove()
    assert path.exists()


@pytest.mark.parametrize("twice", [False, True])
def test_removing_what_is_gone_is_quiet(twice: bool, tmp_path: Path) -> None:
    """If others removed the file, with or without its folder, nothing fails."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "lease.json"
    path.touch()
    made = OwnedFile.at(path)
    path.unlink()
    if twice:
        folder.rmdir()
    made.remove()
    assert not made.is_there()


def test_a_link_in_our_place_is_not_followed(tmp_path: Path) -> None:
    """A link to our own file, put where it was, is not ours."""
    path, moved = tmp_path / "lease.json", tmp_path / "moved"
    path.touch()
    made = OwnedFile.at(path)
    path.rename(moved)
    path.symlink_to(moved)
    made.remove()
    assert (path.is_symlink(), moved.exists()) == (True, True)
