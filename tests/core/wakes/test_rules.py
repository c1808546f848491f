from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import from_plain
from brief.core.policy.settings import Settings
from brief.core.wakes.rules import (
    MINUTE,
    NOTHING,
    Cadence,
    Instant,
    QueueWake,
    Rules,
    Skip,
    SkipWakes,
    WakeStatus,
    count_due,
    decide_wake,
    is_brief_due,
    is_follow_up_due,
    is_news,
    may_be_handed_out,
    rules_of_policy,
    settle_anchor,
    skip_due_intervals,
    time_left,
    time_since,
    wake_status,
)
from samples import NOW

INTERVAL = 20 * MINUTE
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
RULES = Rules(on=True, interval=INTERVAL, limit=12, changed=False)
ANCHOR = Instant(NOW, 1_000.0)
CADENCE = Cadence(ANCHOR)


def after(span: timedelta, set_by: timedelta = NOTHING) -> Instant:
    """The moment `span` after the anchor, by a wall clock that was set by `set_by` meanwhile."""
    return Instant(NOW + span + set_by, 1_000.0 + span.total_seconds())


spans = st.timedeltas(min_value=NOTHING, max_value=30 * DAY)
settings_of_clock = st.timedeltas(min_value=-30 * DAY, max_value=30 * DAY)
intervals = st.integers(1, 1_440).map(lambda minutes: minutes * MINUTE)


# ---------------------------------------------------------------- time


def test_nothing_is_due_before_an_interval() -> None:
    """A wake is due a whole interval after the last brief, and not a second sooner."""
    assert count_due(ANCHOR, INTERVAL, after(INTERVAL - timedelta(seconds=1))) == 0
    assert count_due(ANCHOR, INTERVAL, after(INTERVAL)) == 1
    assert time_left(ANCHOR, INTERVAL, after(7 * MINUTE)) == 13 * MINUTE


@pytest.mark.parametrize("back", [HOUR, DAY])
def test_clock_set_back_stalls_nothing(back: timedelta) -> None:
    """R2: a wall clock that is set back by an hour or a day changes nothing of when the next wake is due."""
    now = after(5 * MINUTE, -back)
    assert time_left(ANCHOR, INTERVAL, now) == 15 * MINUTE
    assert count_due(ANCHOR, INTERVAL, after(INTERVAL, -back)) == 1


@pytest.mark.parametrize("forward", [HOUR, 3 * DAY])
def test_jump_forward_wakes_once(forward: timedelta) -> None:
    """R1: after a sleep, or a clock set forward, one wake is due, the others are counted, and the next is an interval off."""
    now = after(5 * MINUTE, forward)
    found = decide_wake(CADENCE, RULES, now)
    assert found == QueueWake((forward + 5 * MINUTE) // INTERVAL - 1)
    assert decide_wake(replace(CADENCE, anchor=now), RULES, now) is None
    assert time_left(now, INTERVAL, now) == INTERVAL


def test_anchor_of_another_process() -> None:
    """R3: an anchor that another process stored counts by the wall clock, so a restart keeps the cadence."""
    stored = Instant(NOW)
    now = Instant(NOW + 7 * MINUTE, 3.0)
    assert time_left(stored, INTERVAL, now) == 13 * MINUTE
    here = settle_anchor(stored, now)
    assert here == Instant(NOW, 3.0 - 7 * 60)
    assert settle_anchor(here, Instant(NOW + HOUR, 9.0)) is here


def test_anchor_ahead_of_the_clock() -> None:
    """A clock that was set back while no server ran stalls the next wake for one interval, and not for longer."""
    now = Instant(NOW - DAY, 3.0)
    assert time_left(Instant(NOW), INTERVAL, now) == INTERVAL
    assert settle_anchor(Instant(NOW), now) == now


def test_beat_is_kept() -> None:
    """What is dealt with late leaves the beat where it was."""
    assert skip_due_intervals(ANCHOR, INTERVAL, after(3 * INTERVAL + 5 * MINUTE)) == after(3 * INTERVAL)


@given(span=spans, set_by=settings_of_clock, interval=intervals)
def test_never_longer_than_an_interval(span: timedelta, set_by: timedelta, interval: timedelta) -> None:
    """However a clock is set, the next wake is due within one interval."""
    now = after(span, set_by)
    assert NOTHING <= time_left(ANCHOR, interval, now) <= interval
    assert time_since(ANCHOR, now) >= span - timedelta(microseconds=1)


@given(span=spans, set_by=settings_of_clock, then=settings_of_clock, interval=intervals)
def test_dealt_with_is_dealt_with(span: timedelta, set_by: timedelta, then: timedelta, interval: timedelta) -> None:
    """Once what is due was dealt with, nothing is due at that moment, and something within an interval, clocks set or not."""
    now = after(span, set_by)
    anchor = skip_due_intervals(ANCHOR, interval, now)
    assert count_due(anchor, interval, now) == 0
    later = Instant(now.wall + interval + then, (now.steady or 0) + interval.total_seconds() + 0.001)
    assert count_due(anchor, interval, later) >= 1


@given(st.lists(st.tuples(st.timedeltas(min_value=NOTHING, max_value=HOUR), st.booleans()), max_size=60), intervals)
def test_one_wake_an_interval(events: list[tuple[timedelta, bool]], interval: timedelta) -> None:
    """One wake an interval, whatever happened: restarts, and looks as often as one likes."""
    spent, anchor, wakes = NOTHING, ANCHOR, []
    for span, is_restart in events:
        spent += span
        now = after(spent)
        anchor = settle_anchor(Instant(anchor.wall) if is_restart else anchor, now)
        if isinstance(
            decide_wake(Cadence(anchor), Rules(on=True, interval=interval, limit=0, changed=False), now), QueueWake
        ):
            wakes.append(spent)
            anchor = now
    assert all(later - earlier >= interval for earlier, later in pairwise(wakes))
    assert not wakes or wakes[0] >= interval


@given(st.lists(settings_of_clock, max_size=40))
def test_clock_that_flaps_floods_nobody(settings: list[timedelta]) -> None:
    """A clock that is set again and again within an interval makes one wake more at most."""
    anchor, wakes = ANCHOR, 0
    for number, set_by in enumerate(settings):
        now = after(timedelta(seconds=number), set_by - settings[0])
        if count_due(anchor, INTERVAL, now):
            wakes, anchor = wakes + 1, now
    highest = [max(settings[: at + 1]) for at in range(len(settings))]
    assert wakes <= len(set(highest))


# ---------------------------------------------------------------- judgement


@pytest.mark.parametrize(
    ("fields", "on", "stands"),
    [
        ({}, True, WakeStatus.ON),
        ({}, False, WakeStatus.OFF),
        ({"paused": True}, True, WakeStatus.PAUSED),
        ({"paused": True}, False, WakeStatus.OFF),
        ({"stopped": True}, True, WakeStatus.STOPPED),
        ({"unprompted": 11}, True, WakeStatus.ON),
        ({"unprompted": 12}, True, WakeStatus.LIMIT),
        ({"unprompted": 13, "paused": True}, True, WakeStatus.PAUSED),
    ],
)
def test_what_keeps_a_session_from_being_woken(fields: dict[str, bool | int], on: bool, stands: WakeStatus) -> None:
    """Off, paused, stopped by Esc and at the limit nobody is woken, and the first reason that a person must change is told."""
    cadence = replace(CADENCE, **fields)
    assert wake_status(cadence, replace(RULES, on=on)) is stands
    found = decide_wake(cadence, replace(RULES, on=on), after(INTERVAL))
    if stands is WakeStatus.ON:
        assert found == QueueWake(0)
    elif stands is WakeStatus.OFF:
        assert found is None
    else:
        assert found == SkipWakes(Skip(stands.value), 1)


def test_no_limit() -> None:
    """A limit of 0 sets none."""
    assert wake_status(replace(CADENCE, unprompted=10_000), replace(RULES, limit=0)) is WakeStatus.ON


def test_never_a_second_while_one_waits() -> None:
    """What is due while a prompt waits is passed over and counted."""
    assert decide_wake(replace(CADENCE, waiting=True), RULES, after(INTERVAL)) == SkipWakes(Skip.WAITING, 1)


def test_only_what_changed() -> None:
    """`changed` wakes for facts that the session was not told, `always` for any."""
    changed = replace(RULES, changed=True)
    assert [is_news(changed, told, "b") for told in (None, "a", "b")] == [True, True, False]
    assert is_news(RULES, "b", "b")


@pytest.mark.parametrize(
    ("briefed", "span", "on", "waiting", "owed"),
    [
        (False, NOTHING, True, False, True),
        (False, NOTHING, False, False, True),
        (True, 19 * MINUTE, True, False, False),
        (True, INTERVAL, True, False, True),
        (True, INTERVAL, False, False, False),
        (True, MINUTE, True, True, True),
    ],
)
def test_what_goes_with_a_prompt(*, briefed: bool, span: timedelta, on: bool, waiting: bool, owed: bool) -> None:
    """The first prompt carries the brief, and while the switch is on one an interval, and what waits anyhow."""
    cadence = replace(CADENCE, waiting=waiting)
    told: datetime | None = NOW if briefed else None
    assert is_brief_due(cadence, replace(RULES, on=on), after(span), told) is owed


@pytest.mark.parametrize("state", EpisodeState)
@pytest.mark.parametrize("draft", [False, True])
def test_who_is_interrupted(state: EpisodeState, *, draft: bool) -> None:
    """Only an idle session whose prompt box is empty gets a prompt: no busy one, none that waits for a person."""
    assert may_be_handed_out(state, draft=draft) is (state is EpisodeState.IDLE and not draft)


def test_rules_of_a_policy() -> None:
    """The rules are the policy's, in minutes of the given length."""
    session = {"brief_on_interval": True, "brief_interval_minutes": 5, "brief_when": "changed", "wake_limit": 3}
    made = rules_of_policy(from_plain(Settings, {"session": session}), timedelta(seconds=2))
    assert made == Rules(on=True, interval=timedelta(seconds=10), limit=3, changed=True)
    assert not rules_of_policy(Settings(), MINUTE).on


def test_called_once() -> None:
    """What a session waits for wakes it until it had its brief; what a clock dated ahead that was set back since, does not."""
    now = Instant(NOW + MINUTE, 1_060.0)
    assert is_follow_up_due(ANCHOR, NOW + MINUTE, now)
    assert not is_follow_up_due(ANCHOR, NOW, now)
    assert not is_follow_up_due(ANCHOR, None, now)
    assert not is_follow_up_due(ANCHOR, NOW + DAY, now)
