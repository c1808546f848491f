from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from brief.support.files import UnreadableFileError, any_young, create, read_bounded, replace, stamp_file


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    """A file of exactly the limit is read, byte for byte."""
    (tmp_path / "a").write_bytes(b"\xff\x00ab")
    assert read_bounded(str(tmp_path / "a"), 4) == b"\xff\x00ab"


def test_a_file_that_is_not_there_is_told_apart(tmp_path: Path) -> None:
    """A missing file raises FileNotFoundError, so that a caller can call it empty."""
    with pytest.raises(FileNotFoundError):
        read_bounded(str(tmp_path / "a"), 4)


def test_a_file_over_the_bound_is_refused_with_both_numbers(tmp_path: Path) -> None:
    """A file over the limit is not read, and the sentence gives its size and the limit."""
    (tmp_path / "a").write_bytes(b"12345")
    with pytest.raises(UnreadableFileError, match="has 5 bytes, more than the limit of 4"):
        read_bounded(str(tmp_path / "a"), 4)


def test_a_file_without_a_true_size_is_still_bounded() -> None:
    """Files of /proc claim 0 bytes; the limit holds for what is read."""
    with pytest.raises(UnreadableFileError, match="grew past the limit of 4 bytes"):
        read_bounded("/proc/self/environ", 4)


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    """A named pipe without a writer, a folder, a socket and a link are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/etc/passwd")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    for name, why in {
        "pipe": "is not a regular file",
        "folder": "is not a regular file",
        "socket": "cannot be opened: No such device or address",
        "link": "cannot be opened: Too many levels of symbolic links",
    }.items():
        with pytest.raises(UnreadableFileError, match=why):
            read_bounded(str(tmp_path / name), 4_096)


def test_a_replaced_file_is_old_or_new(tmp_path: Path) -> None:
    """Folders are created, the content is renamed into place, and nothing else is left beside it."""
    path = tmp_path / "a/b/file.json"
    replace(str(path), b"one")
    first = stamp_file(str(path))
    replace(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert stamp_file(str(path)) != first
    assert [entry.name for entry in path.parent.iterdir()] == ["file.json"]


def test_a_failed_replacement_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk loses the new content, not the old, and leaves no temporary file behind."""
    path = tmp_path / "file.json"
    replace(str(path), b"one")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace(str(path), b"two")
    assert path.read_bytes() == b"one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.json"]


def test_a_stamp_follows_content_and_absence(tmp_path: Path) -> None:
    """The stamp of a missing file or of an impossible path is None."""
    assert stamp_file(str(tmp_path / "a")) is None
    assert stamp_file("a\0b") is None


def test_young_stamps_are_not_trusted(tmp_path: Path) -> None:
    """A stamp is young while the file system's clock may not have ticked since; one from the future is not."""
    (tmp_path / "a").write_text("a")
    found = stamp_file(str(tmp_path / "a"))
    assert found is not None
    now = found[0]
    assert any_young([None, (now + 10**18, 0, 0, 0)]) is False
    assert any_young([(now - 10**9, 0, 0, 0)]) is False


def test_a_file_is_created_once(tmp_path: Path) -> None:
    """A created file is complete, private to its owner, replaces nothing, and leaves nothing beside it."""
    path = tmp_path / "a/file.md"
    create(str(path), b"one")
    with pytest.raises(FileExistsError):
        create(str(path), b"two")
    (tmp_path / "a/link.md").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        create(str(tmp_path / "a/link.md"), b"two")
    assert path.read_bytes() == b"one"
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["file.md", "link.md"]


def test_a_replaced_file_has_the_mode_that_is_asked_for(tmp_path: Path) -> None:
    """A replaced file is private to its owner, unless a mode is given."""
    path = tmp_path / "file"
    replace(str(path), b"one")
    assert path.stat().st_mode & 0o777 == 0o600
    replace(str(path), b"two", 0o640)
    assert path.stat().st_mode & 0o777 == 0o640
