from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import timedelta

import pytest

from brief.core.model.errors import ConflictError, NotFoundError
from brief.core.model.section_data import EpisodeState
from brief.core.wakes.state import Prompt
from brief.handlers import outbox
from brief.handlers.session_argument import with_whole_session
from brief.handlers.wakes import PauseInputs, paused_text, resumed_text, wakes_text
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.sessions.database import Database
from brief.trust import WAKING, Trust
from repo_fixture import ANN, BEGIN, BOB
from sandbox import Lab
from wake_helpers import ON, Woken

MINUTE = timedelta(minutes=1)


@pytest.fixture
def place(lab: Lab) -> Iterator[Woken]:
    """A repository with one commit, a server's service, and two sessions."""
    lab.commit()
    lab.state.mkdir()
    with contextlib.closing(Database(lab.state / "majordomus.db", epoch=1)) as database:
        made = Woken(lab, database)
        made.look(session=ANN)
        made.look(session=BOB)
        yield made


def statuses(place: Woken) -> dict[str, str]:
    """How every open session stands."""
    return {one.session: str(one.status) for one in place.wakes().sessions}


def test_list(place: Woken) -> None:
    """Every open session is listed, with when it is woken next or what waits for it, and what was counted."""
    place.tell(place.woken().id, "submitted")
    place.after(20)
    place.beat(BOB)
    ann, bob = place.wakes().sessions
    assert (ann.session, ann.status, ann.due, ann.waiting) == (ANN, "on", BEGIN + 40 * MINUTE, None)
    assert (ann.unprompted, ann.briefed) == (1, BEGIN + 20 * MINUTE)
    assert bob.waiting is not None
    assert (bob.waiting.composed, bob.waiting.offered) == (place.clock.now, None)
    place.board.set_task(BOB, "mend the login", (), None, place.clock.now)
    assert wakes_text(place.wakes()) == (
        "2 episodes are open in this repository\n"
        "- repo, idle (claude-code 11111111): woken next in 0m\n"
        "- repo, idle, mend the login (claude-code 22222222): a wake of just now waits for its next heartbeat\n"
    )


def test_counts_where_they_are_asked_for(place: Woken) -> None:
    """The counts of a session are below its line, and null in an answer that was not asked for them."""
    place.tell(place.woken().id, "submitted")
    place.after(40)
    place.beat(BOB)
    assert {one.ledger for one in place.wakes().sessions} == {None}
    text = wakes_text(place.wakes(counts=True))
    assert "\n    wake submitted: 1\n" in text
    assert "skipped missed: 2" in text


@pytest.mark.parametrize(
    ("state", "draft", "told"),
    [
        ("busy", False, "the end of its turn"),
        ("waiting", False, "the person to answer"),
        ("idle", True, "the draft in its box to be sent or removed"),
    ],
)
def test_what_a_wake_waits_for(place: Woken, state: str, draft: bool, told: str) -> None:
    """A wake that is not handed out says what holds it back."""
    place.after(20)
    place.beat()
    place.look(state, draft=draft)
    assert f": a wake of just now waits for {told}\n" in wakes_text(place.wakes())


def test_wake_that_nobody_would_take(place: Woken) -> None:
    """A session for which neither a mod nor a hook ever called is listed as one that no wake can reach."""
    place.hook("session-start", session="cid-11111111")
    place.after(20)
    place.beat("cid-11111111")
    assert "waits for a mod or a hook of its client, none of which has asked yet" in wakes_text(place.wakes())


def test_session_by_its_first_letters(place: Woken) -> None:
    """The letters that lists show stand for the whole id where they mean one open session, and for themselves where not."""
    asked = with_whole_session(place.service, PauseInputs(session=BOB[:8]))
    told = place.pause(session=asked.session)
    assert (told.meant, statuses(place)) == (BOB, {ANN: "on", BOB: "paused"})
    assert wakes_text(told).count("\n") == 1
    for letters in (BOB[:5], "1"):
        with pytest.raises(NotFoundError, match="is open here; see majordomus episode list"):
            place.wake(letters)


def test_session_to_which_nothing_happened(place: Woken) -> None:
    """A session that no mod minds is listed too, and so is one whose checkout is gone."""
    folder = place.lab.worktree("gone")
    for name, checkout in (("cid", place.lab.repo), ("dan", folder)):
        where, idle = str(checkout), EpisodeState.IDLE
        place.board.open(
            name, provider="codex", checkout=where, branch=None, process=None, state=idle, now=place.clock.now
        )
    shutil.rmtree(folder)
    assert statuses(place) == {ANN: "on", BOB: "on", "cid": "on", "dan": "off"}
    assert "0 sessions" not in wakes_text(place.wakes())


def test_pause_of_one(place: Woken) -> None:
    """A paused session is not woken, what waits for it is withdrawn, and its line says so; the other goes on."""
    place.after(20)
    place.beat(ANN, BOB)
    place.pause(session=ANN)
    assert statuses(place) == {ANN: "paused", BOB: "on"}
    answer = place.look()
    assert (answer.prompt, answer.wakes) == (None, "paused")
    assert "wakes paused" in answer.line
    assert "wakes paused" not in place.look(session=BOB).line
    for _ in range(3):
        place.after(20)
        place.beat()
    assert place.look().prompt is None
    assert place.counted()["skipped paused"] == 3
    place.resume(session=ANN)
    assert "wakes paused" not in place.look().line
    assert place.woken() is not None


def test_what_was_done_comes_first(place: Woken) -> None:
    """The answer to a pause and to its end says what was done and how to undo it, even if the policy wakes nobody."""
    place.policy("version: 1\n")
    told = paused_text(place.pause(session=ANN)).splitlines()
    assert told[0] == "paused: no wake is queued until majordomus wake resume"
    assert ": off: session.brief_on_interval is not true" in told[1]
    assert paused_text(place.pause(repository=True)).startswith(
        "paused: no wake is queued until majordomus wake resume --repository\n2 episodes are open in this repository; all"
    )
    resumed = place.resume(session=ANN)
    assert resumed_text(resumed).startswith("resumed: this session is no longer paused\n")


def test_pause_of_all(place: Woken) -> None:
    """A paused repository wakes nobody; what one session was paused by itself stays so after that."""
    place.after(20)
    place.beat(ANN, BOB)
    place.pause(session=BOB)
    paused = place.pause(repository=True)
    assert paused.paused == place.clock.now
    place.after(5)
    assert place.pause(repository=True).paused == paused.paused
    assert statuses(place) == {ANN: "paused", BOB: "paused"}
    assert [place.look(session=name).prompt for name in (ANN, BOB)] == [None, None]
    assert "all are paused, since 5m" in wakes_text(place.wakes())
    assert place.resume(repository=True).paused is None
    assert statuses(place) == {ANN: "on", BOB: "paused"}


def test_pause_outlives_the_server(place: Woken) -> None:
    """The next server knows who is paused."""
    place.pause(repository=True)
    place.pause(session=ANN)
    with contextlib.closing(Database(place.lab.state / "majordomus.db", epoch=2)) as database:
        assert set(statuses(Woken(place.lab, database)).values()) == {"paused"}


def test_paused_session_gets_its_brief(place: Woken) -> None:
    """A pause is of wakes: a person's prompt carries the brief all the same."""
    place.pause(session=ANN)
    assert place.prompt().carries == "brief"


def test_wake_now(place: Woken) -> None:
    """One that is asked for waits for the next look, whatever the time, and after Esc and the limit too."""
    place.wake()
    prompt = place.look().prompt
    assert prompt is not None
    place.tell(prompt.id, "dropped")
    place.wake()
    assert place.look().prompt is not None


def test_wake_now_where_nobody_is_woken(place: Woken) -> None:
    """It is refused with a sentence where one waits, where it is paused, where the switch is off, and for nobody."""
    place.wake()
    with pytest.raises(ConflictError, match="is waiting for it already"):
        place.wake()
    place.pause(session=ANN)
    with pytest.raises(ConflictError, match="majordomus wake resume"):
        place.wake()
    place.policy("version: 1\n")
    with pytest.raises(ConflictError, match=r"session\.brief_on_interval is not true"):
        place.wake()
    place.policy(ON)
    with pytest.raises(NotFoundError):
        place.wake("nobody")
    with pytest.raises(NotFoundError):
        place.pause(session="nobody")


# ---------------------------------------------------------------- who is not woken, and is told


def test_mod_of_the_user_without_trust(place: Woken) -> None:
    """A session whose heartbeat named the user's mod is off until that is trusted: nothing is queued, and the list says why."""
    place.look(scope="user")
    place.after(20)
    place.beat()
    assert place.wake_state().prompt is None
    one = next(one for one in place.wakes().sessions if one.session == ANN)
    assert (one.status, one.due) == ("off", None)
    assert "majordomus trust" in (one.reason or "")
    with pytest.raises(ConflictError, match="run majordomus trust"):
        place.wake()
    Trust.read().grant(place.lab.common_dir, [WAKING])
    place.beat()
    assert place.wake_state().prompt is not None


def test_wakes_that_cannot_be_read(place: Woken) -> None:
    """A session whose stored wakes cannot be read is listed as such, and prevents no other from being woken."""
    for session in (ANN, BOB):
        place.look(session=session)
    place.pause(session=ANN)
    with contextlib.closing(sqlite3.connect(place.lab.state / "majordomus.db", isolation_level=None)) as connection:
        connection.execute("UPDATE wakes SET anchor = 'yesterday' WHERE episode = ?", (ANN,))
    told = {one.session: one for one in place.wakes().sessions}
    assert "cannot be read" in (told[ANN].reason or "")
    assert told[BOB].due is not None
    place.after(20)
    asyncio.run(_looked(place))
    assert place.wake_state(BOB).prompt is not None


async def _looked(place: Woken) -> None:
    await place.schedule.place_jobs()
    await place.schedule.run_session(BOB)
    place.schedule.end()


def test_wake_that_cannot_be_written(place: Woken, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the prompt cannot be composed when it is due, the heartbeat still has its line, and the prompt stays in the outbox."""

    async def broken(service: RepositoryService, look: RequestContext) -> Prompt:
        raise OSError("the disk is gone")

    place.look()
    place.after(20)
    place.beat()
    with monkeypatch.context() as patched:
        patched.setattr(outbox, "compose_wake", broken)
        looked = place.look()
        assert looked.prompt is None
        assert "peers" in looked.line
    assert place.look().prompt is not None
