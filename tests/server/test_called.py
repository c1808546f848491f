"""What is owed to a session alone wakes it before its interval is over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from brief.core.wakes.wake_text import MOST_BYTES, REQUEST, RESUME
from brief.handlers.alert_commands import AddInputs, NoticeInputs, add_alert, end_alert
from fake_clock import Clocked, clocked, run
from repo_fixture import ANN, BOB
from sandbox import Lab
from wake_helpers import ON

LINE = "fixed in KODA-12 on koda: update and resume (Dates are off)"


@pytest.fixture
def place(lab: Lab) -> Iterator[Clocked]:
    """A repository with one commit, a server's service and its schedule, at BEGIN."""
    with clocked(lab) as made:
        yield made


def wait_for_fix(place: Clocked) -> str:
    """Ann waits for a bug to be fixed; the slug of her notice."""
    given = {"kind": "bug-dep", "title": "Dates are off", "component": "koda", "ticket": "KODA-12", "session": ANN}
    return place.call(add_alert, AddInputs, **given).slug


def fixed(place: Clocked) -> None:
    """Bob has fixed it, five minutes after Ann had her brief."""
    slug = wait_for_fix(place)
    place.look(session=ANN)
    place.prompt(session=ANN)
    place.look(session=ANN)
    place.after(5)
    place.call(end_alert, NoticeInputs, slug=slug, session=BOB)


@pytest.mark.parametrize("policy", [ON, f"{ON}  brief_when: changed\n"], ids=["always", "changed"])
def test_session_is_woken_at_once(place: Clocked, policy: str) -> None:
    """A session that waits for a bug is woken once it is fixed, is asked to resume, and is then left alone."""

    async def story() -> None:
        place.policy(policy)
        await asyncio.to_thread(lambda: fixed(place))
        assert await place.has_prompt()
        prompt = (await asyncio.to_thread(place.look)).prompt
        assert prompt is not None
        assert LINE in prompt.text
        assert prompt.text.endswith(RESUME)
        assert len(prompt.text.encode()) <= MOST_BYTES
        await asyncio.to_thread(lambda: place.tell(prompt.id, "submitted"))
        place.after(14.9)
        assert not await place.has_prompt()

    run(story(), place)
    assert place.counted()["wake queued"] == 1
    assert "skipped missed" not in place.counted()


def test_interval_begins_anew(place: Clocked) -> None:
    """The next wake comes an interval after that one, and is an ordinary one."""

    async def story() -> None:
        await asyncio.to_thread(lambda: fixed(place))
        await place.settled()
        await asyncio.to_thread(place.submitted)
        place.after(19.9)
        assert not await place.has_prompt()
        place.after(0.1)
        assert await place.has_prompt()
        prompt = (await asyncio.to_thread(place.look)).prompt
        assert prompt is not None
        assert prompt.text.endswith(REQUEST)

    run(story(), place)


def test_nobody_else_is_woken(place: Clocked) -> None:
    """The session that fixed the bug, and one that waits for nothing, are not woken."""

    async def story() -> None:
        await asyncio.to_thread(lambda: place.look(session=BOB))
        await asyncio.to_thread(lambda: fixed(place))
        assert not await place.has_prompt(BOB)

    run(story(), place)


@pytest.mark.parametrize("kept_by", ["paused", "off", "stopped", "limit"])
def test_rules_hold(place: Clocked, kept_by: str) -> None:
    """Switch, pause, Esc and limit prevent this wake too; the session reads the follow-up with its next prompt."""

    async def story() -> None:
        if kept_by == "limit":
            place.policy(f"{ON}  wake_limit: 1\n")
        await asyncio.to_thread(lambda: fixed(place))
        if kept_by == "paused":
            await asyncio.to_thread(lambda: place.pause(session=ANN))
        if kept_by == "off":
            place.policy("version: 1\n")
        if kept_by in ("stopped", "limit"):
            await place.settled()
            prompt = (await asyncio.to_thread(place.look)).prompt
            assert prompt is not None
            outcome = "dropped" if kept_by == "stopped" else "submitted"
            await asyncio.to_thread(lambda: place.tell(prompt.id, outcome))
            await asyncio.to_thread(lambda: place.board.follow_up(ANN, str(place.lab.repo), "again", place.clock.now))
            place.after(1)
        assert not await place.has_prompt()

    run(story(), place)


def test_person_was_told_meanwhile(place: Clocked) -> None:
    """A brief that says it, by whatever channel, leaves nothing to wake for."""

    async def story() -> None:
        await asyncio.to_thread(lambda: fixed(place))
        place.after(16)
        assert LINE in (await asyncio.to_thread(place.prompt)).context
        assert not await place.has_prompt()

    run(story(), place)


def test_wake_that_fails_is_not_tried_for_ever(place: Clocked) -> None:
    """A client that cannot submit it has two tries, and the next wake an interval later."""

    async def story() -> None:
        await asyncio.to_thread(lambda: fixed(place))
        for _ in range(2):
            await place.settled()
            prompt = (await asyncio.to_thread(place.look)).prompt
            assert prompt is not None
            name = prompt.id
            await asyncio.to_thread(place.tell, name, "failed")
        place.after(19.9)
        assert not await place.has_prompt()
        place.after(0.1)
        assert await place.has_prompt()

    run(story(), place)


def test_clock_set_back_wakes_nobody_for_ever(place: Clocked) -> None:
    """A follow-up from a moment ahead of the clock wakes the session with the interval, and only once."""

    async def story() -> None:
        await asyncio.to_thread(lambda: fixed(place))
        place.after(1, set_by=timedelta(days=-1))
        assert not await place.has_prompt()
        place.after(14)
        for _ in range(2):
            await place.settled()
            prompt = (await asyncio.to_thread(place.look)).prompt
            assert prompt is not None
            await asyncio.to_thread(place.tell, prompt.id, "failed")
        place.after(19.9)
        assert not await place.has_prompt()

    run(story(), place)
