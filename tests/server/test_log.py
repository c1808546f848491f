from __future__ import annotations

import json
import logging
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest

from brief.fastpath.proof import UnprovenError
from brief.server import log as logs

log = logging.getLogger("brief.test")


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    """Undo what the log changes in this process."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, logging.raiseExceptions
    yield
    for handler in root.handlers:
        if handler not in before[0]:
            handler.close()
    root.handlers[:], root.level, logging.raiseExceptions = before


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the log, in a folder of its own."""
    folder = tmp_path / "majordomus"
    folder.mkdir()
    return folder / "server.log"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_record_is_one_json_object(path: Path) -> None:
    """A line says when, how grave, who, what, and every extra field by its name."""
    logs.log_to(path)
    log.info("serving %s", "here", extra={"epoch": 7, "socket": "/run/s"})
    (line,) = _lines(path)
    assert datetime.fromisoformat(line.pop("at")).tzinfo is not None
    assert line == {"level": "info", "logger": "brief.test", "event": "serving here", "epoch": 7, "socket": "/run/s"}


@pytest.mark.parametrize("text", ["a\nb\r\u2028c", "\x1b[2J\x00", "\udcff\ud800", '"}', "é▲" * 10_000, ""])
def test_any_text_is_one_line(text: str, path: Path) -> None:
    """Line ends, escapes, stray bytes and quotes of other people's text stay inside the value."""
    logs.log_to(path)
    log.warning("%s", text, extra={"branch": text})
    raw = path.read_bytes()
    assert (raw.count(b"\n"), raw.isascii(), b"\x1b" in raw) == (1, True, False)
    (line,) = _lines(path)
    assert (line["event"], line["branch"]) == (text, text)


def test_a_value_that_is_no_json_is_spelled(path: Path) -> None:
    """A path, a moment or a set is logged as text, and a number that is none does not end the log."""
    logs.log_to(path)
    log.info("x", extra={"path": Path("/a"), "since": datetime(2026, 3, 1), "bytes": b"\xff", "ratio": 1e999})  # noqa: DTZ001 - as it may come
    (line,) = _lines(path)
    assert (line["path"], line["since"], line["bytes"]) == ("/a", "2026-03-01 00:00:00", "b'\\xff'")


def test_a_fault_is_told_with_where_it_happened(path: Path) -> None:
    """A traceback is one value of its line."""
    logs.log_to(path)
    try:
        int("broken")
    except ValueError:
        log.exception("failed")
    (line,) = _lines(path)
    assert line["level"] == "error"
    assert "ValueError: invalid literal" in line["fault"]


def test_the_log_is_its_users_alone_and_appended_to(path: Path) -> None:
    """A log that is there is kept, whoever made it, and closed to others."""
    path.write_text('{"event": "before"}\n')
    path.chmod(0o644)
    logs.log_to(path)
    log.info("after")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [line["event"] for line in _lines(path)] == ["before", "after"]


@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_that_was_taken_away_comes_back(replaced: bool, path: Path) -> None:
    """A removed or replaced file is not written to in the dark: the next record is where the path leads."""
    logs.log_to(path)
    log.info("first")
    path.unlink()
    if replaced:
        path.touch()
    log.info("second")
    assert [line["event"] for line in _lines(path)] == ["second"]


def test_a_log_whose_folder_was_removed_ends_nobody(path: Path) -> None:
    """If the whole folder is removed, records are lost without an error, and are written again once it is back."""
    logs.log_to(path)
    log.info("first")
    shutil.rmtree(path.parent)
    log.warning("second")
    log.warning("third")
    path.parent.mkdir()
    log.warning("fourth")
    assert [line["event"] for line in _lines(path)] == ["fourth"]


def test_a_log_that_cannot_be_written_ends_nobody(
    path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A full disk costs a record and no more: nothing is raised, nothing printed."""
    logs.log_to(path)
    handler = cast(logs.LastingFileHandler, logging.getLogger().handlers[0])
    handler.close()
    monkeypatch.setattr(logs, "_is_named", lambda *_: True)
    handler.stream = open("/dev/full", "a")  # noqa: SIM115 - the handler closes it
    log.warning("lost")
    assert capfd.readouterr().err == ""
    with pytest.raises(OSError, match="No space"):
        handler.close()


def test_the_log_is_rotated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never grows past its bound, and three older ones are kept, none of them torn."""
    monkeypatch.setattr(logs, "MOST_BYTES", 2_000)
    logs.log_to(path)
    for number in range(200):
        log.info("record", extra={"number": number})
    kept = sorted(path.parent.iterdir())
    assert [each.name for each in kept] == ["server.log", *(f"server.log.{n}" for n in (1, 2, 3))]
    assert all(each.stat().st_size <= 2_000 for each in kept)
    assert _lines(path)[-1]["number"] == 199
    assert all(_lines(each) for each in kept)


def test_in_the_foreground_the_log_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file the same lines are for whoever watches."""
    logs.log_to(None)
    assert logging.getLogger().handlers[0].stream is sys.stderr  # type: ignore[attr-defined]  # a StreamHandler
    log.info("here")
    assert json.loads(capsys.readouterr().err)["event"] == "here"


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_every_log_is_the_users_alone(path: Path, monkeypatch: pytest.MonkeyPatch, umask: int) -> None:
    """The file, the ones that were rotated, and the one that is begun anew have the mode 0600 under any umask."""
    monkeypatch.setattr(logs, "MOST_BYTES", 500)
    before = os.umask(umask)
    try:
        logs.log_to(path)
        for _ in range(20):
            log.warning("a record of some length")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}
    assert len(list(path.parent.iterdir())) == logs.KEPT + 1


@pytest.mark.parametrize(("make", "why"), [(Path.symlink_to, "is a symbolic link"), (Path.hardlink_to, "has 2 names")])
def test_a_link_in_the_logs_place_is_not_followed(path: Path, make: Callable[[Path, Path], None], why: str) -> None:
    """A link in place of the log is not followed, neither at the start nor later."""
    target = path.parent / "start-file"
    target.write_text("mine")
    logs.log_to(path)
    path.unlink()
    make(path, target)
    log.warning("lost")
    assert target.read_text() == "mine"
    with pytest.raises(UnprovenError, match=why):
        logs.log_to(path)
    assert target.read_text() == "mine"
