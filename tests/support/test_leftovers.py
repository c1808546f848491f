"""Temporary files left by killed processes are removed, and nothing else."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.support.leftovers import remove_leftovers

NOW = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)


def put(folder: Path, name: str, minutes: int) -> Path:
    """A file written so many minutes ago."""
    path = folder / name
    path.touch()
    moment = NOW.timestamp() - 60 * minutes
    os.utime(path, (moment, moment))
    return path


def test_only_what_we_could_have_made_and_long_ago(tmp_path: Path) -> None:
    """Other names, recent files, links and folders stay."""
    tmp_path.chmod(0o700)
    left = [put(tmp_path, ".abcdefgh.tmp", 11), put(tmp_path, ".a_1b2c3d.tmp", 600)]
    kept = [put(tmp_path, ".abcdefg1.tmp", 9), put(tmp_path, ".notes.tmp", 600), put(tmp_path, "abcdefgh.tmp", 600)]
    kept.append(put(tmp_path, ".ABCDEFGH.tmp", 600))
    (tmp_path / ".linklink.tmp").symlink_to(kept[0])
    (tmp_path / ".folderxx.tmp").mkdir()
    assert remove_leftovers(str(tmp_path), NOW) == 2
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in kept)
    assert (tmp_path / ".linklink.tmp").is_symlink()


def test_nothing_in_a_folder_that_others_write_or_that_a_link_names(tmp_path: Path) -> None:
    """Nothing is removed in a shared folder or through a link, and a missing folder is fine."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    old = put(shared, ".abcdefgh.tmp", 600)
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    linked = put(own, ".abcdefgh.tmp", 600)
    (tmp_path / "link").symlink_to("own")
    folders = [shared, tmp_path / "link", tmp_path / "none"]
    assert [remove_leftovers(str(folder), NOW) for folder in folders] == [0, 0, 0]
    assert old.exists()
    assert linked.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a folder to another user")
def test_nothing_in_a_folder_of_another_user(tmp_path: Path) -> None:
    """Nothing is removed in another user's folder, whatever the names in it."""
    old = put(tmp_path, ".abcdefgh.tmp", 600)
    os.chown(tmp_path, 54_321, 54_321)
    assert remove_leftovers(str(tmp_path), NOW) == 0
    assert old.exists()
