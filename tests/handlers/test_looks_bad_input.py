from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from msgspec import ValidationError

from brief.core.model.errors import UsageError
from brief.core.wakes.state import Prompt
from brief.handlers import heartbeat
from brief.handlers.wakes import wakes_text
from brief.handlers.waking import compose_wake
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.sessions.database import Database
from repo_fixture import ANN, BOB
from sandbox import Lab
from wake_helpers import ON, Woken

MINUTE = timedelta(minutes=1)
TWICE = "this session is open in several clients"


@pytest.fixture
def place(lab: Lab) -> Iterator[Woken]:
    """A repository with one commit and a server's service."""
    lab.commit()
    lab.state.mkdir()
    with contextlib.closing(Database(lab.state / "majordomus.db", epoch=1)) as database:
        yield Woken(lab, database)


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions for which a prompt was composed, one by one."""
    told: list[str] = []

    async def counted(service: RepositoryService, look: RequestContext) -> Prompt:
        told.append(look.query.session or "")
        return await compose_wake(service, look)

    for module in ("brief.server.wake_scheduler.schedule", "brief.handlers.outbox"):
        monkeypatch.setattr(f"{module}.compose_wake", counted)
    return told


# ---------------------------------------------------------------- who looks


def test_two_clients_in_two_checkouts(place: Woken) -> None:
    """Two clients that show one session share one prompt; its record stays with the first, and both see a row about it."""
    linked = str(place.lab.worktree("linked"))
    (place.lab.base / "linked/.ai/repo").mkdir(parents=True)
    (place.lab.base / "linked/.ai/repo/policy.yaml").write_text("version: 1\n")
    place.look(pid=1)
    opened = place.board.require_open(ANN)
    prompts = []
    for minute in range(60):
        second = place.look("busy" if minute % 3 else "idle", pid=2, root=linked)
        first = place.look(pid=1)
        assert second.prompt is None
        if first.prompt is not None:
            prompts.append(first.prompt)
            place.tell(first.prompt.id, "submitted")
        assert (TWICE in second.line, TWICE in first.line) == (True, True)
        assert place.board.require_open(ANN).replace(heard=opened.heard) == opened
        place.after(1)
        place.beat()
    assert len({prompt.id for prompt in prompts}) == len(prompts) == 2
    assert place.counted() == {"injected wake": 2, "wake queued": 3, "wake submitted": 2}


def test_client_that_goes_on_with_a_session(place: Woken) -> None:
    """A session whose client is gone belongs to the next one, with its process, and the row about two clients disappears."""
    place.look(pid=1)
    place.look(pid=2)
    place.after(3)
    for _ in range(2):
        assert TWICE not in place.look(pid=2).line
    process = place.board.require_open(ANN).process
    assert process is not None
    assert process.pid == 2
    place.board.close(ANN, "its process ended", place.clock.now)
    place.look(pid=3)
    shown = place.board.clients(ANN, place.clock.now)
    assert [(client.pid, client.checkout) for client in shown] == [(3, str(place.lab.repo))]


def test_client_that_cannot_tell_its_process(place: Woken) -> None:
    """A client that names no process is not taken for another one, and a process that becomes known is recorded."""
    place.look()
    assert place.board.require_open(ANN).process is None
    place.look(pid=1)
    place.look()
    assert TWICE not in place.look(pid=1).line
    assert place.board.require_open(ANN).process is not None


@pytest.mark.parametrize(
    "session", ["", "\x1b[31mred", "a b", "../../x", "é", "x" * 129, "x" * 201, "-rf", "a\n", "a\0b"]
)
def test_hostile_session(place: Woken, session: str) -> None:
    """An id that no episode can have is refused by a look, an outcome, a prompt and a pause alike, and nothing is kept of it."""
    for ask in (
        lambda: place.look(session=session),
        lambda: place.tell("p", "submitted", session),
        lambda: place.prompt(session),
        lambda: place.pause(session=session),
    ):
        with pytest.raises((UsageError, ValidationError)) as told:
            ask()
        assert "\x1b" not in str(told.value)
    assert place.board.open_episodes() == ()
    assert place.board.clients(session, place.clock.now) == ()


@pytest.mark.parametrize("name", ["at", "now", "time", "next"])
def test_clock_of_a_client(place: Woken, name: str) -> None:
    """A look tells no time, so a client's clock may show what it likes: all moments are the server's."""
    with pytest.raises(ValidationError, match=name):
        place.look(**{name: "1999-12-31T23:59:59Z"})
    assert place.look().at == place.clock.now


# ---------------------------------------------------------------- outcomes


def test_prompt_of_another_session(place: Woken) -> None:
    """An outcome of another session's prompt, or of one that was never handed out, changes nothing for either."""
    prompt = place.woken()
    place.look(session=BOB)
    place.after(20)
    place.beat(BOB)
    waits = place.wake_state(BOB).prompt
    assert waits is not None
    before = place.wake_state(ANN), place.wake_state(BOB)
    for prompt_id, session in ((prompt.id, BOB), (waits.id, ANN), (waits.id, BOB), ("p" * 200, ANN)):
        for outcome in ("submitted", "dropped", "held", "failed"):
            assert not place.tell(prompt_id, outcome, session).recorded
    assert (place.wake_state(ANN), place.wake_state(BOB)) == before


def test_held_a_hundred_times(place: Woken, composed: list[str]) -> None:
    """A prompt that is held again and again is one prompt and one line of the ledger, composed anew every two minutes."""
    first = place.woken()
    del composed[:]
    for _ in range(100):
        place.after(0.5)
        assert place.tell(first.id, "held").waiting
        prompt = place.look().prompt
        assert prompt is not None
        assert prompt.id == first.id
        place.beat()
    assert len(composed) == 100 * 0.5 // 2.5
    assert place.counted() == {"wake queued": 1, "wake held": 100, "skipped one waits": 2}


def test_dropped_ten_times(place: Woken) -> None:
    """Each time that a wake is dropped nothing comes before the person spoke and an interval went by."""
    for times in range(1, 11):
        place.tell(place.woken().id, "dropped")
        place.after(60)
        place.beat()
        assert place.look().prompt is None
        place.prompt()
        place.after(19.9)
        place.beat()
        assert place.look().prompt is None
        assert place.counted()["wake dropped"] == times


def test_fails_for_ever(place: Woken) -> None:
    """A client that can submit nothing is asked twice an interval, and no more often."""
    handed_out = 0
    for _ in range(100):
        place.after(1)
        place.beat()
        prompt = place.look().prompt
        if prompt is not None:
            handed_out += 1
            place.tell(prompt.id, "failed")
    assert handed_out == 2 * 100 // 20 - 2
    assert place.counted() == {"wake queued": 4, "wake failed": 8}


def test_reason_of_a_failure(place: Woken, caplog: pytest.LogCaptureFixture) -> None:
    """Why a client could not submit is logged in one clean line and stands nowhere else."""
    prompt, reason = place.woken(), "\x1b]0;owned\x07no\nprompt\u202e box"
    told = {"session": ANN, "prompt": prompt.id, "outcome": "failed"}
    with caplog.at_level(logging.WARNING, "brief.handlers.heartbeat"):
        for _ in range(2):
            place.call(heartbeat.record_prompt_outcome, heartbeat.OutcomeInputs, **told, reason=reason)
    assert [vars(record)["reason"] for record in caplog.records] == ["no prompt box"]
    assert "prompt box" not in wakes_text(place.wakes())
    with pytest.raises(ValidationError, match="reason"):
        place.call(heartbeat.record_prompt_outcome, heartbeat.OutcomeInputs, **told, reason="x" * 201)


# ---------------------------------------------------------------- how long it takes


def test_turn_that_runs_tools(place: Woken) -> None:
    """A wake whose turn takes a while brings no other before an interval has gone by since it was submitted."""
    place.tell(place.woken().id, "submitted")
    place.prompt(human=False)
    for minute in range(1, 21):
        place.after(1)
        place.beat()
        state = "busy" if minute < 15 else "idle"
        assert (place.look(state).prompt is None) is (minute < 20)


def test_turn_that_outlasts_the_interval(place: Woken) -> None:
    """While a turn goes on for hours one prompt waits, and one is handed out at its end."""
    place.tell(place.woken().id, "submitted")
    for _ in range(180):
        place.after(1)
        place.beat()
        assert place.look("busy").prompt is None
    assert place.look().prompt is not None
    assert place.look().prompt is None
    assert place.counted()["wake queued"] == 2


def test_session_that_is_never_closed(place: Woken, composed: list[str]) -> None:
    """A session that nobody closes and that looks no more costs one prompt, for weeks, which is written when it is back."""
    place.look()
    for _ in range(21):
        for _ in range(4):
            place.after(6 * 60)
            place.beat()
    assert composed == []
    assert place.counted() == {"wake queued": 1, "wake made up": 1, "skipped missed": 17, "skipped one waits": 83 * 18}
    place.put("koda", kind="lock", component="koda", day="2026-11-01")
    prompt = place.look().prompt
    assert prompt is not None
    assert "koda title" in prompt.text
    assert composed == [ANN]


def test_session_that_is_resumed(place: Woken) -> None:
    """A session that was closed for days missed nothing: its interval begins when it is open again."""
    old = place.woken()
    place.board.close(ANN, "ended", place.clock.now)
    place.after(3 * 24 * 60)
    assert not place.tell(old.id, "submitted").recorded
    assert place.look().due == place.clock.now + 20 * MINUTE
    place.after(19)
    place.beat()
    assert place.look().prompt is None
    place.after(1)
    place.beat()
    assert place.look().prompt is not None
    assert "skipped missed" not in place.counted()


# ---------------------------------------------------------------- a policy that is edited


def test_limit_is_edited(place: Woken) -> None:
    """A lower limit withdraws what waits, a higher one lets it come again, and none ends it."""
    for _ in range(2):
        place.tell(place.woken().id, "submitted")
    place.after(20)
    place.beat()
    place.policy(f"{ON}  wake_limit: 2\n")
    assert (place.look().prompt, place.look().wakes) == (None, "limit")
    assert place.wake_state().prompt is None
    for limit in (3, 0):
        place.policy(f"{ON}  wake_limit: {limit}\n")
        place.tell(place.woken().id, "submitted")


def test_when_is_edited(place: Woken, composed: list[str]) -> None:
    """After a change from `always` to `changed` no session is woken for known facts, and after the way back all are."""
    place.tell(place.woken().id, "submitted")
    place.policy(f"{ON}  brief_when: changed\n")
    place.after(20)
    place.beat()
    assert place.wake_state().prompt is None
    place.policy(ON)
    assert place.woken() is not None
    assert composed == [ANN] * 3


def test_policy_that_cannot_be_read_any_more(place: Woken) -> None:
    """While a policy cannot be read, its last good rules apply and the brief says so; a switch that is no longer true is off."""
    place.policy(f"{ON}  brief_interval_minutes: 10\n")
    place.look()
    place.policy("version: 1\nsession: [")
    assert place.woken(minutes=10) is not None
    assert "a server keeps those that it read last" in " ".join(
        place.service.request_context(str(place.lab.repo)).notes
    )
    place.policy("version: 1\nsession:\n  brief_on_interval: yes please\n")
    assert (place.look().switch, place.look().wakes) == ("off", "off")


def test_many_looks_at_once(place: Woken) -> None:
    """Of twenty looks that come at the same moment one is handed the prompt."""
    place.look()
    place.after(20)
    place.beat()
    asked = heartbeat.HeartbeatInputs(root=str(place.lab.repo), session=ANN, state="idle")

    async def all_at_once() -> list[heartbeat.HeartbeatAnswer]:
        return await asyncio.gather(*(heartbeat.answer_heartbeat(place.service, asked) for _ in range(20)))

    assert len([one for one in asyncio.run(all_at_once()) if one.prompt is not None]) == 1
