from __future__ import annotations

from pathlib import Path

from claude import Session, settle_in
from live_house import beat_on, place_lock
from messages import HOLD, TOOL, Messages
from sandbox import Lab, until
from serving import write_policy

LINE = "derive free"
"""What the line of a quiet repository ends with."""


def test_an_idle_session_is_woken_at_each_interval(house: Lab, messages: Messages) -> None:
    """An idle session gets the brief as a prompt of its own, and at the next interval another."""
    with Session(house, messages, house.repo) as session:
        session.shows("Prompt from the majordomus-brief plugin")
        until(lambda: len(messages.wakes) >= 2, 60)
        assert all(LINE in wake or "derive" in wake for wake in messages.wakes)


def test_a_busy_session_is_not_interrupted(house: Lab, messages: Messages) -> None:
    """While a turn runs no prompt is queued behind it; the wake comes when the session is idle again."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say(f"{HOLD} for it")
        until(lambda: any(HOLD in prompt for prompt in messages.prompts), 30)
        count = len(messages.wakes)
        beat_on(session, 20)
        assert "Prompt from the majordomus-brief plugin" not in session.screen().rpartition(HOLD)[2]
        assert len(messages.wakes) == count
        messages.release()
        until(lambda: len(messages.wakes) > count, 40)


def test_a_draft_holds_the_wake(house: Lab, messages: Messages) -> None:
    """While something stands in the box nothing is submitted; once it is empty the wake comes."""
    with Session(house, messages, house.repo) as session:
        session.draft("half a thought")
        session.shows(LINE)
        beat_on(session, 20)
        assert messages.prompts == []
        session.press("C-u")
        until(lambda: messages.wakes, 40)


def test_the_first_prompt_of_a_person_carries_the_brief(house: Lab, messages: Messages, other: Path) -> None:
    """The first prompt carries the brief, the next one of the same interval the alerts alone."""
    place_lock(house, other)
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say("first")
        until(lambda: any(prompt.endswith("first") for prompt in messages.prompts), 30)
        session.shows("Understood")
        session.say("second")
        until(lambda: any(prompt.endswith("second") for prompt in messages.prompts), 30)
        first = next(prompt for prompt in messages.prompts if prompt.endswith("first"))
        second = next(prompt for prompt in messages.prompts if prompt.endswith("second"))
        assert "koda" in first
        assert "peers" in first
        assert "koda" in second
        assert "derive" not in second


def test_a_prompt_after_the_interval_carries_the_brief(house: Lab, messages: Messages) -> None:
    """A draft that is sent after the interval carries the brief, and with it the wake that waited is gone."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say("first")
        session.shows("Understood")
        session.draft("second")
        beat_on(session, 20)
        assert messages.wakes == []
        session.send("second")
        until(lambda: any(prompt.endswith("second") for prompt in messages.prompts), 30)
        assert "derive" in next(prompt for prompt in messages.prompts if prompt.endswith("second"))
        until(lambda: '"injected"' in _ledger(house), 30)
        assert "withdrawn: the brief came otherwise" in _ledger(house)


def test_a_question_is_not_interrupted(house: Lab, messages: Messages) -> None:
    """While a permission is asked for, the session is `waiting` and gets no prompt; once it is given, wakes go on."""
    settle_in(house, house.repo, permissions={"defaultMode": "default"})
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say(f"{TOOL} it")
        session.shows("Do you want to")
        until(lambda: "waiting" in house.majordomus("episode", "list").stdout, 30)
        count = len(messages.bodies)
        beat_on(session, 20)
        assert len(messages.bodies) == count
        session.press("Enter")
        until((house.repo / "touched").exists, 30)
        until(lambda: messages.wakes, 40)


def test_esc_drops_the_wake(house: Lab, messages: Messages) -> None:
    """After Esc nothing is submitted until the person types; then the wakes go on."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say(f"{HOLD} for it")
        until(lambda: any(HOLD in prompt for prompt in messages.prompts), 30)
        session.press("Escape")
        session.in_box(HOLD)
        session.press("C-u")
        count = len(messages.wakes)
        until(lambda: '"dropped"' in _ledger(house), 40)
        assert len(messages.wakes) == count
        session.say("go on")
        until(lambda: len(messages.wakes) > count, 40)


def _ledger(house: Lab) -> str:
    return house.majordomus("wake", "list", "--counts", "--format", "json").stdout


def test_switched_off_nothing_is_submitted(house: Lab, messages: Messages) -> None:
    """Once the policy is switched off the session is woken no more, and the line goes on."""
    with Session(house, messages, house.repo) as session:
        until(lambda: messages.wakes, 40)
        write_policy(house, "session:\n  brief_on_interval: false\n")
        beat_on(session, 2)
        count = len(messages.wakes)
        beat_on(session, 20)
        assert len(messages.wakes) == count
        assert LINE in session.screen()


def test_the_persons_own_mod_wakes_once_it_is_trusted(house: Lab, messages: Messages, other: Path) -> None:
    """A mod installed for the user serves the other worktree too, draws, and wakes only after `majordomus trust`."""
    house.majordomus("capture", "remove")
    assert "written" in house.majordomus("capture", "install", "--scope", "user").stdout
    with Session(house, messages, other) as session:
        session.shows(LINE)
        beat_on(session, 20)
        assert messages.wakes == []
        assert "trusted" in house.majordomus("trust", cwd=other).stdout
        until(lambda: messages.wakes, 40)
