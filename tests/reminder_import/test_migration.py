from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from brief.core.model.errors import DocumentError, NotFoundError
from brief.notices.folder_lock import NoticeError
from brief.notices.store import NoticeStore
from brief.reminder_import.migration import Migrated, migrate
from racing import race

NOW = datetime(2026, 10, 11, 9, tzinfo=UTC)
TODAY = date(2026, 10, 11)
LIST = """# Reminders
prose

## Money
- [ ] 2026-11-02 Pay: the rent
      by transfer
- [x] 2026-10-01 done
- [ ] whenever

## Daily
- [ ] Check the backups
"""


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A list of reminders."""
    path = tmp_path / "reminders.md"
    path.write_text(LIST)
    return path


def run(tmp_path: Path, path: Path, today: date = TODAY) -> Migrated:
    """Take the list over."""
    return migrate(str(tmp_path / "n"), str(path), "docs/reminders.md", NOW, today)


def test_a_list_becomes_reminders_of_its_owner(tmp_path: Path, listed: Path) -> None:
    """Each notice has its day, heading, lines and source; lines that were not read are reported with their numbers."""
    migrated = run(tmp_path, listed)
    rent, backups = (Path(made.path).read_text() for made in migrated.added)
    assert rent == (
        '---\nkind: reminder\naudience: owner\ntitle: "Pay: the rent"\nfires_on: 2026-11-02\ngroup: Money\n'
        "source: docs/reminders.md\ncreated: 2026-10-11T09:00:00Z\n---\nby transfer\n"
    )
    assert backups == (
        "---\nkind: reminder\naudience: owner\ntitle: Check the backups\nfires_on: 2026-10-11\nrecurring: daily\n"
        "group: Daily\nsource: docs/reminders.md\ncreated: 2026-10-11T09:00:00Z\n---\n"
    )
    assert (migrated.left, migrated.done, [each.line for each in migrated.unread]) == ((), 1, [2, 8])
    assert len(NoticeStore([str(tmp_path / "n")]).read().notices) == 2


def test_taking_over_again_changes_nothing(tmp_path: Path, listed: Path) -> None:
    """Existing, changed and archived notices stay as they are; new reminders in the list are added."""
    first = run(tmp_path, listed)
    rent, backups = (Path(made.path) for made in first.added)
    rent.write_text(rent.read_text().replace("kind: reminder", "kind: reminder\nstatus: done"))
    (tmp_path / "n/archive").mkdir()
    backups.rename(tmp_path / "n/archive" / backups.name)
    before = rent.read_text()
    listed.write_text(LIST.replace("prose", "other prose\n\n- 2026-12-24 new"))
    again = run(tmp_path, listed, date(2026, 10, 20))
    assert [made.notice.title for made in again.added] == ["new"]
    assert again.left == (rent.stem, backups.stem)
    assert rent.read_text() == before
    assert not backups.exists()


def test_a_title_that_is_too_long_goes_on_in_the_body(tmp_path: Path) -> None:
    """No word of an item is lost, and nothing in it steers a terminal as a title."""
    path = tmp_path / "list.md"
    long = "word " * 100
    path.write_text(f"- 2026-10-11 {long}\n- 2026-10-11 e\x1b[31mvil\n")
    first, second = run(tmp_path, path).added
    assert len(first.notice.title) <= 201
    assert first.notice.body == f"{long.strip()}\n\n"
    assert (second.notice.title, second.notice.body) == ("evil", "")


def test_a_list_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Not there, no file, not UTF-8, too large, a link: a sentence with its name, and nothing is written."""
    (tmp_path / "latin.md").write_bytes(b"- 2026-10-11 caf\xe9\n")
    (tmp_path / "huge.md").write_bytes(b"x" * 1_048_577)
    (tmp_path / "link.md").symlink_to("latin.md")
    os.mkfifo(tmp_path / "pipe.md")
    for name, kind, sentence in (
        ("gone.md", NotFoundError, "/gone.md is not there; name the list of reminders"),
        ("latin.md", DocumentError, "/latin.md: line 1, column 17: byte 0xe9 is not UTF-8"),
        ("huge.md", NoticeError, "/huge.md has 1,048,577 bytes"),
        ("link.md", NoticeError, "/link.md cannot be opened"),
        ("pipe.md", NoticeError, "/pipe.md is not a regular file"),
        ("", NotFoundError, "is not there"),
        ("a\0b", NoticeError, "cannot be opened: .*null"),
    ):
        with pytest.raises(kind, match=sentence):
            run(tmp_path, tmp_path / name if name else Path("gone"))
    assert not (tmp_path / "n").exists()


def test_racing_migrations_write_each_once(tmp_path: Path, listed: Path) -> None:
    """Ten processes take over one list at once: every reminder is written by one of them."""
    work = """
from datetime import date, datetime, UTC
from brief.reminder_import.migration import migrate
def work(number, folder, path):
    return len(migrate(folder, path, "list", datetime.now(UTC), date(2026, 10, 11)).added)
"""
    assert sum(race(10, work, str(tmp_path / "n"), str(listed))) == 2
    assert len(list((tmp_path / "n/active").iterdir())) == 2
