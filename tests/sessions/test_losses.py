"""What is noted and stored of a lost database: understood in part or not at all, and bounded."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.core.model.errors import StoreError
from brief.sessions.database import Database
from brief.sessions.losses import MOST_RECORD, NOTHING_NOTED, LockRecord, Loss, read_lock_record, stored_losses

AT = datetime(2026, 11, 30, 8, tzinfo=UTC)
LOST = Loss(AT, "it was lost")


def test_a_record_is_read_as_it_was_written() -> None:
    """The next holder reads what the last one noted, also where every character has to be escaped."""
    for noted in (NOTHING_NOTED, LockRecord(had_database=True, generation=7, loss=LOST)):
        assert read_lock_record(json.dumps(noted.as_json()).encode()) == noted
    long = LockRecord(had_database=True, generation=2**62, loss=Loss(AT, "\U0001f980" * 9_000))
    content = json.dumps(long.as_json()).encode()
    assert len(content) < MOST_RECORD - 700
    assert read_lock_record(content).had_database


@pytest.mark.parametrize(
    ("content", "noted"),
    [
        (b"", NOTHING_NOTED),
        (b"\xff{", NOTHING_NOTED),
        (b"[" * 9_000, NOTHING_NOTED),
        (b"[1]", NOTHING_NOTED),
        (b'{"database": true}', LockRecord(had_database=True)),
        (b'{"database": true, "generation": true, "loss": {"at": "2026-11-30"}}', LockRecord(had_database=True)),
        (b'{"database": 1, "generation": "7", "loss": []}', NOTHING_NOTED),
        (b'{"loss": {"at": "2026-11-30T08:00:00", "reason": "no zone"}}', NOTHING_NOTED),
    ],
)
def test_what_cannot_be_understood_counts_as_not_noted(content: bytes, noted: LockRecord) -> None:
    """Whatever the lock file holds, also from an earlier version, no start fails because of it."""
    assert read_lock_record(content) == noted


def test_an_earlier_version_opens_the_database(tmp_path: Path) -> None:
    """Losses and generation change no number of the schema, and a database without them is opened and given them."""
    path = tmp_path / "majordomus.db"
    with contextlib.closing(Database(path, 1, [LOST], 9)) as database:
        assert (database.losses, database.generation > 9) == ((LOST,), True)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TABLE losses; DELETE FROM meta WHERE key = 'generation'")
    with contextlib.closing(Database(path, epoch=None)) as database:
        assert (database.losses, database.generation) == ((), 0)
    with contextlib.closing(Database(path, 2)) as database:
        assert (database.losses, database.generation) == ((), 1)


def test_a_loss_is_stored_once_and_forgotten_for_good(tmp_path: Path) -> None:
    """However often it is noted, and by whomever it was stored, until it is forgotten."""
    path = tmp_path / "majordomus.db"
    for epoch in (1, 2):
        with contextlib.closing(Database(path, epoch, [LOST])) as database:
            assert database.losses == (LOST,)
    with contextlib.closing(Database(path, 3)) as database:
        assert database.losses == (LOST,)
        database.forget_losses()
        with database.read() as connection:
            assert stored_losses(connection) == ()


def test_a_generation_that_was_not_stored_is_not_believed(tmp_path: Path) -> None:
    """A write that fails, after a checkpoint had made another generation due, leaves the generation as it is stored."""
    path = tmp_path / "majordomus.db"
    with contextlib.closing(Database(path, 1)) as database:
        for number in range(1_100):
            with database.write(durable=False) as connection:
                connection.execute("INSERT INTO followed_up VALUES (?, ?)", (f"{number}", "x" * 3_000))
            if number % 7 == 0:
                with contextlib.suppress(KeyError), database.write(durable=False):
                    raise KeyError
            with database.read() as connection:
                stored = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
            assert database.generation == stored
        assert database.generation > 1
        path.touch()
        database.examine()
        assert database.change is None


def test_a_copy_from_before_the_last_checkpoint_is_not_taken_for_the_database(tmp_path: Path) -> None:
    """A copy that was made while the same server ran lacks what a checkpoint has moved into the file since."""
    path = tmp_path / "majordomus.db"
    with contextlib.closing(Database(path, 1)) as database:
        copy = path.read_bytes()
        for number in range(2_000):
            with database.write(durable=False) as connection:
                connection.execute("INSERT INTO followed_up VALUES (?, ?)", (f"{number}", "x" * 3_000))
        size = path.stat().st_size
        with open(path, "r+b") as file:
            file.write(copy)
        assert path.stat().st_size == size
        with pytest.raises(StoreError), database.write():
            pass
        assert database.change is not None
