"""The state machine of a session's wakes. Each function is one event: it maps a state to the next, with ledger entries.

The outbox of a session holds at most one prompt, so that no second one is queued while one waits. A prompt counts as
delivered once a client reports its outcome, not when it is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from brief.core.model.wire import Moment, Wire
from brief.core.wakes.rules import (
    Cadence,
    Instant,
    QueueWake,
    Rules,
    Skip,
    SkipWakes,
    WakeStatus,
    decide_wake,
    is_brief_due,
    is_follow_up_due,
    is_news,
    skip_due_intervals,
    wake_status,
)

MOST_FAILURES = 2
"""A prompt that has failed this often is given up; until then it is tried again."""

LOST_AFTER = timedelta(minutes=2)
"""A prompt whose outcome is still unreported after this time, while its session is idle, is lost."""

Outcome = Literal["submitted", "dropped", "held", "failed"]


class Prompt(Wire, frozen=True):
    """A prompt in an outbox: when and from which facts it was composed, since when a client has it, how often it failed.

    A prompt without text is composed only when it is handed out; until then `composed` is when it was queued.
    """

    id: str
    text: str
    facts: str
    composed: Moment
    offered: Moment | None = None
    failures: int = 0


class Entry(Struct, frozen=True):
    """What the ledger counts: an event by kind and detail, and the bytes that the session read with it."""

    kind: Literal["injected", "wake", "skipped"]
    detail: str
    count: int = 1
    size: int = 0


class WakeState(Struct, frozen=True):
    """Everything known about a session's wakes.

    `briefed` is when it last read its brief, and `facts_read` the facts in that brief. `paused` is since when this session is
    paused, and `all_paused` since when the whole repository is.
    """

    anchor: Instant
    unprompted: int = 0
    stopped: bool = False
    briefed: datetime | None = None
    facts_read: str | None = None
    prompt: Prompt | None = None
    paused: datetime | None = None
    all_paused: datetime | None = None

    @property
    def paused_since(self) -> datetime | None:
        """Since when somebody has paused the session or the repository."""
        return self.all_paused or self.paused

    @property
    def cadence(self) -> Cadence:
        """The part of the state that the rules need."""
        return Cadence(
            anchor=self.anchor,
            unprompted=self.unprompted,
            stopped=self.stopped,
            paused=self.paused_since is not None,
            waiting=self.prompt is not None,
        )


Change = tuple[WakeState, tuple[Entry, ...]]
Step = Callable[[WakeState], Change]


def change_nothing(wake_state: WakeState) -> Change:
    """Change nothing."""
    return wake_state, ()


# ---------------------------------------------------------------- the schedule


def queue_prompt(wake_state: WakeState, prompt: Prompt, missed: int, rules: Rules, now: Instant) -> Change:
    """Put a prompt into the outbox. It makes up for the intervals that were missed, which are counted."""
    entries = [Entry("wake", "queued")]
    if missed:
        entries += [Entry("wake", "made up"), Entry("skipped", Skip.MISSED, missed)]
    return replace(wake_state, prompt=prompt, anchor=skip_due_intervals(wake_state.anchor, rules.interval, now)), tuple(
        entries
    )


def run_schedule(
    wake_state: WakeState, rules: Rules, now: Instant, prompt: Prompt | None, follow_up_due: datetime | None = None
) -> Change:
    """Let the schedule act. Nothing happens if a wake is due and its `prompt` is not composed yet.

    `follow_up_due` is since when a follow-up is due; it is always news, whatever the facts.
    """
    match decide_wake(wake_state.cadence, rules, now, follow_up_due):
        case SkipWakes(why, count):
            return skip_wakes(wake_state, why, count, rules, now)
        case QueueWake(missed) if prompt is not None:
            if not (
                is_follow_up_due(wake_state.anchor, follow_up_due, now)
                or is_news(rules, wake_state.facts_read, prompt.facts)
            ):
                return skip_wakes(wake_state, Skip.UNCHANGED, missed + 1, rules, now)
            return queue_prompt(wake_state, prompt, missed, rules, now)
    return change_nothing(wake_state)


def skip_wakes(wake_state: WakeState, why: Skip, count: int, rules: Rules, now: Instant) -> Change:
    """Skip wakes that were due, and count them."""
    return replace(wake_state, anchor=skip_due_intervals(wake_state.anchor, rules.interval, now)), (
        Entry("skipped", why, count),
    )


def withdraw_prompt(wake_state: WakeState, why: str) -> Change:
    """Take a waiting prompt out of the outbox. A client that already has the prompt may submit it and report so."""
    if wake_state.prompt is None or wake_state.prompt.offered is not None:
        return change_nothing(wake_state)
    return replace(wake_state, prompt=None), (Entry("wake", f"withdrawn: {why}"),)


def restart_interval(wake_state: WakeState, now: Instant) -> Change:
    """Withdraw a waiting prompt and start a new interval, since waking is off or the session was closed."""
    after, entries = withdraw_prompt(wake_state, "off")
    return replace(after, anchor=now), entries


# ---------------------------------------------------------------- the outbox


def recompose_prompt(wake_state: WakeState, prompt: Prompt) -> Change:
    """Replace the text of the waiting prompt with a newer one."""
    if wake_state.prompt is None or wake_state.prompt.offered is not None:
        return change_nothing(wake_state)
    fresh = wake_state.prompt.replace(text=prompt.text, facts=prompt.facts, composed=prompt.composed)
    return replace(wake_state, prompt=fresh), ()


def offer_prompt(wake_state: WakeState, now: datetime) -> Change:
    """Hand the prompt to a client, once."""
    if wake_state.prompt is None or wake_state.prompt.offered is not None:
        return change_nothing(wake_state)
    return replace(wake_state, prompt=wake_state.prompt.replace(offered=now)), ()


def is_lost(wake_state: WakeState, now: Instant) -> bool:
    """Whether the client of an idle session has lost the prompt that it was handed, having never reported an outcome.

    A wall clock that was set back proves nothing: the two minutes then start again, see `expire_lost`.
    """
    prompt = wake_state.prompt
    return prompt is not None and prompt.offered is not None and now.wall - prompt.offered > LOST_AFTER


def expire_lost(wake_state: WakeState, now: Instant) -> Change:
    """Count a lost prompt as a wake, so that there is never one too many. A prompt dated in the future is dated now."""
    if is_lost(wake_state, now):
        after = replace(wake_state, prompt=None, anchor=now, unprompted=wake_state.unprompted + 1)
        return after, (Entry("wake", "lost"),)
    prompt = wake_state.prompt
    if prompt is not None and prompt.offered is not None and prompt.offered > now.wall:
        return replace(wake_state, prompt=prompt.replace(offered=now.wall)), ()
    return change_nothing(wake_state)


def tidy_outbox(wake_state: WakeState, rules: Rules, now: Instant, *, is_idle: bool) -> Change:
    """Expire a lost prompt of an idle session, then withdraw one that may no longer be delivered."""
    after, entries = expire_lost(wake_state, now) if is_idle else change_nothing(wake_state)
    status = wake_status(after.cadence, rules)
    if status is WakeStatus.ON:
        return after, entries
    after, more = withdraw_prompt(after, status)
    return after, (*entries, *more)


def record_outcome(wake_state: WakeState, prompt_id: str, outcome: Outcome, now: Instant) -> Change:
    """Record the outcome of a prompt. An outcome of a prompt not handed out, or already reported, changes nothing."""
    prompt = wake_state.prompt
    if prompt is None or prompt.id != prompt_id or prompt.offered is None:
        return change_nothing(wake_state)
    match outcome:
        case "submitted":
            return _record_submitted(wake_state, prompt, now)
        case "dropped":
            after = replace(wake_state, prompt=None, anchor=now, stopped=True)
        case "held":
            after = replace(wake_state, prompt=prompt.replace(offered=None))
        case "failed":
            after = _record_failed(wake_state, prompt, now)
    return after, (Entry("wake", outcome),)


def _record_submitted(wake_state: WakeState, prompt: Prompt, now: Instant) -> Change:
    after = replace(
        wake_state,
        prompt=None,
        anchor=now,
        unprompted=wake_state.unprompted + 1,
        briefed=now.wall,
        facts_read=prompt.facts,
    )
    return after, (Entry("wake", "submitted"), Entry("injected", "wake", size=len(prompt.text.encode())))


def _record_failed(wake_state: WakeState, prompt: Prompt, now: Instant) -> WakeState:
    failures = prompt.failures + 1
    if failures >= MOST_FAILURES:
        return replace(wake_state, prompt=None, anchor=now)
    return replace(wake_state, prompt=prompt.replace(offered=None, failures=failures))


# ---------------------------------------------------------------- prompts of a person, and other channels


def record_person_prompt(wake_state: WakeState) -> Change:
    """Record that a person spoke to the session: the count towards the limit restarts, and a stop by Esc is over."""
    return replace(wake_state, unprompted=0, stopped=False), ()


def is_brief_owed(wake_state: WakeState, rules: Rules, now: Instant) -> bool:
    """Whether a person's prompt carries the brief. It does not while a client holds a wake that carries it."""
    is_in_hand = (
        wake_state.prompt is not None and wake_state.prompt.offered is not None and not is_lost(wake_state, now)
    )
    return not is_in_hand and is_brief_due(wake_state.cadence, rules, now, wake_state.briefed)


def record_brief(wake_state: WakeState, channel: str, size: int, facts: str, now: Instant) -> Change:
    """Record that the session read its brief by another channel. A waiting wake would say nothing new: withdraw it."""
    after, entries = withdraw_prompt(wake_state, "the brief came otherwise")
    after = replace(after, anchor=now, briefed=now.wall, facts_read=facts)
    return after, (*entries, Entry("injected", channel, size=size))
