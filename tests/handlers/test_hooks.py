from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

import pytest

from brief.core.model.errors import StoreError
from brief.core.model.wire import from_plain
from brief.core.notices.alerts_block import MOST
from brief.core.sessions.life import Life
from brief.handlers import session_context
from brief.handlers.hooks import HookInputs, report_event
from brief.sections import alerts
from brief.service import RepositoryService
from brief.sessions.board import Board
from brief.sessions.stored import StoredSessions
from repo_fixture import ANN, BEGIN, BOB, Clock, Place, identity
from sandbox import Lab

# ---------------------------------------------------------------- the episode


def test_life_of_an_episode(place: Place) -> None:
    """A session is idle from its start, busy from a prompt to the end of its turn, and closed with its client's reason."""
    told = []
    for event, source in (
        ("session-start", "startup"),
        ("user-prompt-submit", None),
        ("session-start", "compact"),
        ("stop", None),
        ("session-start", "compact"),
        ("user-prompt-submit", None),
        ("session-start", "resume"),
    ):
        place.hook(event, source=source, provider="claude-code", pid=1)
        episode = place.episode()
        assert episode is not None
        assert (episode.provider, episode.branch) == ("claude-code", "main")
        assert episode.process is not None
        told.append(str(episode.state))
    assert told == ["idle", "busy", "busy", "idle", "idle", "busy", "idle"]
    place.hook("session-end", reason="logout")
    assert place.episode() is None
    assert place.board.closed_episodes(1)[0].closed_reason == "its client ended it: logout"


def test_prompt_opens(place: Place) -> None:
    """A session that began before any server did is opened by its first prompt."""
    place.hook("user-prompt-submit")
    assert place.episode() is not None


def test_end_opens_nothing(place: Place) -> None:
    """The end of a turn or session of an unknown session changes nothing."""
    for event in ("stop", "session-end"):
        assert place.hook(event) == ""
    assert place.board.open_episodes() == ()
    assert place.board.closed_episodes(1) == ()


def test_provider_stays_known(place: Place) -> None:
    """A hook that cannot tell whose agent it is does not make others forget it."""
    place.hook("session-start", provider="claude-code")
    place.hook("user-prompt-submit")
    episode = place.episode()
    assert episode is not None
    assert episode.provider == "claude-code"


def test_without_a_session(place: Place) -> None:
    """A client that names no session opens none, and still gets the text."""
    place.put("koda", kind="lock")
    assert "koda title" in place.hook("user-prompt-submit", session=None)
    assert place.board.open_episodes() == ()


@pytest.mark.parametrize("session", ["../../x", "two words", "ž", "x" * 200])
def test_session_that_no_episode_can_have(place: Place, session: str) -> None:
    """An id that cannot be an episode's opens none, and the text comes all the same, courtesies once."""
    place.put("tea", kind="courtesy")
    assert "tea title" in place.hook("session-start", session=session)
    assert place.hook("user-prompt-submit", session=session) == ""
    assert place.board.open_episodes() == ()


@pytest.mark.parametrize("name", ["open", "open_episodes"])
def test_board_that_fails(place: Place, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an episode cannot be read or written, locks are still shown."""

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    place.put("koda", kind="lock")
    monkeypatch.setattr(Board, name, refuse)
    assert "koda title" in place.hook("user-prompt-submit")


def test_board_that_hangs(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same holds for a database that hangs."""
    let_go = threading.Event()
    monkeypatch.setattr(Board, "open", lambda *_, **__: let_go.wait(60))
    place.put("koda", kind="lock")
    assert "koda title" in place.hook("user-prompt-submit")
    let_go.set()


# ---------------------------------------------------------------- the text


def test_nothing_to_read(place: Place) -> None:
    """Without notices a prompt gets nothing, and a start gets the brief and how to keep briefed."""
    assert place.hook("user-prompt-submit") == ""
    start = place.hook("session-start", source="startup")
    assert start.startswith("[brief]\n")
    assert "state (read)" in start
    assert "majordomus brief" in start[-700:]
    assert "20 minutes" in start[-700:]


def test_budget_of_the_policy(place: Place) -> None:
    """The block of a prompt takes what the policy grants, and a start never more than a client takes."""
    for number in range(500):
        place.put(f"many-{number}", kind="lock", priority=number % 10)
    assert len(place.hook("user-prompt-submit")) <= 4_000
    assert 4_000 < len(place.hook("session-start")) <= MOST
    policy = place.lab.repo / ".ai/repo/policy.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text("version: 1\nalerts:\n  block_characters: 600\n")
    assert 0 < len(place.hook("user-prompt-submit")) <= 600


def test_owner_audience(place: Place) -> None:
    """T10: what is meant for the owner alone is in no text for a model."""
    place.put("owners", kind="reminder", audience="owner")
    place.put("everyones", kind="reminder")
    for event in ("user-prompt-submit", "session-start"):
        text = place.hook(event)
        assert "everyones title" in text
        assert "owners title" not in text


def test_lock_and_its_owner(place: Place) -> None:
    """A lock is shown with its owner alive while that session is open here, and gone once it has ended."""
    place.put("koda", kind="lock", component="koda", session_id=BOB)
    told = []
    for event in ("stop", "session-start", "session-end"):
        place.hook(event, session=BOB)
        text = place.hook("user-prompt-submit")
        told += [owner for owner in Life if f"lock on koda, owner {owner}:" in text]
    assert told == [Life.UNKNOWN, Life.ALIVE, Life.GONE]


def test_courtesy_once(place: Place) -> None:
    """T12: a courtesy on turn 1 and not on turn 2, a lock on both; a new session sees it, one without an id always."""
    place.put("tea", kind="courtesy")
    place.put("koda", kind="lock")
    turns = [place.hook("user-prompt-submit") for _ in range(5)]
    assert ["tea title" in turn for turn in turns] == [True, False, False, False, False]
    assert all("koda title" in turn for turn in turns)
    assert "tea title" not in place.hook("session-start")
    assert "tea title" in place.hook("session-start", session=BOB)
    assert "tea title" not in place.hook("user-prompt-submit", session=BOB)
    assert all("tea title" in place.hook("user-prompt-submit", session=None) for _ in range(3))


def test_courtesy_that_did_not_fit(place: Place) -> None:
    """A courtesy for which there was no room was not seen."""
    locks = [place.put(f"lock-{number}", kind="lock") for number in range(200)]
    place.put("tea", kind="courtesy")
    assert "tea title" not in place.hook("user-prompt-submit")
    for path in locks:
        path.unlink()
    assert "tea title" in place.hook("user-prompt-submit")


def test_courtesy_told_meanwhile(place: Place) -> None:
    """Of two channels that ask at once, only one tells it."""
    place.put("tea", kind="courtesy")
    place.put("koda", kind="lock")

    async def both() -> list[str]:
        asked = HookInputs(root=str(place.lab.repo), session=ANN, event="user-prompt-submit")
        return [
            answer.context
            for answer in await asyncio.gather(report_event(place.service, asked), report_event(place.service, asked))
        ]

    told = asyncio.run(both())
    assert sorted("tea title" in text for text in told) == [False, True]
    assert all("koda title" in text for text in told)


def test_marker_that_cannot_be_read(place: Place) -> None:
    """If it is unknown what was seen, everything is shown."""
    place.put("tea", kind="courtesy")
    (place.lab.state / "seen").write_text("no folder")
    assert all("tea title" in place.hook("user-prompt-submit") for _ in range(2))


def test_archived(place: Place) -> None:
    """T1: what is over is not shown, and is in the archive once a hook saw it; what is left stays where it is."""
    over = place.put("over", kind="alert", expires="2026-10-10")
    still = place.put("still", kind="alert", expires="2026-10-12")
    assert "over title" not in place.hook("user-prompt-submit")
    assert not over.exists()
    assert (place.lab.state / "notices/archive/over.md").exists()
    assert still.exists()


def test_notices_that_cannot_be_judged(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """If reading notices fails, a prompt goes on, and the start of a session still has its brief."""

    def refuse(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(session_context, "read_visibility", refuse)
    monkeypatch.setattr(alerts, "read_visibility", refuse)
    assert "- 1 folder, possibly locks, could not be read" in place.hook("user-prompt-submit")
    assert "alerts (unread)" in place.hook("session-start")


def test_what_is_owed(place: Place) -> None:
    """A follow-up is read at the start of the session, once."""
    place.hook("user-prompt-submit")
    place.board.follow_up(ANN, str(place.lab.repo), "fixed in KODA-12: update and resume", BEGIN)
    starts = [place.hook("session-start", source="resume") for _ in range(2)]
    assert ["fixed in KODA-12" in start for start in starts] == [True, False]


# ---------------------------------------------------------------- the mod


def test_silent_where_the_mod_served(place: Place) -> None:
    """For two minutes after the mod served a session, a settings hook adds nothing to it, and only records its state."""
    place.put("koda", kind="lock")
    assert "koda title" in place.hook("user-prompt-submit", channel="mod")
    for event in ("user-prompt-submit", "session-start"):
        assert place.hook(event) == ""
        assert "koda title" in place.hook(event, session=BOB)
        assert "koda title" in place.hook(event, session=None)
    place.hook("stop")
    place.clock.now += timedelta(seconds=119)
    assert place.hook("user-prompt-submit") == ""
    episode = place.episode()
    assert episode is not None
    assert (str(episode.state), episode.heard) == ("busy", place.clock.now)
    place.clock.now += timedelta(seconds=1)
    assert "koda title" in place.hook("user-prompt-submit")


def test_the_mod_is_never_silent(place: Place) -> None:
    """Every call of the mod itself is answered."""
    place.put("koda", kind="lock")
    assert all("koda title" in place.hook("user-prompt-submit", channel="mod") for _ in range(3))


# ---------------------------------------------------------------- alone


def test_alone(lab: Lab) -> None:
    """A service without a server says that peers are unread, and opens nothing."""
    lab.commit()
    stored = StoredSessions(lab.state / "majordomus.db")
    service = RepositoryService(
        lab.common_dir, now=Clock(), sessions=stored, absence="nobody holds it", identity=identity
    )
    asked = {"root": str(lab.repo), "session": ANN}
    prompt = from_plain(HookInputs, {**asked, "event": "user-prompt-submit"})
    start = from_plain(HookInputs, {**asked, "event": "session-start"})
    assert asyncio.run(report_event(service, prompt)).context == ""
    assert "peers (unread)" in asyncio.run(report_event(service, start)).context
    assert not lab.state.exists()
