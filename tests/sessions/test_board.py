"""The board: who was really heard by this server, written through, so that the next server knows what this one knew."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.errors import ConflictError, NotFoundError, StoreError, SupersededError, UsageError
from brief.core.model.section_data import EpisodeState
from brief.core.sessions.episode import KnownEpisode, Process
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.stored import StoredSessions
from samples import NOW


def later(**span: int) -> datetime:
    """A moment after NOW."""
    return NOW + timedelta(**span)


class Server:
    """A board over a database file, as one server holds it."""

    def __init__(self, path: Path, epoch: int) -> None:
        with contextlib.ExitStack() as failing:
            self.database = Database(path, epoch)
            failing.callback(self.database.close)
            self.board = Board(self.database)
            failing.pop_all()

    def open(self, name: str = "e1", now: datetime = NOW, **fields: Any) -> KnownEpisode:
        """Open an episode in /a."""
        known: dict[str, Any] = {
            "provider": "claude-code",
            "checkout": "/a",
            "branch": "main",
            "process": None,
            "state": EpisodeState.BUSY,
        }
        return self.board.open(name, now=now, **{**known, **fields})

    def liveness(self) -> dict[str, tuple[str, str]]:
        """How each open episode is known, and the state that is shown of it."""
        return {one.episode.id: (one.liveness, one.state.value) for one in self.board.open_episodes()}


class Servers:
    """One server after the other for the same file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.epoch = 0
        self.leaving = contextlib.ExitStack()

    def next(self) -> Server:
        """A server with a higher epoch, which knows what is stored."""
        self.epoch += 1
        server = Server(self.path, self.epoch)
        self.leaving.callback(server.database.close)
        return server

    def stored(self) -> StoredSessions:
        """The sessions that a command reads without a server."""
        return StoredSessions(self.path)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    """A file that no server has used yet."""
    made = Servers(tmp_path / "majordomus.db")
    with made.leaving:
        yield made


@pytest.fixture
def server(servers: Servers) -> Server:
    """The first server."""
    return servers.next()


# ---------------------------------------------------------------- heard and unheard


def test_an_opened_episode_was_heard(server: Server) -> None:
    """Opening an episode counts as hearing it, in the given state, from now on."""
    known = server.open()
    assert (known.liveness, known.state) == ("heard", EpisodeState.BUSY)
    assert (known.episode.since, known.episode.heard) == (NOW, NOW)


def test_after_a_restart_an_episode_is_known_but_unheard(server: Server, servers: Servers) -> None:
    """The next server knows it with all that was stored, and says nothing of its state until it speaks."""
    opened = server.open()
    following = servers.next()
    (known,) = following.board.open_episodes()
    assert known.episode == opened.episode
    assert following.liveness() == {"e1": ("unheard", "unknown")}
    following.board.hear("e1", later(minutes=5))
    assert following.liveness() == {"e1": ("heard", "busy")}


def test_a_hearing_of_nobody_is_no_episode(server: Server) -> None:
    """An id that was never opened here stays unknown, and nothing changes."""
    before = server.board.version
    server.board.hear("stranger", NOW)
    assert (server.board.open_episodes(), server.board.version) == ((), before)


def test_what_is_stored_without_a_server_is_unheard(server: Server, servers: Servers) -> None:
    """A command that finds no server shows what was stored, as unheard, with the tasks."""
    opened = server.open()
    task = server.board.set_task("e1", "fix login", (), None, NOW)
    stored = servers.stored()
    assert stored.open_episodes() == (KnownEpisode(episode=opened.episode, liveness="unheard"),)
    assert stored.tasks() == {"e1": task}


def test_without_a_database_nobody_was_ever_here(servers: Servers) -> None:
    """No file means no episode, and reading makes none."""
    assert (servers.stored().open_episodes(), servers.stored().tasks()) == ((), {})
    assert not servers.path.exists()


def test_a_database_that_cannot_be_read_is_not_nobody(servers: Servers) -> None:
    """A spoilt file is a fault at each call, never an empty board."""
    servers.path.write_bytes(b"not a database, " * 100)
    with pytest.raises(StoreError):
        servers.stored().open_episodes()
    with pytest.raises(StoreError):
        servers.stored().tasks()


def test_whether_a_session_lives_is_three_words(server: Server, servers: Servers) -> None:
    """Alive where this server heard it, gone where it was closed, else unknown; without a server nobody is alive."""
    for name in ("open", "closed"):
        server.open(name)
    server.board.close("closed", "done", NOW)
    names = ("open", "closed", "stranger")
    assert [server.board.life_of(name) for name in names] == ["alive", "gone", "unknown"]
    assert [servers.stored().life_of(name) for name in names] == ["unknown", "gone", "unknown"]
    following = servers.next().board
    assert [following.life_of(name) for name in names] == ["unknown", "gone", "unknown"]
    following.hear("open", NOW)
    assert following.life_of("open") == "alive"


def test_without_a_database_nobody_is_known_to_live(servers: Servers) -> None:
    """And nobody to be gone."""
    assert servers.stored().life_of("e1") == "unknown"


# ---------------------------------------------------------------- opened, moved, closed


def test_episodes_come_longest_open_first(server: Server, servers: Servers) -> None:
    """In one order, whoever asks; ids decide between equals."""
    for name, minutes in (("c", 2), ("b", 0), ("a", 0)):
        server.open(name, later(minutes=minutes))
    for board in (server.board, servers.next().board, servers.stored()):
        assert [one.episode.id for one in board.open_episodes()] == ["a", "b", "c"]


def test_an_episode_that_moves_keeps_its_id_and_its_age(server: Server, servers: Servers) -> None:
    """Opened again from another checkout it is there and no longer here, since when it first was."""
    process = Process(pid=7, start=1, boot="b")
    server.open(process=process)
    moved = server.open(now=later(minutes=9), checkout="/b", branch="fix", state=EpisodeState.IDLE).episode
    assert (moved.checkout, moved.branch, moved.state) == ("/b", "fix", EpisodeState.IDLE)
    assert (moved.since, moved.heard, moved.process) == (NOW, later(minutes=9), process)
    (known,) = servers.next().board.open_episodes()
    assert known.episode == moved


def test_a_moved_episode_keeps_its_task(server: Server) -> None:
    """To be heard again from elsewhere ends no work."""
    server.open()
    task = server.board.set_task("e1", "fix login", (), None, NOW)
    server.open(now=later(minutes=1), checkout="/b")
    assert server.board.tasks() == {"e1": task}


def test_a_closed_episode_is_gone_with_its_reason(server: Server, servers: Servers) -> None:
    """A closed episode is on no board, now or later, and its record says when and why it ended."""
    server.open()
    closed = server.board.close("e1", "its work is done", later(minutes=1))
    assert (closed.closed, closed.closed_reason) == (later(minutes=1), "its work is done")
    assert (
        server.board.open_episodes() == servers.next().board.open_episodes() == servers.stored().open_episodes() == ()
    )
    assert server.board.closed_episodes(9) == (closed,)


def test_a_closed_episode_takes_no_more_orders(server: Server) -> None:
    """A command about a closed episode is refused with the reason and the way to open it again."""
    server.open()
    server.board.close("e1", "done", NOW)
    with pytest.raises(ConflictError, match=r"e1 is closed \(done\); open it again with .* --session e1"):
        server.board.close("e1", "again", NOW)


def test_an_unknown_episode_takes_no_orders(server: Server) -> None:
    """Nothing is made up for an id that nobody opened."""
    with pytest.raises(NotFoundError, match=r"no episode e9 is open here; see majordomus episode list"):
        server.board.set_next("e9", "x", NOW)


def test_the_episodes_closed_last_come_first(server: Server) -> None:
    """As many as are asked for, by when they ended, to the fraction of a second."""
    for name, moment in (("a", NOW), ("b", later(microseconds=500)), ("c", later(seconds=1))):
        server.open(name)
        server.board.close(name, "done", moment)
    assert [each.id for each in server.board.closed_episodes(2)] == ["c", "b"]
    assert [each.id for each in server.board.closed_episodes(9)] == ["c", "b", "a"]


@pytest.mark.parametrize("fields", [{"name": "a/b"}, {"name": ""}, {"provider": "Claude"}])
def test_what_is_no_name_opens_nothing(server: Server, fields: dict[str, Any]) -> None:
    """An id or a provider that is none is refused, and the board stays as it was."""
    with pytest.raises(UsageError):
        server.open(**fields)
    assert server.board.open_episodes() == ()


# ---------------------------------------------------------------- tasks


def test_a_task_is_what_was_said(server: Server, servers: Servers) -> None:
    """Title, scope and next action as given, for this server and the next."""
    server.open()
    task = server.board.set_task("e1", " fix login ", ("src/a", "src/a", "b"), "write a test", NOW)
    assert (task.title, task.scope, task.next_action, task.next_since) == (
        "fix login",
        ("src/a", "b"),
        "write a test",
        NOW,
    )
    assert server.board.tasks() == servers.next().board.tasks() == {"e1": task}


def test_a_new_task_ends_the_one_before(server: Server, servers: Servers) -> None:
    """An episode works on one thing."""
    server.open()
    server.board.set_task("e1", "first", (), None, NOW)
    second = server.board.set_task("e1", "second", (), None, later(minutes=1))
    assert servers.next().board.tasks() == {"e1": second}


def test_a_next_action_is_dated_and_leaves_the_rest(server: Server, servers: Servers) -> None:
    """It replaces the one before it; title, scope and beginning stay."""
    server.open()
    task = server.board.set_task("e1", "fix login", ("a",), "first", NOW)
    said = server.board.set_next("e1", "second", later(minutes=4))
    assert said == task.replace(next_action="second", next_since=later(minutes=4))
    assert server.board.tasks() == servers.next().board.tasks() == {"e1": said}


def test_a_task_that_is_done_is_over(server: Server, servers: Servers) -> None:
    """It is given back as it ended, and the episode has none."""
    server.open()
    task = server.board.set_task("e1", "fix login", (), None, NOW)
    assert server.board.end_task("e1", later(minutes=1)) == task.replace(done=later(minutes=1))
    assert server.board.tasks() == servers.next().board.tasks() == {}


def test_without_a_task_there_is_nothing_to_end_or_continue(server: Server) -> None:
    """Both are refused alike, with the command that sets one."""
    server.open()
    with pytest.raises(NotFoundError, match="e1 has no task; say what it works on with majordomus task set"):
        server.board.end_task("e1", NOW)
    with pytest.raises(NotFoundError, match="e1 has no task"):
        server.board.set_next("e1", "x", NOW)


def test_an_episode_opened_again_goes_on_with_its_task(server: Server, servers: Servers) -> None:
    """Closing ends the conversation and not the work: this server shows what the next one would."""
    server.open()
    task = server.board.set_task("e1", "fix login", (), "write a test", NOW)
    server.board.close("e1", "the window was shut", NOW)
    assert server.board.tasks() == {}
    server.open(now=later(hours=1))
    assert server.board.tasks() == servers.next().board.tasks() == {"e1": task}


@pytest.mark.parametrize("said", [{"title": " "}, {"title": "x" * 201}, {"following": ""}, {"scope": ("",)}])
def test_a_task_that_says_nothing_changes_nothing(server: Server, said: dict[str, Any]) -> None:
    """A refused value leaves the task before it in place."""
    server.open()
    task = server.board.set_task("e1", "fix login", (), None, NOW)
    with pytest.raises(UsageError):
        server.board.set_task(**{"episode_id": "e1", "title": "x", "scope": (), "following": None, "now": NOW, **said})
    assert server.board.tasks() == {"e1": task}


# ---------------------------------------------------------------- hearings


def test_hearings_are_written_down_once_they_matter(server: Server, servers: Servers) -> None:
    """Heard for less than a minute since the stored moment nothing is written; past it, the last moment is."""
    server.open()
    server.board.hear("e1", later(seconds=59))
    server.board.store_hearings()
    assert servers.stored().open_episodes()[0].episode.heard == NOW
    server.board.hear("e1", later(seconds=61))
    server.board.store_hearings()
    assert servers.stored().open_episodes()[0].episode.heard == later(seconds=61)


def test_hearings_of_a_superseded_server_are_refused(server: Server, servers: Servers) -> None:
    """It writes nothing more, and its own board still says what it heard."""
    server.open()
    servers.next()
    server.board.hear("e1", later(hours=1))
    with pytest.raises(SupersededError):
        server.board.store_hearings()
    assert server.board.open_episodes()[0].episode.heard == later(hours=1)
    assert servers.stored().open_episodes()[0].episode.heard == NOW


def test_a_write_that_is_refused_leaves_no_trace_on_the_board(server: Server, servers: Servers) -> None:
    """A superseded server never shows what it could not store."""
    server.open()
    task = server.board.set_task("e1", "fix login", (), None, NOW)
    known = server.board.open_episodes()
    servers.next()
    for attempt in (
        lambda: server.open("e2"),
        lambda: server.board.close("e1", "x", NOW),
        lambda: server.board.set_task("e1", "other", (), None, NOW),
        lambda: server.board.set_next("e1", "x", NOW),
        lambda: server.board.end_task("e1", NOW),
    ):
        with pytest.raises(SupersededError):
            attempt()
    assert (server.board.open_episodes(), server.board.tasks()) == (known, {"e1": task})


def test_the_version_grows_with_what_a_brief_could_show(server: Server, servers: Servers) -> None:
    """Every change that a brief could show is noticed; to hear again one that was heard is none."""
    versions = [server.board.version]

    def changed() -> bool:
        versions.append(server.board.version)
        return versions[-1] > versions[-2]

    server.open()
    assert changed()
    server.board.hear("e1", later(seconds=1))
    assert not changed()
    server.board.set_task("e1", "x", (), None, NOW)
    assert changed()
    server.board.set_next("e1", "x", NOW)
    assert changed()
    server.board.end_task("e1", NOW)
    assert changed()
    server.board.close("e1", "x", NOW)
    assert changed()


def test_many_threads_at_once_lose_nothing(server: Server, servers: Servers) -> None:
    """Opened, set, heard and closed from many threads: the board in memory is the board that is stored."""

    def life(number: int) -> None:
        name = f"e{number:02}"
        server.open(name, later(seconds=number))
        server.board.set_task(name, f"task {number}", (), None, NOW)
        server.board.hear(name, later(hours=1))
        server.board.store_hearings()
        if number % 2:
            server.board.close(name, "odd", NOW)

    threads = [threading.Thread(target=life, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known = [one.episode for one in server.board.open_episodes()]
    assert [each.id for each in known] == [f"e{number:02}" for number in range(0, 16, 2)]
    assert [one.episode for one in servers.stored().open_episodes()] == known
    assert servers.stored().tasks() == server.board.tasks()


# ---------------------------------------------------------------- rows of another hand


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE episodes SET state = 'asleep'", "the stored episode of e1 cannot be read: its state is not a value"),
        ("UPDATE episodes SET since = 'noon'", "its since is not a value that majordomus writes"),
        ("UPDATE episodes SET process = '{'", "its process is not JSON"),
        ("UPDATE tasks SET scope = 'src'", "the stored task of e1 cannot be read: its scope is not JSON"),
        ("UPDATE tasks SET scope = '{}'", "its scope is not a value that majordomus writes"),
        ("UPDATE episodes SET branch = CAST(x'ff' AS TEXT)", "Could not decode to UTF-8"),
    ],
)
def test_a_row_of_another_hand_is_a_sentence(server: Server, servers: Servers, change: str, told: str) -> None:
    """A row that majordomus would not have written is named with its episode and column, and no traceback."""
    server.open(process=Process(pid=1, start=None, boot=None))
    server.board.set_task("e1", "x", (), None, NOW)
    with contextlib.closing(sqlite3.connect(servers.path)) as connection, connection:
        connection.execute(change)
    with pytest.raises(StoreError, match=told):
        servers.next()


def test_moments_come_back_in_utc(server: Server, servers: Servers) -> None:
    """A moment in another zone is stored as the same moment."""
    server.open(now=NOW.astimezone())
    (known,) = servers.next().board.open_episodes()
    assert (known.episode.since, known.episode.since.tzinfo) == (NOW, UTC)
