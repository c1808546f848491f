from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from brief.core.policy.names import POLICY_FILE
from brief.core.wakes.state import Prompt
from brief.handlers.waking import compose_wake
from brief.request import RequestContext
from brief.server.wake_scheduler import schedule as module
from brief.server.wake_scheduler.schedule import Schedule
from brief.service import RepositoryService
from fake_clock import Clocked, clocked, run
from repo_fixture import ANN, BEGIN, BOB
from sandbox import Lab, until
from serving import ask, finish, install_for_project, lease, serve, write_policy
from wake_helpers import ON

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
CHANGED = f"{ON}  brief_when: changed\n"


@pytest.fixture
def place(lab: Lab) -> Iterator[Clocked]:
    """A repository with one commit, a server's service and its schedule, at BEGIN."""
    with clocked(lab) as made:
        yield made


# ---------------------------------------------------------------- the cadence, by the real scheduler


def test_once_an_interval(place: Clocked) -> None:
    """An idle session is woken at every interval and not in between."""

    async def story() -> None:
        await place.seen()
        for _ in range(3):
            assert not await place.has_prompt()
            place.after(19.9)
            assert not await place.has_prompt()
            place.after(0.1)
            assert await place.has_prompt()
            await asyncio.to_thread(place.submitted)
        assert place.counted()["wake submitted"] == 3

    run(story(), place)


@pytest.mark.parametrize(("jump", "missed"), [(HOUR, 2), (9 * HOUR, 26), (3 * DAY, 215), (21 * DAY, 1_511)])
def test_sleep_is_made_up_once(place: Clocked, jump: timedelta, missed: int) -> None:
    """R1: after a sleep one prompt is composed, the brief says how many were made up and skipped, and none follows it."""

    async def story() -> None:
        await place.seen()
        await place.settled()
        place.after(0, set_by=jump)
        assert await place.has_prompt()
        await place.settled()
        await asyncio.to_thread(place.submitted)
        assert not await place.has_prompt()
        assert place.counted()["wake queued"] == 1
        assert f"schedule: 1 run made up, {missed} skipped" in place.notes()

    run(story(), place)


@pytest.mark.parametrize("back", [HOUR, DAY])
def test_clock_set_back(place: Clocked, back: timedelta) -> None:
    """R2: a wall clock that is set back does not put off the next wake."""

    async def story() -> None:
        await place.seen()
        await place.settled()
        place.after(5, set_by=-back)
        assert not await place.has_prompt()
        place.after(14.9)
        assert not await place.has_prompt()
        place.after(0.1)
        assert await place.has_prompt()
        await asyncio.to_thread(place.submitted)
        place.after(19.9)
        assert not await place.has_prompt()
        place.after(0.2)
        assert await place.has_prompt()

    run(story(), place)


def test_next_server_keeps_the_cadence(place: Clocked) -> None:
    """R3: a server that starts seven minutes into an interval wakes at the end of that interval, and one that is late at once."""

    async def story() -> None:
        await place.seen()
        await place.settled()
        for minutes in (3, 4, 12.9):
            place.after(minutes)
            place.board.wakes._anchors.clear()  # what the process knew of its own clock
            place.steady = 0.0
            place.schedule.end()
            place.schedule = Schedule(place.service, place.faults, holds=lambda: True)
            assert not await place.has_prompt()
        place.after(0.1)
        assert await place.has_prompt()

    run(story(), place)


def test_slow_composing(place: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    """R5: what takes three intervals to compose is never composed twice at once, and the brief says what was left out."""
    running, most = 0, 0
    let_go, begun = asyncio.Event(), asyncio.Event()

    async def slow(service: RepositoryService, look: RequestContext) -> Prompt:
        nonlocal running, most
        running += 1
        most = max(most, running)
        begun.set()
        await let_go.wait()
        running -= 1
        return await compose_wake(service, look)

    monkeypatch.setattr(module, "compose_wake", slow)
    place.policy(CHANGED)

    async def story() -> None:
        await place.seen()
        await place.settled()
        place.after(20)
        await place.schedule.place_jobs()
        await begun.wait()
        for _ in range(2):
            place.after(20)
            assert place.schedule._jobs is not None
            place.schedule._jobs._scheduler.wakeup()
            await asyncio.sleep(0)
        let_go.set()
        assert await place.has_prompt()
        assert (most, running) == (1, 0)
        assert "schedule: 2 runs skipped because the previous one was still running" in place.notes()

    run(story(), place)


def test_composing_that_fails(place: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed run is reported in the brief, and the next one happens all the same."""

    async def broken(service: RepositoryService, look: RequestContext) -> Prompt:
        raise RuntimeError("no wake today")

    place.policy(CHANGED)

    async def story() -> None:
        await place.seen()
        await place.settled()
        with monkeypatch.context() as patched:
            patched.setattr(module, "compose_wake", broken)
            place.after(20)
            assert not await place.has_prompt()
        assert "schedule: 1 run failed, the last with RuntimeError: no wake today" in place.notes()
        assert await place.has_prompt()

    run(story(), place)


def test_written_when_handed_out(place: Clocked) -> None:
    """A prompt says what is so when its session takes it, and not what was so when it was queued."""

    async def story() -> None:
        await place.seen()
        place.after(20)
        assert await place.has_prompt()
        place.put("late", kind="lock", component="koda", session_id=BOB)
        taken = await asyncio.to_thread(place.look)
        assert taken.prompt is not None
        assert "late title" in taken.prompt.text

    run(story(), place)


def test_policy_that_changes(place: Clocked) -> None:
    """A policy that is edited counts at the next look: off withdraws what waits, on begins anew, an interval moves the beat."""

    async def story() -> None:
        await place.seen()
        await place.settled()
        place.after(20)
        assert await place.has_prompt()
        place.policy("version: 1\n")
        assert not await place.has_prompt()
        place.after(60)
        place.policy(ON)
        assert not await place.has_prompt()
        place.after(6)
        place.policy(f"{ON}  brief_interval_minutes: 5\n")
        assert await place.has_prompt()

    run(story(), place)


def test_facts_that_stay_the_same(place: Clocked) -> None:
    """Under `changed` a session that was briefed is not woken again before something has changed."""
    place.policy(CHANGED)

    async def story() -> None:
        await asyncio.to_thread(place.prompt)
        for _ in range(3):
            place.after(20)
            assert not await place.has_prompt()
        assert place.counted()["skipped unchanged"] == 3
        place.put("koda", kind="lock")
        place.after(20)
        assert await place.has_prompt()

    run(story(), place)


def test_sessions_come_and_go(place: Clocked) -> None:
    """A closed session is woken no more, and what waited for it is gone; another one goes on."""

    async def story() -> None:
        await place.seen(ANN)
        await place.seen(BOB)
        await place.settled()
        place.after(20)
        assert await place.has_prompt(ANN)
        place.board.close(ANN, "ended", place.clock.now)
        assert await place.has_prompt(BOB)
        assert not await place.has_prompt(ANN)
        await place.schedule.run_session(ANN)
        assert not await place.has_prompt(ANN)

    run(story(), place)


def test_other_checkouts(place: Clocked) -> None:
    """Each session is woken by the policy of its own checkout, and a checkout that is gone costs no other its wakes."""
    linked, gone = place.lab.worktree("linked"), place.lab.worktree("gone")
    own = linked / POLICY_FILE
    own.parent.mkdir(parents=True)
    own.write_text("session: {brief_on_interval: false}\n")

    async def story() -> None:
        await place.seen(ANN)
        for name, folder in ((BOB, linked), ("cid", gone)):
            await asyncio.to_thread(place.look, session=name, root=str(folder))
        place.lab.git("worktree", "remove", "--force", str(gone))
        await place.settled()
        place.after(20)
        assert [await place.has_prompt(name) for name in (ANN, BOB, "cid")] == [True, False, False]

    run(story(), place)


def test_server_that_holds_no_more(place: Clocked) -> None:
    """A superseded server queues nothing, and its schedule ends."""
    holds = True
    schedule = Schedule(place.service, place.faults, holds=lambda: holds)

    async def story() -> None:
        nonlocal holds
        await place.seen()
        await schedule.place_jobs()
        holds = False
        place.after(20)
        await schedule.run_session(ANN)
        await schedule.keep()
        assert place.wake_state().prompt is None

    run(story(), place)


def test_look_that_fails(place: Clocked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A schedule that could not look does so again."""
    looks = 0

    async def failing() -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise RuntimeError("broken")

    monkeypatch.setenv("MAJORDOMUS_TEST_MINUTE_SECONDS", "0.06")
    schedule = Schedule(place.service, place.faults, holds=lambda: looks < 2)
    monkeypatch.setattr(schedule, "place_jobs", failing)
    asyncio.run(schedule.keep())
    assert looks == 2
    assert "the schedule could not check its jobs" in caplog.text


# ---------------------------------------------------------------- real servers


_LOADED = "import sys, brief.server.app; sys.exit('apscheduler' in sys.modules or 'tzlocal' in sys.modules)"

_AT = """
import datetime, time_machine
time_machine.travel(datetime.datetime.fromisoformat({moment!r}), tick=True).start()
"""
"""A server whose clock shows a moment when it starts."""

_SHORT = "import os; os.environ['MAJORDOMUS_TEST_MINUTE_SECONDS'] = '1'"


def test_idle_server_stays_small(lab: Lab) -> None:
    """Nothing of the scheduler is loaded before a session is to be woken."""
    assert subprocess.run([sys.executable, "-c", _LOADED], env=lab.env, check=False).returncode == 0


def answered(lab: Lab, path: str, **body: Any) -> Any:
    """The answer of the server."""
    answer = ask(lab, "POST", path, body) if body else ask(lab, "GET", path)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


def looked(lab: Lab, session: str = ANN) -> Any:
    """The answer to a heartbeat of an idle session with a mod of the project."""
    install_for_project(lab)
    return answered(lab, "/episodes/heartbeat", session=session, state="idle")


def test_session_is_woken(lab: Lab) -> None:
    """A server wakes an idle session by itself, and tells when the next is due."""
    lab.commit()
    write_policy(lab, f"{ON}  brief_interval_minutes: 1\n")
    serve(lab, _SHORT)
    assert looked(lab)["next_heartbeat_seconds"] == 1
    until(lambda: answered(lab, "/wakes")["sessions"][0]["waiting"])
    prompt = looked(lab)["prompt"]
    assert prompt["text"].startswith("Majordomus, not the user")
    told = answered(lab, "/episodes/outcomes", session=ANN, prompt=prompt["id"], outcome="submitted")
    assert told == {"recorded": True, "waiting": False}
    until(lambda: looked(lab)["prompt"])


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_server_that_dies(end: str, lab: Lab) -> None:
    """R3: however a server ends, the next one wakes at the moment that the first one named, and at once where that is past."""
    lab.commit()
    write_policy(lab, ON)
    process = serve(lab, _AT.format(moment=BEGIN.isoformat()))
    due = datetime.fromisoformat(looked(lab)["due"])
    for minutes in (3, 7, 11, 15, 18):
        getattr(process, end)()
        finish(process)
        process = serve(lab, _AT.format(moment=(BEGIN + minutes * MINUTE).isoformat()))
        answer = looked(lab)
        assert answer["prompt"] is None
        assert abs(datetime.fromisoformat(answer["due"]) - due) < timedelta(seconds=1)
    getattr(process, end)()
    finish(process)
    serve(lab, _AT.format(moment=(BEGIN + 21 * MINUTE).isoformat()))
    until(lambda: looked(lab)["prompt"])
    assert json.loads(ask(lab, "GET", "/wakes", counts="true").body)["sessions"][0]["ledger"][0]["detail"] == "queued"


def test_prompt_that_waits_outlives_the_server(lab: Lab) -> None:
    """The prompt that waits when a server is killed is handed out by the next one, once, and the one after knows its outcome."""
    lab.commit()
    write_policy(lab, ON)
    process = serve(lab)
    looked(lab)
    answered(lab, "/wakes/now", session=ANN)
    process.kill()
    finish(process)
    process = serve(lab)
    prompt = looked(lab)["prompt"]
    assert prompt is not None
    process.kill()
    finish(process)
    serve(lab)
    assert looked(lab)["prompt"] is None
    assert answered(lab, "/episodes/outcomes", session=ANN, prompt=prompt["id"], outcome="submitted")["recorded"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/episodes/heartbeat", {"session": ANN}, 400),
        ("/episodes/heartbeat", {"session": ANN, "state": "asleep"}, 400),
        ("/episodes/heartbeat", {"session": "../x", "state": "idle"}, 400),
        ("/episodes/heartbeat", {"session": ANN, "state": "idle", "widht": 3}, 400),
        ("/episodes/heartbeat", {"session": ANN, "state": "idle", "provider": "x" * 500_000}, 400),
        ("/episodes/outcomes", {"session": ANN, "prompt": "p", "outcome": "done"}, 400),
        ("/episodes/outcomes", {"session": "nobody", "prompt": "p", "outcome": "held"}, 404),
        ("/wakes/now", {"session": ANN}, 404),
    ],
)
def test_bad_input(lab: Lab, path: str, body: dict[str, Any], status: int) -> None:
    """Input that cannot be understood is refused with a sentence, and the server goes on."""
    lab.commit()
    serve(lab)
    answer = ask(lab, "POST", path, body)
    assert answer.status == status
    assert json.loads(answer.body)["error"]
    assert looked(lab)["switch"] == "off"


@pytest.mark.parametrize("path", ["heartbeat", "outcomes", "prompt"])
def test_five_megabytes(lab: Lab, path: str) -> None:
    """A body of 5 MB is answered 413 without being read, and the server goes on."""
    lab.commit()
    serve(lab)
    body = json.dumps({"root": str(lab.repo), "session": "x" * 5_000_000}).encode()
    head = f"POST /api/v1/episodes/{path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(lease(lab)["socket"])
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413")
    assert looked(lab)["switch"] == "off"
