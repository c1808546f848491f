"""The database: one writer by epoch, whole or not at all, and every fault of the file told as a sentence."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brief.core.model.errors import StoreError, SupersededError
from brief.sessions.connections import MOST_PATH_BYTES
from brief.sessions.database import Database, stored_epoch
from brief.sessions.schema import SCHEMA_VERSION
from sandbox import SOURCE, unprivileged, until

PUT = "INSERT INTO episodes VALUES (?, 'p', '/r', NULL, NULL, 'busy', 's', 'h', NULL, NULL)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the database."""
    return tmp_path / "majordomus.db"


@contextlib.contextmanager
def opened(path: Path, epoch: int | None = None) -> Iterator[Database]:
    """A database, closed at the end."""
    with contextlib.closing(Database(path, epoch)) as database:
        yield database


def put(database: Database, name: str) -> None:
    """Write one row."""
    with database.write() as connection:
        connection.execute(PUT, (name,))


def names(path: Path) -> list[str]:
    """The rows that are stored, as a reader sees them."""
    with opened(path) as database, database.read() as connection:
        return [row[0] for row in connection.execute("SELECT id FROM episodes ORDER BY id")]


@contextlib.contextmanager
def running(program: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs `program` with the path as its argument, ended at the end."""
    argv = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(argv, cwd=SOURCE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    """The next line that a process says."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


# ---------------------------------------------------------------- one writer, many readers


def test_what_is_written_is_read(path: Path) -> None:
    """A row written by one connection is there for the next, in a file that is its owner's alone and in WAL mode."""
    with opened(path, 1) as database:
        put(database, "a")
        with database.read() as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert names(path) == ["a"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_last_writer_leaves_the_file_alone(path: Path) -> None:
    """Closed, the database is one file: no journal beside it."""
    with opened(path, 1) as database:
        put(database, "a")
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_readers_never_wait_for_a_writer(path: Path) -> None:
    """While a transaction is open, a reader gets what was there before it, at once."""
    with opened(path, 1) as database:
        put(database, "a")
        with database.write() as connection:
            connection.execute(PUT, ("b",))
            assert names(path) == ["a"]
    assert names(path) == ["a", "b"]


def test_one_look_is_consistent(path: Path) -> None:
    """A write by somebody else is not seen in the middle of a reading."""
    with opened(path, 1) as writer, opened(path) as reader:
        with reader.read() as connection:
            before = connection.execute("SELECT count(*) FROM episodes").fetchone()
            put(writer, "a")
            assert connection.execute("SELECT count(*) FROM episodes").fetchone() == before
        assert names(path) == ["a"]


def test_a_write_that_fails_changes_nothing(path: Path) -> None:
    """If anything is raised inside a transaction, nothing of it is stored and the next one succeeds."""
    with opened(path, 1) as database:
        with pytest.raises(StoreError, match="UNIQUE"), database.write() as connection:
            connection.executemany(PUT, [("a",), ("a",)])
        with contextlib.suppress(KeyError), database.write() as connection:
            connection.execute(PUT, ("a",))
            raise KeyError
        assert names(path) == []
        put(database, "b")
    assert names(path) == ["b"]


def test_who_only_reads_cannot_write(path: Path) -> None:
    """A database opened without an epoch refuses a write, in words and in SQLite."""
    with opened(path, 1):
        pass
    with opened(path) as database:
        with pytest.raises(StoreError, match="was opened read-only"), database.write():
            pass
        with pytest.raises(StoreError, match="readonly"), database.read() as connection:
            connection.execute(PUT, ("a",))


def test_threads_take_turns(path: Path) -> None:
    """One connection serves many threads, and none of their rows is lost."""
    with opened(path, 1) as database:
        threads = [threading.Thread(target=put, args=(database, f"{number:02}")) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert names(path) == [f"{number:02}" for number in range(20)]


def test_a_closed_database_says_so(path: Path) -> None:
    """A call after the end is a sentence, not a crash."""
    database = Database(path, 1)
    database.close()
    with pytest.raises(StoreError, match="closed"):
        put(database, "a")


# ---------------------------------------------------------------- the epoch


def test_an_older_epoch_writes_nothing_more(path: Path) -> None:
    """As soon as a newer server has opened the file, the older is refused before its first row, with what to do."""
    with opened(path, 1) as older:
        put(older, "a")
        with opened(path, 2) as newer:
            with pytest.raises(SupersededError, match="epoch 2 holds this repository now and 1 writes nothing more"):
                put(older, "b")
            put(newer, "c")
        with pytest.raises(SupersededError):
            put(older, "d")
    assert names(path) == ["a", "c"]


def test_an_older_epoch_cannot_even_open(path: Path) -> None:
    """A late server with an older epoch leaves the newer one in force."""
    with opened(path, 5):
        pass
    with pytest.raises(SupersededError), opened(path, 4):
        pass
    assert stored_epoch(path) == 5


def test_the_same_epoch_may_open_again(path: Path) -> None:
    """A holder that opens twice is not its own rival."""
    with opened(path, 3) as one, opened(path, 3) as two:
        put(one, "a")
        put(two, "b")
    assert names(path) == ["a", "b"]


def test_an_open_transaction_is_not_overtaken(path: Path) -> None:
    """A newer epoch waits for the write that is under way: what it then finds is whole."""
    with opened(path, 1) as older:
        overtaking = threading.Thread(target=lambda: Database(path, 2).close())
        with older.write() as connection:
            overtaking.start()
            connection.execute(PUT, ("a",))
        overtaking.join()
        with pytest.raises(SupersededError):
            put(older, "b")
    assert names(path) == ["a"]


@pytest.mark.parametrize("content", [None, b"", b"not a database, " * 100])
def test_without_a_readable_database_the_stored_epoch_is_0(path: Path, content: bytes | None) -> None:
    """No file, an empty one, or one that is none: nobody ever wrote here."""
    if content is not None:
        path.write_bytes(content)
    assert stored_epoch(path) == 0


def test_two_that_create_at_once_make_one_database(path: Path) -> None:
    """The tables are made by whoever comes first, and the other one goes on with them."""
    together = threading.Barrier(8)
    faults: list[BaseException] = []

    def create() -> None:
        together.wait()
        try:
            Database(path, 1).close()
        except StoreError as fault:
            faults.append(fault)

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (faults, names(path)) == ([], [])


# ---------------------------------------------------------------- files that are not right


def not_a_database(path: Path) -> None:
    """Somebody's text."""
    path.write_bytes(b"not a database, " * 100)


def cut(path: Path) -> None:
    """A database of which half is gone."""
    with opened(path, 1) as database:
        for number in range(2_000):
            put(database, f"{number:090}")
    os.truncate(path, path.stat().st_size // 2)


def of_a_newer_version(path: Path) -> None:
    """A database that a later majordomus has changed."""
    with opened(path, 1) as database, database.write() as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def of_another_program(path: Path) -> None:
    """A database with other tables in it."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")


def a_folder(path: Path) -> None:
    """No file at all."""
    path.mkdir()


WRONG: list[tuple[Callable[[Path], None], str]] = [
    (not_a_database, r"file is not a database.*move the file away and run majordomus serve ensure"),
    (of_a_newer_version, r"has schema 3 and this majordomus knows 2; use the newer majordomus, or move the file away"),
    (of_another_program, r"is not a database of majordomus; move it away and run majordomus serve ensure"),
    (a_folder, r"unable to open database file|disk I/O error"),
]


@pytest.mark.parametrize("epoch", [None, 9])
@pytest.mark.parametrize(("spoil", "told"), WRONG)
def test_a_file_that_is_not_right_is_left_as_it_is(
    path: Path, spoil: Callable[[Path], None], told: str, epoch: int | None
) -> None:
    """Opening it fails with the path and what to do; no table is added and no row lost."""
    spoil(path)
    before = _tables(path)
    with pytest.raises(StoreError, match=told) as caught, opened(path, epoch):
        pass
    assert str(path) in caught.value.sentence
    assert _tables(path) == before


def _tables(path: Path) -> list[tuple[str]] | None:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT sql FROM sqlite_schema ORDER BY sql").fetchall()
    return None


def test_a_truncated_database_is_a_sentence(path: Path) -> None:
    """A file that was cut never reads as if fewer rows had been stored."""
    cut(path)
    with pytest.raises(StoreError, match="malformed"):
        names(path)


def test_a_file_emptied_by_another_is_not_taken_for_nothing_stored(path: Path) -> None:
    """A reader of an empty file says that it is not a database; a writer makes it one again."""
    path.touch()
    with pytest.raises(StoreError, match="is not a database of majordomus"), opened(path):
        pass
    with opened(path, 1) as database:
        put(database, "a")
    assert names(path) == ["a"]


LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_lock_of_another_process_is_a_sentence(path: Path) -> None:
    """A writer that cannot write within a second says so, still reads, and writes once the other has let go."""
    with opened(path, 1) as database:
        put(database, "a")
        with running(LOCKER, path) as other:
            assert line(other) == "locked"
            with pytest.raises(StoreError, match="database is locked"):
                put(database, "b")
            assert names(path) == ["a"]
        put(database, "c")
    assert names(path) == ["a", "c"]


# ---------------------------------------------------------------- processes that end anyhow

WRITER = """
import sys
from pathlib import Path
from brief.sessions.database import Database
database = Database(Path(sys.argv[1]), 1)
number = 0
while True:
    with database.write() as connection:
        connection.execute("DELETE FROM tasks")
        connection.execute("INSERT OR REPLACE INTO episodes VALUES ('e', ?, '/r', NULL, NULL, 'busy', '', '', NULL, NULL)", (str(number),))
        connection.execute("INSERT INTO tasks (episode, title, scope, since) VALUES ('e', ?, '[]', '')", (str(number),))
    print(number, flush=True)
    number += 1
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_writer_leaves_the_old_or_the_new(path: Path, seed: int) -> None:
    """After a kill at any moment, the file holds one whole transaction: the last that was reported, or the one after it."""
    with running(WRITER, path) as writer:
        told = -1
        for _ in range(random.Random(seed).randrange(1, 200)):
            told = int(line(writer))
        writer.kill()
        rest = writer.stdout.read().split() if writer.stdout else []
    told = int(rest[-1]) if rest else told
    with opened(path, 2) as database, database.read() as connection:
        stored = connection.execute("SELECT provider, title FROM episodes JOIN tasks ON episode = id").fetchall()
        assert stored in ([(str(told), str(told))], [(str(told + 1), str(told + 1))])
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


CREATOR = """
import sys
from pathlib import Path
from brief.sessions.database import Database
for number in range(10_000):
    print(number, flush=True)
    Database(Path(f"{sys.argv[1]}{number}"), 1).close()
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_creator_leaves_something_to_go_on_from(path: Path, seed: int) -> None:
    """Killed while it made the tables, it leaves a file that the next writer opens as its own."""
    with running(CREATOR, path) as creator:
        for _ in range(random.Random(seed).randrange(1, 30)):
            line(creator)
        creator.kill()
    for made in sorted(path.parent.glob(f"{path.name}*[0-9]")):
        with opened(made, 2) as database:
            put(database, "a")
        assert names(made) == ["a"]


# ---------------------------------------------------------------- a folder that nobody can write


@pytest.fixture
def sealed(tmp_path: Path) -> Iterator[Path]:
    """A database in a folder that the reader of the test cannot write, as it lies after a clean end."""
    folder = tmp_path / "sealed"
    folder.mkdir()
    path = folder / "majordomus.db"
    with opened(path, 1) as database:
        put(database, "a")
    yield path
    folder.chmod(0o755)


def seal(path: Path) -> None:
    """Let everybody read the folder and nobody write it."""
    for each in path.parent.iterdir():
        each.chmod(0o444)
    path.parent.chmod(0o555)
    if os.geteuid() == 0:  # nobody has to reach it
        for folder in list(path.parent.parents)[:-2]:
            folder.chmod(0o755)


def test_a_read_only_folder_is_read(sealed: Path) -> None:
    """Stored rows can be read if nothing can be written, and nothing is left there."""
    seal(sealed)
    assert unprivileged(lambda: names(sealed)) == ["a"]
    assert [each.name for each in sealed.parent.iterdir()] == [sealed.name]


def test_a_read_only_folder_cannot_be_written(sealed: Path) -> None:
    """A writer gets an error in one sentence."""
    seal(sealed)

    def attempt() -> str:
        with pytest.raises(StoreError) as caught, opened(sealed, 4):
            pass
        return caught.value.sentence

    assert str(sealed) in unprivileged(attempt)


def test_what_a_killed_writer_stored_is_read_in_a_read_only_folder(sealed: Path) -> None:
    """Rows that are still in the WAL alone are not passed over."""
    with running(WRITER, sealed) as writer:
        until(lambda: int(line(writer)) > 3)
        writer.kill()
    seal(sealed)
    assert unprivileged(lambda: names(sealed)) == ["a", "e"]


def test_a_wal_that_cannot_be_read_is_a_sentence(sealed: Path) -> None:
    """A WAL whose index is gone is unread, never taken for nothing stored."""
    with running(WRITER, sealed) as writer:
        until(lambda: int(line(writer)) > 3)
        writer.kill()
    Path(f"{sealed}-shm").unlink()
    seal(sealed)

    def attempt() -> str:
        with pytest.raises(StoreError) as caught:
            names(sealed)
        return caught.value.sentence

    assert "unable to open" in unprivileged(attempt)


def test_a_path_that_is_too_long_for_sqlite_is_told(tmp_path: Path) -> None:
    """The longest path that SQLite opens is opened; of a longer one the sentence says that it is too long."""
    for length in (MOST_PATH_BYTES, MOST_PATH_BYTES + 1):
        folder = tmp_path
        while (left := length - len("/majordomus.db") - len(str(folder))) > 0:
            folder /= "d" * (left - 1 if left <= 200 else 100)
        folder.mkdir(parents=True)
        path = folder / "majordomus.db"
        assert len(str(path)) == length
        if length <= MOST_PATH_BYTES:
            Database(path, epoch=1).close()
        else:
            with pytest.raises(StoreError, match=r"is a path of 491 bytes, and SQLite allows at most 490; move"):
                Database(path, epoch=1)
