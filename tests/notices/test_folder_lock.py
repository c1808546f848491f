from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from brief.core.model.errors import GaveUpError
from brief.notices.folder_lock import NoticeError, as_notice_error, lock_folder


def test_a_turn_is_had_by_one_at_a_time(tmp_path: Path) -> None:
    """A second one waits, gives up with a sentence, and has its turn once the first is over."""
    folder = str(tmp_path / "a/b")
    with (
        lock_folder(folder),
        pytest.raises(GaveUpError, match=r"another process has held .*/a/b for 0 s; find out"),
        lock_folder(folder, 0),
    ):
        pass
    with lock_folder(folder):
        assert os.listdir(folder) == []


def test_a_turn_is_over_even_after_a_fault(tmp_path: Path) -> None:
    """The folder is let go however the work ends."""
    with pytest.raises(ValueError, match="mine"), lock_folder(str(tmp_path)):
        raise ValueError("mine")
    with lock_folder(str(tmp_path), 0):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file in its place is a sentence with the path."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(NoticeError, match=r"/file cannot be written: File exists; nothing was changed"),
        lock_folder(str(tmp_path / "file")),
    ):
        pass


def test_a_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network file system may know no locks; nobody writes there unprotected."""

    def unlocked(_: int, __: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unlocked)
    with pytest.raises(NoticeError, match="No locks available"), lock_folder(str(tmp_path)):
        pass


def test_what_the_caller_decides_upon_passes() -> None:
    """An error that means something to the caller is left as it is."""
    with pytest.raises(FileExistsError), as_notice_error("path", FileExistsError):
        raise FileExistsError
    with pytest.raises(NoticeError, match="caf\\\\xe9 cannot be written: Is a directory"), as_notice_error("caf\udce9"):
        raise IsADirectoryError(21, "Is a directory")
