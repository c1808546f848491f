from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from brief.core.wakes.rules import MINUTE, Instant, Rules, Skip, WakeStatus, wake_status
from brief.core.wakes.state import (
    LOST_AFTER,
    Change,
    Entry,
    Outcome,
    Prompt,
    WakeState,
    expire_lost,
    is_brief_owed,
    offer_prompt,
    recompose_prompt,
    record_brief,
    record_outcome,
    record_person_prompt,
    restart_interval,
    run_schedule,
    tidy_outbox,
    withdraw_prompt,
)
from samples import NOW

INTERVAL = 20 * MINUTE
RULES = Rules(on=True, interval=INTERVAL, limit=12, changed=False)
FRESH = WakeState(anchor=Instant(NOW, 0.0))
PROMPT = Prompt(id="p", text="wake úp", facts="f", composed=NOW)


def at(minutes: float) -> Instant:
    """So many minutes after NOW, by both clocks."""
    return Instant(NOW + minutes * MINUTE, minutes * 60)


def counted(change: Change) -> list[tuple[str, str, int]]:
    """What the ledger says of it."""
    return [(entry.kind, entry.detail, entry.count) for entry in change[1]]


def handed_out(wake_state: WakeState = FRESH, minutes: float = 20) -> WakeState:
    """The session with a prompt that a client has."""
    queued = run_schedule(wake_state, RULES, at(minutes), PROMPT)[0]
    return offer_prompt(queued, at(minutes).wall)[0]


# ---------------------------------------------------------------- the schedule


def test_beat_before_its_time() -> None:
    """Nothing happens before an interval is over, whatever was composed."""
    assert run_schedule(FRESH, RULES, at(19), PROMPT) == (FRESH, ())


def test_beat_without_a_prompt() -> None:
    """A wake that is due is not done before its prompt is composed."""
    assert run_schedule(FRESH, RULES, at(20), None) == (FRESH, ())


def test_beat_queues_one() -> None:
    """At its time one prompt waits, and the next interval begins where the last ended."""
    change = run_schedule(FRESH, RULES, at(21), PROMPT)
    assert change[0] == replace(FRESH, prompt=PROMPT, anchor=at(20))
    assert counted(change) == [("wake", "queued", 1)]


def test_misses_are_made_up_once() -> None:
    """R1: nine hours asleep make one wake, and 26 that are counted as missed."""
    change = run_schedule(FRESH, RULES, at(9 * 60 + 1), PROMPT)
    assert counted(change) == [("wake", "queued", 1), ("wake", "made up", 1), ("skipped", "missed", 26)]
    assert run_schedule(change[0], RULES, at(9 * 60 + 2), PROMPT) == (change[0], ())


def test_second_while_one_waits() -> None:
    """While one waits the next is passed over, once an interval, and the one that waits stays."""
    wake_state = run_schedule(FRESH, RULES, at(20), PROMPT)[0]
    for minutes in (40, 60):
        wake_state, entries = run_schedule(wake_state, RULES, at(minutes), PROMPT.replace(id="q"))
        assert entries == (Entry("skipped", Skip.WAITING),)
        assert wake_state.prompt == PROMPT


def test_unchanged_facts() -> None:
    """Under `changed` a session that has the facts is not woken for them, and that is counted."""
    wake_state = replace(FRESH, facts_read="f")
    rules = replace(RULES, changed=True)
    change = run_schedule(wake_state, rules, at(20), PROMPT)
    assert counted(change) == [("skipped", "unchanged", 1)]
    assert change[0] == replace(wake_state, anchor=at(20))
    assert run_schedule(wake_state, rules, at(20), PROMPT.replace(facts="g"))[0].prompt is not None


def test_withdrawn() -> None:
    """What waits can be withdrawn, and what a client has cannot."""
    waiting = run_schedule(FRESH, RULES, at(20), PROMPT)[0]
    change = withdraw_prompt(waiting, "paused")
    assert (change[0].prompt, counted(change)) == (None, [("wake", "withdrawn: paused", 1)])
    assert withdraw_prompt(FRESH, "paused") == (FRESH, ())
    assert withdraw_prompt(handed_out(), "paused") == (handed_out(), ())


def test_switched_off_and_on() -> None:
    """Once the switch is off nothing waits, and once it is on an interval goes by first."""
    waiting = run_schedule(FRESH, RULES, at(20), PROMPT)[0]
    after = restart_interval(waiting, at(30))[0]
    assert after == replace(FRESH, anchor=at(30))
    assert run_schedule(after, RULES, at(49), PROMPT)[0].prompt is None


# ---------------------------------------------------------------- outcomes


def test_submitted() -> None:
    """What was submitted is delivered: the next is due an interval later, the facts are told, the bytes counted."""
    change = record_outcome(handed_out(), "p", "submitted", at(25))
    assert change[0] == replace(FRESH, anchor=at(25), unprompted=1, briefed=at(25).wall, facts_read="f")
    assert change[1] == (Entry("wake", "submitted"), Entry("injected", "wake", size=8))


def test_nothing_is_delivered_before_its_outcome() -> None:
    """A prompt that was handed out is neither told nor counted as a wake."""
    wake_state = handed_out()
    assert (wake_state.briefed, wake_state.facts_read, wake_state.unprompted) == (None, None, 0)


def test_dropped() -> None:
    """After Esc nothing comes until a person speaks."""
    wake_state, entries = record_outcome(handed_out(), "p", "dropped", at(25))
    assert entries == (Entry("wake", "dropped"),)
    assert wake_status(wake_state.cadence, RULES) is WakeStatus.STOPPED
    for minutes in (45, 65, 9_000):
        wake_state, entries = run_schedule(wake_state, RULES, at(minutes), PROMPT)
        assert wake_state.prompt is None
        assert entries[0].detail == Skip.STOPPED
    wake_state = record_person_prompt(wake_state)[0]
    assert wake_status(wake_state.cadence, RULES) is WakeStatus.ON
    assert run_schedule(wake_state, RULES, at(9_100), PROMPT)[0].prompt == PROMPT


def test_held() -> None:
    """What a draft held waits again."""
    wake_state, entries = record_outcome(handed_out(), "p", "held", at(25))
    assert wake_state.prompt == PROMPT
    assert entries == (Entry("wake", "held"),)


def test_failed() -> None:
    """What failed is tried once more, then given up until the next interval; both times are counted."""
    wake_state, first = record_outcome(handed_out(), "p", "failed", at(25))
    assert wake_state.prompt == PROMPT.replace(failures=1)
    wake_state, second = record_outcome(offer_prompt(wake_state, at(26).wall)[0], "p", "failed", at(26))
    assert wake_state == replace(FRESH, anchor=at(26))
    assert first == second == (Entry("wake", "failed"),)


@pytest.mark.parametrize("outcome", ["submitted", "dropped", "held", "failed"])
def test_outcome_that_nobody_waits_for(outcome: Outcome) -> None:
    """An outcome told twice, of an unknown prompt, or of one that nobody was handed changes nothing."""
    waiting = run_schedule(FRESH, RULES, at(20), PROMPT)[0]
    done = record_outcome(handed_out(), "p", "submitted", at(25))[0]
    for wake_state, prompt_id in ((done, "p"), (handed_out(), "q"), (waiting, "p"), (FRESH, "p")):
        assert record_outcome(wake_state, prompt_id, outcome, at(26)) == (wake_state, ())


def test_handed_out_once() -> None:
    """A prompt that a client has is not handed out again, nor composed anew."""
    wake_state = handed_out()
    other = PROMPT.replace(id="q", text="new")
    assert offer_prompt(wake_state, at(30).wall) == recompose_prompt(wake_state, other) == (wake_state, ())
    assert offer_prompt(FRESH, at(30).wall) == recompose_prompt(FRESH, other) == (FRESH, ())


def test_recomposed() -> None:
    """A prompt that waits can say what is so now, and stays the same prompt."""
    waiting = run_schedule(FRESH, RULES, at(20), PROMPT)[0]
    fresh = Prompt(id="q", text="new", facts="g", composed=at(30).wall)
    assert recompose_prompt(waiting, fresh)[0].prompt == fresh.replace(id="p")


def test_lost() -> None:
    """A prompt whose outcome an idle session never told counts as a wake after two minutes, so there is none too many."""
    wake_state = handed_out()
    assert expire_lost(wake_state, at(21)) == (wake_state, ())
    later = Instant(at(20).wall + LOST_AFTER + timedelta(seconds=1), 99_999.0)
    change = expire_lost(wake_state, later)
    assert change[0] == replace(FRESH, anchor=later, unprompted=1)
    assert counted(change) == [("wake", "lost", 1)]
    assert expire_lost(FRESH, later) == (FRESH, ())


def test_prompt_is_not_lost_by_a_clock_that_was_set_back() -> None:
    """A prompt that a client took at a later hour than it is now is still in hand, and is dated now."""
    wake_state, _ = offer_prompt(replace(FRESH, prompt=PROMPT), at(30).wall)
    dated, entries = expire_lost(wake_state, at(20))
    assert entries == ()
    assert dated.prompt is not None
    assert dated.prompt.offered == at(20).wall
    assert expire_lost(dated, at(23))[0].prompt is None


def test_look_tidies_the_outbox() -> None:
    """A look withdraws what may not wait any longer, and of an idle session what is lost too, whatever keeps it."""
    waiting, later = run_schedule(FRESH, RULES, at(20), PROMPT)[0], at(30)
    off = replace(RULES, on=False)
    assert tidy_outbox(waiting, RULES, later, is_idle=True) == (waiting, ())
    assert counted(tidy_outbox(waiting, off, later, is_idle=True)) == [("wake", "withdrawn: off", 1)]
    assert counted(tidy_outbox(replace(waiting, stopped=True), RULES, later, is_idle=False)) == [
        ("wake", "withdrawn: stopped", 1)
    ]
    for rules in (RULES, off):
        assert tidy_outbox(handed_out(), rules, later, is_idle=False) == (handed_out(), ())
        assert counted(tidy_outbox(handed_out(), rules, later, is_idle=True)) == [("wake", "lost", 1)]


# ---------------------------------------------------------------- the person


def test_prompt_while_a_client_holds_a_wake() -> None:
    """A person's prompt does not carry the brief which a wake carries in the same moment; once that is lost it does."""
    waiting, wake_state = run_schedule(FRESH, RULES, at(20), PROMPT)[0], handed_out()
    assert is_brief_owed(waiting, RULES, at(20))
    assert [is_brief_owed(wake_state, RULES, at(minutes)) for minutes in (20, 22, 23)] == [False, False, True]
    held = record_outcome(wake_state, "p", "held", at(21))[0]
    assert is_brief_owed(held, RULES, at(21))


def test_limit() -> None:
    """After as many wakes as the limit there is none until a person speaks."""
    wake_state, minutes = FRESH, 0
    for _ in range(12):
        minutes += 20
        wake_state = record_outcome(handed_out(wake_state, minutes), "p", "submitted", at(minutes))[0]
    assert wake_status(wake_state.cadence, RULES) is WakeStatus.LIMIT
    wake_state, entries = run_schedule(wake_state, RULES, at(minutes + 20), PROMPT)
    assert (wake_state.prompt, entries) == (None, (Entry("skipped", Skip.LIMIT),))
    assert run_schedule(record_person_prompt(wake_state)[0], RULES, at(minutes + 40), PROMPT)[0].prompt == PROMPT


def test_brief_by_another_carrier() -> None:
    """A brief that came with a person's prompt empties the outbox, and the next wake is due an interval later."""
    waiting = run_schedule(FRESH, RULES, at(20), PROMPT)[0]
    change = record_brief(waiting, "mod", 900, "g", at(25))
    assert change[0] == replace(FRESH, anchor=at(25), briefed=at(25).wall, facts_read="g")
    assert change[1] == (Entry("wake", "withdrawn: the brief came otherwise"), Entry("injected", "mod", size=900))


@pytest.mark.parametrize(("changed", "wakes", "skips"), [(True, 0, 72), (False, 12, 60)])
def test_a_day_of_a_still_repository(changed: bool, wakes: int, skips: int) -> None:
    """In 24 hours `changed` wakes nobody and counts 72 skips; `always` wakes up to the limit."""
    rules, wake_state, told = replace(RULES, changed=changed), replace(FRESH, facts_read="f"), [0, 0]
    for minutes in range(1, 24 * 60 + 1):
        wake_state, entries = run_schedule(wake_state, rules, at(minutes), PROMPT)
        told[1] += sum(entry.count for entry in entries if entry.kind == "skipped")
        if wake_state.prompt is not None:
            wake_state = record_outcome(offer_prompt(wake_state, at(minutes).wall)[0], "p", "submitted", at(minutes))[0]
            told[0] += 1
    assert told == [wakes, skips]
