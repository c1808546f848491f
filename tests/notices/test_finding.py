from __future__ import annotations

import os
from pathlib import Path

import pytest

from brief.core.model.errors import ConflictError, DocumentError, NotFoundError
from brief.notices.finding import find, read_content
from brief.notices.folder_lock import NoticeError


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Two folders of notices: `a` in the first, `b` in both."""
    for folder, slugs in (("own", "ab"), ("tracked", "b")):
        (tmp_path / folder / "active").mkdir(parents=True)
        for slug in slugs:
            (tmp_path / folder / f"active/{slug}.md").write_text(f"---\nkind: alert\n---\n# {folder} {slug}\n")
    return [str(tmp_path / "own"), str(tmp_path / "tracked")]


def test_a_notice_is_found_by_slug_name_or_path(folders: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever way a person names it; a path may be relative."""
    path = f"{folders[0]}/active/a.md"
    for name in ("a", "a.md", path):
        assert find(folders, name).file.path == path
    monkeypatch.chdir(f"{folders[0]}/active")
    assert find(folders, "./a.md").folder == folders[0]


def test_two_notices_of_one_slug_are_both_named(folders: list[str]) -> None:
    """Which one is meant is asked, and its path tells."""
    with pytest.raises(
        ConflictError,
        match=r"^b may be .*/own/active/b.md and .*/tracked/active/b.md; give the path of the one you mean$",
    ):
        find(folders, "b")
    assert find(folders, f"{folders[1]}/active/b.md").folder == folders[1]


def test_what_is_not_there_is_told(folders: list[str], tmp_path: Path) -> None:
    """No name leads out of the folders; a folder that could not be read is named, since it may be there."""
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/active").touch()
    (tmp_path / "own/x.md").write_text("---\n---\n")
    for name in ("gone", "../x", "", "..", "a\0b", str(tmp_path / "own/x.md"), "/etc/passwd"):
        with pytest.raises(NotFoundError, match=r"there is no active notice .*; see majordomus alerts list"):
            find(folders, name)
    with pytest.raises(NotFoundError, match="/bad cannot be listed: Not a directory"):
        find([*folders, str(tmp_path / "bad")], "gone")


def test_content_that_cannot_be_read_is_a_sentence_with_the_path(folders: list[str], tmp_path: Path) -> None:
    """A link that leads out, a pipe, a huge file, a broken one, and one that went away."""
    active = tmp_path / "own/active"
    (active / "out.md").symlink_to("/etc/passwd")
    os.mkfifo(active / "pipe.md")
    (active / "huge.md").write_bytes(b"x" * 300_000)
    (active / "broken.md").write_text("---\nkind: [lock\n---\n")
    for slug, kind, sentence in (
        ("out", NoticeError, "/out.md is a link that leads out of its folder"),
        ("pipe", NoticeError, "/pipe.md is not a regular file"),
        ("huge", NoticeError, "/huge.md has 300,000 bytes, more than"),
        ("broken", DocumentError, "/broken.md: line 2"),
    ):
        with pytest.raises(kind, match=sentence):
            read_content(find(folders, slug).file)
    gone = find(folders, "a").file
    os.unlink(gone.path)
    with pytest.raises(NotFoundError, match=r"/a.md no longer exists: it was archived or removed meanwhile"):
        read_content(gone)
