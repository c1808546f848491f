from __future__ import annotations

import os
from pathlib import Path

import pytest

from brief.core.notices.notice import Notice
from brief.notices.archiving import Archived, archive, move
from brief.notices.folder_lock import NoticeError
from racing import race
from sandbox import Lab


def put(folder: Path, slug: str, text: str = "") -> Path:
    """A notice in `active/`."""
    path = folder / f"active/{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nkind: alert\n---\n{text or slug}")
    return path


def texts(folder: Path) -> dict[str, str]:
    """The last line of every file in `active/` and `archive/`."""
    return {f"{path.parent.name}/{path.stem}": path.read_text().rpartition("\n")[2] for path in folder.glob("a*/*.md")}


def test_a_notice_is_moved_once(tmp_path: Path) -> None:
    """Only those that are named; doing it again does nothing."""
    for slug in "abc":
        put(tmp_path, slug)
    folder = str(tmp_path)
    assert archive(folder, {"a", "b", "gone", "../x"}) == Archived(("a", "b"))
    assert texts(tmp_path) == {"archive/a": "a", "archive/b": "b", "active/c": "c"}
    assert archive(folder, {"a", "b"}) == Archived(())


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    """What lies in the archive stays, whatever it is."""
    for text in ("one", "two", "three"):
        put(tmp_path, "a", text)
        assert archive(str(tmp_path), {"a"}) == Archived(("a",))
    (tmp_path / "archive/b.md").mkdir()
    put(tmp_path, "b", "four")
    archive(str(tmp_path), {"b"})
    (tmp_path / "archive/b.md").rmdir()
    assert texts(tmp_path) == {"archive/a": "one", "archive/a-2": "two", "archive/a-3": "three", "archive/b-2": "four"}


def test_a_newer_notice_of_the_name_stays(tmp_path: Path) -> None:
    """Whether it is over is asked of what lies there now; what cannot be read is not said to be over."""

    def is_over(notice: Notice) -> bool:
        return notice.body == "old"

    put(tmp_path, "old", "old")
    put(tmp_path, "new", "new")
    put(tmp_path, "broken").write_text("---\nkind: [\n---\nold")
    assert archive(str(tmp_path), {"old", "new", "broken"}, is_over) == Archived(("old",))
    assert archive(str(tmp_path), {"broken"}) == Archived(("broken",))


def test_nothing_moves_in_a_tracked_folder(lab: Lab) -> None:
    """A brief must not make a checkout dirty, unless the policy says that it may."""
    folder = lab.repo / "notices"
    put(folder, "a")
    lab.git("add", "notices")
    told = archive(str(folder), {"a"})
    assert told == Archived((), f"{folder} is tracked by git, and alerts.archive_tracked is off")
    assert archive(str(folder), {"a"}, even_tracked=True) == Archived(("a",))


def test_a_git_that_fails_moves_nothing(lab: Lab) -> None:
    """Where nobody knows whether a folder is tracked, it may be."""
    folder = lab.repo / "notices"
    put(folder, "a")
    (lab.repo / ".git/index").write_bytes(b"rubbish")
    told = archive(str(folder), {"a"})
    assert told.slugs == ()
    assert told.reason is not None
    assert "git ls-files failed" in told.reason


def test_a_folder_that_cannot_be_written_keeps_its_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only disk, a file in place of the archive, an archive that leads out: a reason, and nothing moved."""
    path = put(tmp_path / "n", "a")
    (tmp_path / "n/archive").touch()
    assert "File exists" in (archive(str(tmp_path / "n"), {"a"}).reason or "")
    (tmp_path / "n/archive").unlink()
    (tmp_path / "n/archive").symlink_to(tmp_path)
    told = archive(str(tmp_path / "n"), {"a"})
    assert told.reason == f"{tmp_path}/n: its folder archive is a link, and links are not followed for writing"
    (tmp_path / "n/archive").unlink()

    def read_only(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "rename", read_only)
    assert "Read-only file system" in (archive(str(tmp_path / "n"), {"a"}).reason or "")
    assert path.exists()
    assert list((tmp_path / "n/archive").iterdir()) == []


def test_a_file_that_went_away_is_a_lost_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is moved, and the name in the archive is free again."""
    path = put(tmp_path, "a")
    rename = os.rename

    def too_late(source: str, target: str) -> None:
        path.unlink()
        rename(source, target)

    monkeypatch.setattr(os, "rename", too_late)
    assert move(str(tmp_path), str(path)) is None
    assert move(str(tmp_path), str(path)) is None
    assert list((tmp_path / "archive").iterdir()) == []


def test_a_name_that_leaves_no_room_for_a_number_is_told(tmp_path: Path) -> None:
    """The notice stays where it is, and the reason is the system's."""
    (tmp_path / "archive").mkdir()
    name = "x" * 252
    (tmp_path / f"archive/{name}.md").touch()
    put(tmp_path, name)
    with pytest.raises(NoticeError, match="File name too long"):
        move(str(tmp_path), str(tmp_path / f"active/{name}.md"))
    assert (tmp_path / f"active/{name}.md").exists()


def test_two_hundred_processes_lose_nothing(tmp_path: Path) -> None:
    """All archive one folder at once: each notice is in the archive, whole, once, and one process says that it moved it."""
    for number in range(100):
        put(tmp_path, f"n{number:03}")
    work = """
from brief.notices.archiving import archive
def work(number, folder):
    return archive(folder, {f"n{each:03}" for each in range(100)}).slugs
"""
    moved = [slug for slugs in race(200, work, str(tmp_path)) for slug in slugs]
    assert sorted(moved) == [f"n{number:03}" for number in range(100)]
    assert texts(tmp_path) == {f"archive/n{number:03}": f"n{number:03}" for number in range(100)}


def test_nothing_is_lost_even_without_turns(tmp_path: Path) -> None:
    """A rename over a name of one's own loses no notice, even where processes do not wait for each other."""
    for number in range(50):
        put(tmp_path, f"n{number:03}")
    work = """
import os
from brief.notices.archiving import move
def work(number, folder):
    slugs = [f"n{each:03}" for each in range(50)]
    return [slug for slug in slugs if move(folder, f"{folder}/active/{slug}.md")]
"""
    moved = [slug for slugs in race(50, work, str(tmp_path)) for slug in slugs]
    assert sorted(moved) == [f"n{number:03}" for number in range(50)]
    assert sorted(texts(tmp_path).values()) == sorted(moved)


def test_archiving_and_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    """While some write notices of one title, others archive them: in the end every one of them is somewhere."""
    work = """
from datetime import datetime, UTC
from brief.notices.archiving import archive
from brief.notices.folder import list_folder
from brief.notices.writing import create_notice
def work(number, folder):
    if number % 2:
        return [archive(folder, {file.slug for file in list_folder(folder).files}).reason for _ in range(5)]
    return [create_notice(folder, {"title": "twin"}, f"{number} {each}", datetime.now(UTC)) is None for each in range(5)]
"""
    assert {one for each in race(40, work, str(tmp_path)) for one in each} <= {None, False}
    expected = sorted(f"{number} {each}" for number in range(0, 40, 2) for each in range(5))
    assert sorted(texts(tmp_path).values()) == expected
