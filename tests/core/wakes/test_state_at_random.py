from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from brief.core.model.section_data import EpisodeState
from brief.core.wakes.rules import (
    MINUTE,
    Instant,
    QueueWake,
    Rules,
    WakeStatus,
    count_due,
    decide_wake,
    may_be_handed_out,
    settle_anchor,
    wake_status,
)
from brief.core.wakes.state import (
    Change,
    Outcome,
    Prompt,
    WakeState,
    is_brief_owed,
    is_lost,
    offer_prompt,
    queue_prompt,
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

pytestmark = pytest.mark.slow

INTERVALS = st.sampled_from([10, 20, 60])
LIMITS = st.sampled_from([0, 1, 3])
FACTS = st.sampled_from("abc")
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(["submitted", "submitted", "dropped", "held", "failed"])
IDLE = EpisodeState.IDLE
STATES = st.sampled_from([IDLE, IDLE, IDLE, EpisodeState.BUSY, EpisodeState.WAITING])


class Session(RuleBasedStateMachine):
    """Whatever happens to a session, in whatever order, it is never woken once too often.

    That is: one prompt at most; no wake nearer to the last brief than an interval but by `wake now` or where a client is
    silent for minutes about the one that it holds, none over the limit since a person spoke, none while off, paused or
    stopped. This is kept beside the session in the plainest words:
    `felt` is the time that went by for whoever believes every clock that is set forward, `wakes` the turns it cost.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = Instant(NOW, 0.0)
        self.wake_state = WakeState(anchor=self.now)
        self.policy = Rules(on=True, interval=20 * MINUTE, limit=3, changed=False)
        self.felt = self.briefed_at = timedelta(0)
        self.intervals: dict[str, timedelta] = {}
        self.wakes = 0
        self.esc = False
        self.in_hand: str | None = None

    def happens(self, change: Change) -> None:
        """A step of the session: a prompt never takes the place of another, and none goes without a word."""
        after, entries = change
        before = self.wake_state.prompt
        if before is not None and after.prompt is None:
            assert any(entry.kind == "wake" for entry in entries)
        assert before is None or after.prompt is None or before.id == after.prompt.id
        self.wake_state = after

    def known(self) -> WakeState:
        """The session as the process that now runs reads it."""
        return replace(self.wake_state, anchor=settle_anchor(self.wake_state.anchor, self.now))

    def prompt(self, facts: str) -> Prompt:
        """A prompt, composed now."""
        return Prompt(id=f"p{len(self.intervals)}", text="wake up", facts=facts, composed=self.now.wall)

    # -------------------------------------------------------- time, and the policy

    @rule(minutes=st.integers(0, 90), seconds=st.integers(0, 59))
    def time_goes_by(self, minutes: int, seconds: int) -> None:
        """By both clocks."""
        span = timedelta(minutes=minutes, seconds=seconds)
        self.now = Instant(self.now.wall + span, (self.now.steady or 0.0) + span.total_seconds())
        self.felt += span

    @rule(set_by=st.sampled_from([-1440, -60, -1, 1, 60, 540, 4320]).map(lambda minutes: minutes * MINUTE))
    def clock_is_set(self, set_by: timedelta) -> None:
        """The wall clock alone."""
        self.now = Instant(self.now.wall + set_by, self.now.steady)
        self.felt += max(set_by, timedelta(0))

    @rule()
    def next_server(self) -> None:
        """It knows what is stored: nothing of the steady clock."""
        self.wake_state = replace(self.wake_state, anchor=Instant(self.wake_state.anchor.wall))

    @rule(interval=INTERVALS, limit=LIMITS, changed=st.booleans())
    def policy_is_edited(self, interval: int, limit: int, changed: bool) -> None:
        """Other rules hold from now on."""
        self.policy = replace(self.policy, interval=interval * MINUTE, limit=limit, changed=changed)

    @rule(on=st.sampled_from([True, True, False]), seen=st.booleans())
    def switched(self, on: bool, seen: bool = True) -> None:
        """The schedule may not see it before it is switched again."""
        self.policy = replace(self.policy, on=on)
        if seen:
            self.happens(restart_interval(self.known(), self.now))

    @rule(facts=st.lists(FACTS, min_size=1, max_size=4), outcome=st.none() | OUTCOMES, short_by=st.integers(0, 15))
    def intervals_go_by(self, facts: list[str], outcome: Outcome | None, short_by: int) -> None:
        """What happens most, so that all else happens to a session that is woken."""
        for fact in facts:
            self.time_goes_by(self.policy.interval // MINUTE - short_by // 4, 0)
            self.beat(fact)
            self.look(IDLE, False, fact)
            if self.in_hand is not None and outcome is not None:
                self.outcome(outcome)

    @rule()
    def everything_resumed(self) -> None:
        """Nothing that a person commanded keeps it from being woken."""
        self.switched(True)
        self.resume(True)
        self.resume(False)

    # -------------------------------------------------------- the schedule, and who commands it

    @rule(facts=FACTS)
    def beat(self, facts: str) -> None:
        """The schedule looks whether something is due; what is due is done with."""
        self.happens(run_schedule(self.known(), self.policy, self.now, None))
        if isinstance(decide_wake(self.wake_state.cadence, self.policy, self.now), QueueWake):
            told, prompt = self.wake_state.facts_read, self.prompt(facts)
            self.happens(run_schedule(self.known(), self.policy, self.now, prompt))
            if self.wake_state.prompt is prompt:
                assert not (self.policy.changed and facts == told)
                self.intervals[prompt.id] = self.policy.interval
        assert not self.policy.on or count_due(self.wake_state.anchor, self.policy.interval, self.now) == 0

    @precondition(
        lambda self: self.policy.on and self.wake_state.paused_since is None and self.wake_state.prompt is None
    )
    @rule(facts=FACTS)
    def wake_now(self, facts: str) -> None:
        """A person asks for a wake."""
        prompt = self.prompt(facts)
        self.happens(queue_prompt(record_person_prompt(self.known())[0], prompt, 0, self.policy, self.now))
        self.intervals[prompt.id] = timedelta(0)
        self.wakes, self.esc = 0, False

    @rule(everybody=st.booleans())
    def pause(self, everybody: bool) -> None:
        """Of this session, or of all."""
        after, entries = withdraw_prompt(self.known(), "paused")
        since = self.now.wall
        self.happens((replace(after, all_paused=since) if everybody else replace(after, paused=since), entries))

    @rule(everybody=st.booleans())
    def resume(self, everybody: bool) -> None:
        """Of this session, or of all."""
        wake_state = self.wake_state
        self.wake_state = replace(wake_state, all_paused=None) if everybody else replace(wake_state, paused=None)

    # -------------------------------------------------------- the client

    @rule(state=STATES, draft=st.sampled_from([False, False, True]), facts=FACTS)
    def look(self, state: EpisodeState, draft: bool, facts: str) -> None:
        """A client asks; what it is handed, it holds."""
        is_idle, had = state is IDLE, self.wake_state.prompt
        self.happens(tidy_outbox(self.known(), self.policy, self.now, is_idle=is_idle))
        if self.in_hand is not None and self.wake_state.prompt is None and had is not None and had.id == self.in_hand:
            self.costs_a_turn()
        if (
            self.wake_state.prompt is None
            or self.wake_state.prompt.offered
            or not may_be_handed_out(state, draft=draft)
        ):
            return
        assert wake_status(self.wake_state.cadence, self.policy) is WakeStatus.ON
        assert self.policy.on
        assert self.wake_state.paused is self.wake_state.all_paused is None
        assert not self.esc
        assert self.policy.limit == 0 or self.wakes < self.policy.limit
        assert self.in_hand is None
        self.happens(recompose_prompt(self.known(), self.prompt(facts)))
        self.happens(offer_prompt(self.known(), self.now.wall))
        self.in_hand = self.wake_state.prompt.id

    @rule(outcome=OUTCOMES, number=st.integers(0, 50))
    def outcome_of_another(self, outcome: Outcome, number: int) -> None:
        """What is told of a prompt that no client holds changes nothing."""
        if f"p{number}" != self.in_hand:
            known = self.known()
            assert record_outcome(known, f"p{number}", outcome, self.now) == (known, ())

    @precondition(lambda self: self.in_hand is not None)
    @rule(outcome=OUTCOMES)
    def outcome(self, outcome: Outcome) -> None:
        """The client tells what became of what it holds."""
        prompt_id, self.in_hand = self.in_hand or "", None
        self.happens(record_outcome(self.known(), prompt_id, outcome, self.now))
        if outcome == "submitted":
            assert self.felt - self.briefed_at >= self.intervals[prompt_id]
            self.in_hand = prompt_id
            self.costs_a_turn()
            self.briefed_at = self.felt
        self.esc = self.esc or outcome == "dropped"

    def costs_a_turn(self) -> None:
        """The session was woken, or nobody can say that it was not."""
        self.in_hand = None
        self.wakes += 1

    @rule()
    def closed_and_opened_again(self) -> None:
        """The session ends, and is resumed."""
        self.in_hand = None
        self.wake_state = restart_interval(replace(self.known(), prompt=None), self.now)[0]

    # -------------------------------------------------------- the person

    @rule(facts=FACTS, minutes=st.sampled_from([0, 0, 5, 19]))
    def person_speaks(self, facts: str, minutes: int) -> None:
        """With or without the brief, a while later."""
        self.time_goes_by(minutes, 0)
        self.happens(record_person_prompt(self.known()))
        self.wakes, self.esc = 0, False
        if is_brief_owed(self.wake_state, self.policy, self.now):
            if self.in_hand is not None and is_lost(self.known(), self.now):
                self.intervals[self.in_hand] = timedelta(0)  # in doubt a brief is repeated, never dropped
            self.is_briefed(facts)

    @precondition(lambda self: self.in_hand is not None and not is_lost(self.known(), self.now))
    @rule(facts=FACTS, outcome=OUTCOMES)
    def person_speaks_over_a_wake(self, facts: str, outcome: Outcome) -> None:
        """In the moment in which the client holds it, as far as the clock tells."""
        self.person_speaks(facts, 0)
        self.outcome(outcome)

    @precondition(lambda self: self.in_hand is None)
    @rule(facts=FACTS)
    def is_briefed(self, facts: str) -> None:
        """By a hook, which is silent where a client looks."""
        self.happens(record_brief(self.known(), "mod", 1, facts, self.now))
        self.briefed_at = self.felt

    # -------------------------------------------------------- always

    @invariant()
    def one_prompt_at_most(self) -> None:
        """The client holds what the outbox says it does, and nothing else."""
        held = self.wake_state.prompt.id if self.wake_state.prompt and self.wake_state.prompt.offered else None
        assert held == self.in_hand


Session.TestCase.settings = settings(max_examples=500, stateful_step_count=60)
TestWhateverHappens = Session.TestCase
