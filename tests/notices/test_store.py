from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brief.core.notices.notice import LIMIT, Notice, parse
from brief.notices import store as module
from brief.notices.folder import Folder, list_folder
from brief.notices.store import NoticeSnapshot, NoticeStore
from brief.support.files import any_young, stamp_file
from sandbox import until

TEXT = "---\nkind: {kind}\npriority: {priority}\n---\n# {title}\n\nbody\n"


def write(folder: Path, slug: str, title: str = "a title", kind: str = "alert", priority: int = 5) -> Path:
    """A notice as a session would leave it."""
    path = folder / "active" / f"{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT.format(kind=kind, priority=priority, title=title))
    return path


def titles(shelf: NoticeSnapshot) -> list[tuple[str, str]]:
    """The slugs and titles of the notices."""
    return [(notice.slug, notice.title) for notice in shelf.notices]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The slugs of all notices that were parsed, in order."""
    slugs: list[str] = []

    def noted(text: bytes | str, slug: str) -> Notice:
        slugs.append(slug)
        return parse(text, slug)

    monkeypatch.setattr(module, "parse", noted)
    return slugs


def test_no_folder_is_no_notice(tmp_path: Path) -> None:
    """Absent folders are empty, and nothing is said to be unread."""
    assert NoticeStore([str(tmp_path / "a"), str(tmp_path / "b")]).read() == NoticeSnapshot((), (), ())


def test_notices_of_all_folders_come_by_slug_and_twins_are_both_kept(tmp_path: Path) -> None:
    """One slug in two folders is two notices, the earlier folder's first."""
    write(tmp_path / "own", "b", "own b")
    write(tmp_path / "own", "c")
    write(tmp_path / "tracked", "a")
    write(tmp_path / "tracked", "b", "tracked b")
    found = NoticeStore([str(tmp_path / "own"), str(tmp_path / "tracked")]).read()
    assert titles(found) == [("a", "a title"), ("b", "own b"), ("b", "tracked b"), ("c", "a title")]


def test_a_bad_file_is_named_and_costs_no_other(tmp_path: Path) -> None:
    """Each file that is no notice is named with its own reason, and all else is read."""
    write(tmp_path, "good")
    active = tmp_path / "active"
    (active / "binary.md").write_bytes(b"\xff\xfe\x00")
    (active / "empty.md").touch()
    (active / "huge.md").write_bytes(b"x" * 5_000_000)
    (active / "plain.md").write_text("no front matter\n")
    (active / "priority.md").write_text("---\npriority: eleven\n---\n")
    (active / "out.md").symlink_to("/etc/passwd")
    os.mkfifo(active / "pipe.md")
    found = NoticeStore([str(tmp_path)]).read()
    assert [notice.slug for notice in found.notices] == ["good"]
    reasons = {Path(file).name: reason for file, reason in found.unparsable}
    assert set(reasons) == {"binary.md", "empty.md", "huge.md", "plain.md", "priority.md", "out.md", "pipe.md"}
    assert reasons["huge.md"] == f"has 5,000,000 bytes, more than the limit of {LIMIT:,}"
    assert "priority" in reasons["priority.md"]
    assert reasons["out.md"] == "is a link that leads out of its folder"


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another user is named with what the system said, and read as soon as that is possible."""
    path = write(tmp_path, "secret")
    write(tmp_path, "good")
    real = os.open

    def closed(name: str, flags: int, *more: int) -> int:
        if name == str(path):
            raise PermissionError(13, "Permission denied")
        return real(name, flags, *more)

    settle(path)
    store = NoticeStore([str(tmp_path)])
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", closed)
        found = store.read()
    assert titles(found) == [("good", "a title")]
    assert found.unparsable == ((str(path), "cannot be opened: Permission denied"),)
    assert titles(store.read()) == [("good", "a title"), ("secret", "a title")]


def test_a_file_removed_before_it_is_opened_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notice archived while we read is neither shown nor called a fault."""
    path = write(tmp_path, "a")
    write(tmp_path, "b")

    def vanishing(folder: str, last: Folder | None) -> object:
        found = list_folder(folder, last)
        path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(module, "list_folder", vanishing)
    found = NoticeStore([str(tmp_path)]).read()
    assert (titles(found), found.unparsable) == ([("b", "a title")], ())


def test_names_that_are_not_utf_8_are_spelled(tmp_path: Path) -> None:
    """What is unparsable can be written as JSON whatever its name."""
    (tmp_path / "active").mkdir()
    (tmp_path / "active" / os.fsdecode(b"caf\xe9.md")).touch()
    found = NoticeStore([str(tmp_path)]).read()
    assert found.unparsable == ((f"{tmp_path}/active/caf\\xe9.md", "has a name that is not UTF-8; rename it"),)


def test_a_folder_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """One folder in trouble is named, and the others are read."""
    write(tmp_path / "good", "a")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/active").touch()
    found = NoticeStore([str(tmp_path / "good"), str(tmp_path / "bad")]).read()
    assert titles(found) == [("a", "a title")]
    assert found.folders_unread == ((str(tmp_path / "bad"), "cannot be listed: Not a directory"),)


def settle(*paths: Path) -> None:
    """Wait until the files are old enough for their stamps to be trusted."""
    until(lambda: not any_young(stamp_file(str(path)) for path in paths))


def test_an_unchanged_file_is_never_opened_again(tmp_path: Path, parsed: list[str]) -> None:
    """Of 500 notices one changed is one parsed; bad ones are kept as well."""
    paths = [write(tmp_path, f"n{number:03}") for number in range(500)]
    bad = tmp_path / "active/bad.md"
    bad.write_text("no front matter\n")
    settle(*paths, bad)
    store = NoticeStore([str(tmp_path)])
    first = store.read()
    assert len(first.notices) == 500
    assert len(parsed) == 501
    assert store.read() == first
    write(tmp_path, "n007", "another title")
    assert ("n007", "another title") in titles(store.read())
    assert parsed[501:] == ["n007"]


def test_every_change_is_read_and_changes_the_signature(tmp_path: Path) -> None:
    """Written in place, replaced, added, removed, renamed, turned into a link: each is seen at once, by both."""
    store = NoticeStore([str(tmp_path)])
    one = write(tmp_path, "one", "first")
    settle(one)
    signatures = [store.read_signed()[0]]

    def seen() -> list[tuple[str, str]]:
        signatures.append(store.read_signed()[0])
        assert store.read_signed()[0] == signatures[-1]
        return titles(store.read())

    assert titles(store.read()) == [("one", "first")]
    write(tmp_path, "one", "other")
    assert seen() == [("one", "other")]
    replacement = tmp_path / "new"
    replacement.write_text(TEXT.format(kind="alert", priority=5, title="third"))
    os.utime(replacement, ns=(one.stat().st_atime_ns, one.stat().st_mtime_ns))
    replacement.rename(one)
    assert seen() == [("one", "third")]
    two = write(tmp_path, "two")
    assert seen() == [("one", "third"), ("two", "a title")]
    two.rename(two.with_name("three.md"))
    assert seen() == [("one", "third"), ("three", "a title")]
    one.unlink()
    one.symlink_to("three.md")
    assert seen() == [("one", "a title"), ("three", "a title")]
    write(tmp_path, "three", "by link")
    assert seen() == [("one", "by link"), ("three", "by link")]
    one.unlink()
    assert seen() == [("three", "by link")]
    assert len(set(signatures)) == len(signatures)


def test_the_signature_stays_while_nothing_changes(tmp_path: Path) -> None:
    """Reading, and time, change no signature; a folder that becomes unreadable does."""
    path = write(tmp_path, "one")
    store = NoticeStore([str(tmp_path)])
    first = store.read_signed()[0]
    store.read()
    settle(path)
    assert store.read_signed()[0] == first
    assert hash(store.read_signed()[0]) == hash(first)
    path.unlink()
    path.parent.rmdir()
    path.parent.touch()
    assert store.read_signed()[0] != first


def test_texts_written_faster_than_the_clock_ticks_are_each_read(tmp_path: Path) -> None:
    """A text of the same length in the same file, an instant later, is not taken for the old one."""
    store = NoticeStore([str(tmp_path)])
    for number in range(100):
        write(tmp_path, "one", f"title {number % 10}")
        assert titles(store.read()) == [("one", f"title {number % 10}")]


def test_many_readers_see_the_same(tmp_path: Path) -> None:
    """Readers at the same time are each answered in full."""
    paths = [write(tmp_path, f"n{number:03}") for number in range(100)]
    settle(*paths)
    store = NoticeStore([str(tmp_path)])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: len(store.read().notices), range(32)))
    assert found == [100] * 32


def test_a_folder_of_many_thousands_is_bounded(tmp_path: Path) -> None:
    """A folder out of hand is read in part, and the part that was not is said."""
    active = write(tmp_path, "n").parent
    descriptor = os.open(active, os.O_RDONLY)
    try:
        for number in range(20_000):
            os.close(os.open(f"{number}.md", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    finally:
        os.close(descriptor)
    found = NoticeStore([str(tmp_path)]).read()
    assert len(found.notices) + len(found.unparsable) == 10_000
    assert found.folders_unread[0][1] == "holds 20,001 files, and 10,001 of them were not read; archive what is done"
