"""A database that was moved, cut, emptied or damaged: nothing acknowledged is lost in silence, and nothing is thrown away."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.core.model.errors import StoreError
from brief.sessions.database import Database
from brief.sessions.journal import Journal
from brief.sessions.recovery import kept_aside, recover, rescue
from hostile import FOREIGN, needs_root
from sandbox import SOURCE

NOW = datetime(2026, 10, 11, 9, tzinfo=UTC)
PUT = "INSERT INTO episodes VALUES (?, 'p', '/r', NULL, NULL, 'busy', 's', 'h', NULL, NULL)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with one row, closed."""
    made = tmp_path / "majordomus.db"
    with contextlib.closing(Database(made, 1)) as database:
        put(database, "before")
    return made


def put(database: Database, name: str) -> None:
    """Store one row."""
    with database.write() as connection:
        connection.execute(PUT, (name,))


def rows(path: Path) -> list[str]:
    """The content of the file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM episodes ORDER BY id")]


# ---------------------------------------------------------------- under a running server


def _move(path: Path) -> None:
    (path.parent / "away").mkdir()
    for each in path.parent.glob("majordomus.db*"):
        each.rename(path.parent / "away" / each.name)


def _replace(path: Path) -> None:
    (path.parent / "other").write_bytes(path.read_bytes())
    (path.parent / "other").replace(path)


def _truncate(path: Path) -> None:
    os.truncate(path, 0)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4_096)


def _drop_wal(path: Path) -> None:
    Path(f"{path}-wal").unlink()


@pytest.mark.parametrize("change", [_move, _replace, _truncate, _cut, _drop_wal])
def test_a_write_into_a_file_that_nobody_finds_is_refused(change: Callable[[Path], None], path: Path) -> None:
    """Once the path names something else, no write is acknowledged, and the sentence says what was changed."""
    with contextlib.closing(Database(path, 2)) as database:
        put(database, "kept")
        change(path)
        with pytest.raises(StoreError, match="somebody changed it under a running server"):
            put(database, "lost")
        assert database.find_loss() == database.lost is not None


@pytest.mark.parametrize("change", [_move, _replace, _drop_wal])
def test_a_file_that_is_moved_in_the_midst_of_a_write(change: Callable[[Path], None], path: Path) -> None:
    """The file is examined once more after the write was stored, before the write is reported as done."""

    def write(database: Database) -> None:
        with database.write() as connection:
            connection.execute(PUT, ("late",))
            change(path)

    with (
        contextlib.closing(Database(path, 2)) as database,
        pytest.raises(StoreError, match="it is unknown whether this was stored"),
    ):
        write(database)


def _empty_wal(path: Path) -> None:
    os.truncate(f"{path}-wal", 0)


def _cut_wal(path: Path) -> None:
    os.truncate(f"{path}-wal", 32 + 4_120)


def _overwrite_wal(path: Path) -> None:
    with open(f"{path}-wal", "r+b") as journal:
        journal.write(os.urandom(20_000))


@pytest.mark.parametrize("change", [_empty_wal, _cut_wal, _overwrite_wal])
def test_a_journal_that_is_cut_in_the_midst_of_a_write(change: Callable[[Path], None], path: Path) -> None:
    """The write that goes on behind the gap is refused, and all that was acknowledged before it is kept aside."""

    def write(database: Database) -> None:
        with database.write() as connection:
            connection.execute(PUT, ("late",))
            change(path)

    with contextlib.closing(Database(path, 2)) as database:
        for number in range(20):
            put(database, f"kept {number:02}{'x' * 900}")
        with pytest.raises(StoreError, match=r"db-wal was overwritten or cut"):
            write(database)
        assert rescue(database, NOW) == "what the server still held is kept as majordomus.db.damaged-20261011T090000Z"
    assert len([row for row in rows(Path(f"{path}.damaged-20261011T090000Z")) if row.startswith("kept")]) == 20


def test_what_another_thread_finds_is_not_taken_for_a_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that is emptied just after a write, and looked at before that write is noted, counts as changed."""
    real = Journal.may_be_torn

    def empty_and_look(journal: Journal, size: int) -> bool:
        torn = real(journal, size)
        monkeypatch.setattr(Journal, "may_be_torn", real)
        _empty_wal(path)
        assert database.is_touched()
        return torn

    with contextlib.closing(Database(path, 2)) as database:
        put(database, "kept")
        monkeypatch.setattr(Journal, "may_be_torn", empty_and_look)
        put(database, "kept too")
        with pytest.raises(StoreError, match=r"db-wal was overwritten or cut"):
            put(database, "late")


def test_a_journal_that_cannot_be_checked_is_not_called_lost(path: Path) -> None:
    """For want of descriptors nothing is proven: a write is refused, and once there are some again all is as before."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.closing(Database(path, 2)) as database:
        put(database, "kept")
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        taken = [os.open("/dev/null", os.O_RDONLY)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 1, limits[1]))
        try:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(os.open("/dev/null", os.O_RDONLY))
            with pytest.raises(StoreError):
                put(database, "late")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            for descriptor in taken:
                os.close(descriptor)
        assert database.find_loss() is None
        put(database, "after")
    assert rows(path) == ["after", "before", "kept"]


def test_what_can_still_be_read_of_a_cut_database_is_kept(path: Path) -> None:
    """Rows that lay in the part that is gone are lost; the others, and those that the server kept, are in the copy."""
    with contextlib.closing(Database(path, 2)) as database:
        for number in range(300):
            put(database, f"{number:03}{'x' * 900}")
    with contextlib.closing(Database(path, 3)) as database:
        put(database, "999")
        with database.read() as connection:
            assert connection.execute("SELECT id FROM episodes WHERE id = '999'").fetchone()
        os.truncate(path, 100_000)
        with pytest.raises(StoreError, match="was cut from"):
            put(database, "late")
        said = "the part of it that could still be read is kept as majordomus.db.damaged-20261011T090000Z"
        assert rescue(database, NOW) == said
    kept = rows(Path(f"{path}.damaged-20261011T090000Z"))
    assert "before" in kept
    assert "999" in kept
    assert 5 < len(kept) < 300


def test_a_checkpoint_by_another_in_the_midst_of_writes(path: Path) -> None:
    """A journal that another program has moved into the database as a whole is not a loss, whenever that happens."""
    ended = threading.Event()

    def check() -> None:
        while not ended.is_set():
            with contextlib.closing(sqlite3.connect(path)) as reader:
                reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    other = threading.Thread(target=check)
    with contextlib.closing(Database(path, 2)) as database:
        other.start()
        try:
            for number in range(300):
                put(database, f"{number}")
        finally:
            ended.set()
            other.join()
        assert database.find_loss() is None
    assert len(rows(path)) == 301


@pytest.mark.parametrize("in_the_midst", [True, False])
def test_an_earlier_copy_in_the_midst_of_a_write(in_the_midst: bool, path: Path) -> None:
    """A backup that is copied over the database is found by its generation, also where a write hides that it was touched."""
    backup = path.read_bytes()
    with contextlib.closing(Database(path, 2)) as database:
        put(database, "one")
    with contextlib.closing(Database(path, 3)) as database:
        put(database, "two")

        def write() -> None:
            with database.write() as connection:
                connection.execute(PUT, ("late",))
                path.write_bytes(backup)

        if not in_the_midst:
            path.write_bytes(backup)
        with pytest.raises(StoreError, match=r"was overwritten by an earlier copy of it|was cut from"):
            write()


def test_growth_and_checkpoints_are_nobodys_change(path: Path) -> None:
    """What SQLite itself, other readers and other writers do to the files causes no refusal."""
    with contextlib.closing(Database(path, 2)) as database, contextlib.closing(Database(path, 2)) as other:
        for number in range(300):
            put(database if number % 2 else other, f"{number}-{'x' * 900}")
            if number % 100 == 0:
                with contextlib.closing(sqlite3.connect(path)) as reader:
                    reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.examine()
        assert database.find_loss() is None
    assert len(rows(path)) == 301


# ---------------------------------------------------------------- at a start


def test_a_whole_database_is_left_alone(path: Path) -> None:
    """Nothing is moved or reported, and a first start finds nothing missing."""
    assert recover(path, NOW, was_there=True) is None
    assert rows(path) == ["before"]
    assert recover(path.with_name("new.db"), NOW, was_there=False) is None
    assert kept_aside(path) == ()


def test_a_database_that_is_gone_is_told(path: Path) -> None:
    """If an earlier server had stored something, a new database is not begun silently."""
    path.unlink()
    told = recover(path, NOW, was_there=True)
    assert told is not None
    assert "was gone, although an earlier server had stored" in told


def _scramble(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4_096] + os.urandom(path.stat().st_size - 4_096))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_truncate, "was empty"),
        (_cut, "was damaged"),
        (lambda path: path.write_bytes(b"no database, " * 500), "was not a database"),
        (_scramble, "was damaged"),
        (lambda path: os.truncate(path, 50), "was damaged"),
    ],
)
def test_a_damaged_database_is_kept_aside(damage: Callable[[Path], object], said: str, path: Path) -> None:
    """The damaged file gets a name that says so, byte for byte; a new one is begun, and both are reported until it is removed."""
    damage(path)
    raw = path.read_bytes()
    told = recover(path, NOW, was_there=True)
    assert told is not None
    assert said in told
    (aside,) = path.parent.glob("majordomus.db.damaged-20261011T090000Z")
    assert (aside.read_bytes(), path.exists()) == (raw, False)
    with contextlib.closing(Database(path, 2)) as database:
        put(database, "after")
    assert rows(path) == ["after"]
    assert [str(aside) in sentence for sentence in kept_aside(path)] == [True]
    damage(path)
    assert recover(path, NOW, was_there=True) is not None
    assert len(kept_aside(path)) == 2


def test_a_journal_without_its_database_is_not_replayed_into_a_new_one(path: Path) -> None:
    """The rows in it belong to another file; it is kept aside with the rest."""
    Path(f"{path}-wal").write_bytes(os.urandom(10_000))
    path.unlink()
    told = recover(path, NOW, was_there=False)
    assert told is not None
    assert "although its journal was still there" in told
    assert Path(f"{path}.damaged-20261011T090000Z-wal").stat().st_size == 10_000
    assert not Path(f"{path}-wal").exists()


def test_nothing_that_is_kept_aside_is_written_over(path: Path) -> None:
    """Two losses in one second get names of their own, also where the first left only a journal."""
    journals = [os.urandom(10_000), os.urandom(10_000)]
    path.unlink()
    for journal in journals:
        Path(f"{path}-wal").write_bytes(journal)
        assert recover(path, NOW, was_there=False) is not None
    kept = {each.read_bytes() for each in path.parent.glob("majordomus.db.damaged-*-wal")}
    assert kept == set(journals)


def test_what_a_killed_server_left_is_read_and_not_taken_for_damage(path: Path) -> None:
    """Rows that are in the journal alone are stored."""
    program = (
        "import os, sys; from pathlib import Path; from brief.sessions.database import Database\n"
        "database = Database(Path(sys.argv[1]), 2)\n"
        f"with database.write() as connection: connection.execute({PUT!r}, ('killed',))\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], cwd=SOURCE, check=False)
    assert recover(path, NOW, was_there=True) is None
    with contextlib.closing(Database(path, 3)):
        assert rows(path) == ["before", "killed"]


def test_what_is_half_made_is_removed(path: Path) -> None:
    """A server that was killed while it made the database leaves nothing for good."""
    half = path.with_name(".majordomus.db.abcdefgh.tmp")
    half.touch()
    recover(path, NOW, was_there=True)
    assert not half.exists()


@needs_root
def test_what_others_left_is_not_removed(path: Path) -> None:
    """Nothing is removed by a name that only looks like one of ours, or that is another user's, or no file."""
    left = [
        path.with_name(name)
        for name in (
            ".majordomus.db.tmp",
            ".majordomus.db.mine.tmp",
            ".majordomus.db.abcdefgh.tmp.tmp",
            "majordomus.db.abcdefgh.tmp",
        )
    ]
    foreign, link = path.with_name(".majordomus.db.abcdefg1.tmp"), path.with_name(".majordomus.db.abcdefg2.tmp")
    for each in (*left, foreign):
        each.touch()
    os.chown(foreign, FOREIGN, FOREIGN)
    link.symlink_to(path)
    assert recover(path, NOW, was_there=True) is None
    assert [each for each in (*left, foreign, link) if not os.path.lexists(each)] == []


# ---------------------------------------------------------------- many at once


def _open(path: str, epoch: int, waits: object, told: object) -> None:
    """Open the database together with all others, which stores the epoch."""
    waits.wait()  # type: ignore[attr-defined]  # the types of multiprocessing name no such class
    try:
        with contextlib.closing(Database(Path(path), epoch)):
            pass
        told.put("")  # type: ignore[attr-defined]  # the types of multiprocessing name no such class
    except StoreError as fault:
        told.put(str(fault))  # type: ignore[attr-defined]  # the types of multiprocessing name no such class


@pytest.mark.parametrize("exists", [False, True])
def test_sixty_processes_that_open_at_once(exists: bool, path: Path) -> None:
    """No caller is told that the database is locked, whether it exists already or has to be made."""
    if not exists:
        path.unlink()
    spawn = multiprocessing.get_context("fork")
    waits, told = spawn.Barrier(60), spawn.Queue()
    many = [spawn.Process(target=_open, args=(str(path), 5, waits, told)) for _ in range(60)]
    for one in many:
        one.start()
    said = [told.get(timeout=60) for _ in many]
    for one in many:
        one.join()
    assert said == [""] * 60
    assert rows(path) == ["before"] * exists
    assert [each.name for each in path.parent.iterdir()] == ["majordomus.db"]
