"""A kill during the move of a notice leaves nothing empty or double for good."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brief.notices.half_moved import make_whole
from sandbox import Lab, until
from serving import FAST_LOOKS, SIGNAL_BEFORE, finish, leave_notice, serve

LOCK = "---\nkind: alert\nexpires: 2020-01-01\n---\n# over\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of notices."""
    for inner in ("active", "archive"):
        (tmp_path / inner).mkdir()
    return tmp_path


def test_an_empty_file_goes_and_a_whole_one_stays(folder: Path) -> None:
    """What held a name free goes from the archive, whatever else lies there."""
    (folder / "archive/held.md").touch()
    (folder / "archive/kept.md").write_text(LOCK)
    (folder / "archive/notes.txt").touch()
    (folder / "active/empty.md").touch()
    assert make_whole(str(folder)) == 1
    assert sorted(path.name for path in folder.glob("*/*")) == ["empty.md", "kept.md", "notes.txt"]


def test_a_doubled_file_stays_where_it_is_active(folder: Path) -> None:
    """One content under two names is in one place afterwards, and nothing of it is lost."""
    (folder / "active/twice.md").write_text(LOCK)
    os.link(folder / "active/twice.md", folder / "archive/twice-2.md")
    assert make_whole(str(folder)) == 1
    assert [path.name for path in folder.glob("*/*")] == ["twice.md"]
    assert (folder / "active/twice.md").read_text() == LOCK


def test_nothing_through_a_link_and_nothing_where_nothing_is(folder: Path) -> None:
    """No link is followed to remove something, and no folder is made."""
    (folder / "archive").rename(folder / "elsewhere")
    (folder / "elsewhere/held.md").touch()
    (folder / "archive").symlink_to("elsewhere")
    assert make_whole(str(folder)) == 0
    assert (folder / "elsewhere/held.md").exists()
    assert make_whole(str(folder / "none")) == 0
    assert not (folder / "none").exists()


def test_a_server_that_is_killed_while_it_archives(lab: Lab) -> None:
    """The next one archives it whole, under its own name."""
    lab.commit()
    leave_notice(lab, "over", LOCK)
    killed = serve(lab, SIGNAL_BEFORE.format(place="os:rename", number=9) + "\n" + FAST_LOOKS)
    assert finish(killed)[0] == -9
    archive = lab.state / "notices/archive"
    assert (archive / "over.md").stat().st_size == 0
    serve(lab, FAST_LOOKS)
    until(lambda: not (lab.state / "notices/active/over.md").exists())
    assert {path.name: path.read_text() for path in archive.iterdir()} == {"over.md": LOCK}
