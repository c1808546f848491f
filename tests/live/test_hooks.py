from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from claude import Session, client, environment, settle_in
from live_house import place_lock
from messages import HOLD, Messages
from sandbox import Lab, until

INTERVAL = timedelta(seconds=6)
"""How long twelve minutes last in these tests."""


WAKE = "majordomus wakes this idle session"


def carried_by_hooks(house: Lab, folder: Path) -> None:
    """No mod, and the printed settings in this folder's `settings.json`."""
    house.majordomus("capture", "remove")
    settle_in(house, house.repo)
    folder.mkdir(exist_ok=True)
    printed = house.majordomus("capture", "install", "--channel", "hooks").stdout
    (folder / "settings.json").write_text(printed)


def test_the_hooks_fallback_wakes_too(house: Lab, messages: Messages, other: Path) -> None:
    """By the project's settings alone an idle session is woken once an interval, with the brief and the lock, and noted so."""
    carried_by_hooks(house, house.repo / ".claude")
    place_lock(house, other)
    with Session(house, messages, house.repo) as session:
        session.shows(WAKE)
        until(lambda: len(notified(messages)) >= 2, 60)
        assert all("[brief]" in wake and "koda" in wake for wake in notified(messages))
        until(lambda: "wake submitted" in house.majordomus("wake", "list", "--counts").stdout, 30)
        pid = session.pid
        until(lambda: len(beside(pid)) == 1, 30)
    until(lambda: not beside(pid), 30)


def test_the_hooks_fallback_does_not_interrupt(house: Lab, messages: Messages) -> None:
    """While a turn runs nothing comes, and after Esc neither, until the person has spoken again."""
    carried_by_hooks(house, house.repo / ".claude")
    with Session(house, messages, house.repo) as session:
        session.say(f"{HOLD} for it")
        until(lambda: any(HOLD in prompt for prompt in messages.prompts), 30)
        until(lambda: waits(house), 60)
        session.press("Escape")
        session.in_box(HOLD)
        count = len(messages.bodies)
        heard_on(house, INTERVAL)
        assert len(messages.bodies) == count
        session.press("C-u")
        session.say("go on")
        until(lambda: notified(messages), 40)


def test_a_hook_of_the_user_wakes_once_it_is_trusted(house: Lab, messages: Messages) -> None:
    """In the user's own settings the hooks carry brief and line everywhere, and wake only after `majordomus trust`."""
    carried_by_hooks(house, house.home / ".claude")
    with Session(house, messages, house.repo) as session:
        session.shows("derive free")
        heard_on(house, 2 * INTERVAL)
        assert messages.bodies == []
        assert "run majordomus trust" in house.majordomus("wake", "list").stdout
        assert "trusted" in house.majordomus("trust").stdout
        session.shows(WAKE)


def test_a_session_without_a_person_is_not_held_up(house: Lab, messages: Messages) -> None:
    """A session that a script runs ends when its answer is there: nothing waits beside it."""
    carried_by_hooks(house, house.repo / ".claude")
    argv = [client(), "-p", "hello"]
    done = subprocess.run(
        argv,
        cwd=house.repo,
        env=environment(house, messages),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Understood" in done.stdout
    assert notified(messages) == []


def waits(house: Lab) -> bool:
    """Whether a wake waits to be handed out."""
    return "a wake of" in house.majordomus("wake", "list").stdout


def heard_on(house: Lab, span: timedelta) -> None:
    """Wait until the session was heard that much later than now, as it is by whoever waits beside it."""
    begin = _heard(house)
    until(lambda: _heard(house) - begin >= span, 60)


def _heard(house: Lab) -> datetime:
    (one,) = json.loads(house.majordomus("episode", "list", "--format", "json").stdout)["open"]
    return datetime.fromisoformat(one["episode"]["heard"])


def beside(pid: int) -> list[str]:
    """The processes that wait beside the sessions of a client."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command, environ = ((process / name).read_bytes() for name in ("cmdline", "environ"))
            if b"hook\0wake" in command and f"CLAUDE_PID={pid}\0".encode() in environ:
                found.append(process.name)
    return found


def notified(messages: Messages) -> list[str]:
    """The prompts that the client wrote for a hook."""
    return [prompt for prompt in messages.prompts if WAKE in prompt]


def test_the_printed_settings_carry_brief_and_line(house: Lab, messages: Messages, other: Path) -> None:
    """Without the mod, the printed settings alone bring the brief and the lock to the model, and the line to the screen."""
    house.majordomus("capture", "remove")
    settings = json.loads(house.majordomus("capture", "install", "--channel", "hooks").stdout)
    settle_in(house, house.repo, **settings)
    place_lock(house, other)
    with Session(house, messages, house.repo) as session:
        session.shows("derive free")
        session.say("hello")
        until(lambda: messages.bodies, 30)
        told = json.dumps(messages.bodies[0])
        assert "SessionStart hook additional context" in told
        assert "koda" in told
        assert "derive" in told
