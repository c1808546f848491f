"""What becomes of a session's wakes: each event as a function from what was to what is, and to what the ledger says of it.

A session has at most one prompt in its outbox, so that there is never a second while one waits. A prompt is delivered
once its outcome says so, and not when it is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from brief.core.model.wire import Moment, Wire
from brief.core.wakes.rules import (
    Cadence,
    Instant,
    Pass,
    Queue,
    Rules,
    Skip,
    WakeStatus,
    is_called,
    is_news,
    is_owed_with_prompt,
    passed,
    verdict,
    wake_status,
)

MOST_FAILURES = 2
"""How often a prompt may fail: it is tried once more, then given up."""

LOST_AFTER = timedelta(minutes=2)
"""After so long a session that is idle again holds no prompt whose outcome it did not tell."""

Outcome = Literal["submitted", "dropped", "held", "failed"]


class Prompt(Wire):
    """A prompt in an outbox: composed from which facts and when, since when a client has it, and how often it failed.

    One with no text is still to be written, when it is handed out; `composed` is then when it was queued.
    """

    id: str
    text: str
    facts: str
    composed: Moment
    offered: Moment | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger counts: an event by its kind and what tells it apart, and the bytes a session read with it."""

    kind: Literal["injected", "wake", "skipped"]
    detail: str
    count: int = 1
    size: int = 0


@dataclass(frozen=True, slots=True)
class WakeState:
    """All that is known of one session's wakes.

    `briefed` is when it last read its brief, `told` the facts in that; `paused` since when it is paused by itself,
    `all_paused` since when every session of the repository is.
    """

    anchor: Instant
    unprompted: int = 0
    stopped: bool = False
    briefed: datetime | None = None
    told: str | None = None
    prompt: Prompt | None = None
    paused: datetime | None = None
    all_paused: datetime | None = None

    @property
    def paused_since(self) -> datetime | None:
        """Since when the session is not woken by somebody's word."""
        return self.all_paused or self.paused

    @property
    def cadence(self) -> Cadence:
        """What the rules judge."""
        return Cadence(
            anchor=self.anchor,
            unprompted=self.unprompted,
            stopped=self.stopped,
            paused=self.paused_since is not None,
            waiting=self.prompt is not None,
        )


Change = tuple[WakeState, tuple[Entry, ...]]
Step = Callable[[WakeState], Change]


def unchanged(waking: WakeState) -> Change:
    """Nothing happens."""
    return waking, ()


# ---------------------------------------------------------------- the schedule


def queued(waking: WakeState, prompt: Prompt, missed: int, rules: Rules, now: Instant) -> Change:
    """A prompt goes into the outbox; the intervals that were missed are made up for by it and counted."""
    entries = [Entry("wake", "queued")]
    if missed:
        entries += [Entry("wake", "made up"), Entry("skipped", Skip.MISSED, missed)]
    return replace(waking, prompt=prompt, anchor=passed(waking.anchor, rules.interval, now)), tuple(entries)


def beat(
    waking: WakeState, rules: Rules, now: Instant, prompt: Prompt | None, called: datetime | None = None
) -> Change:
    """What the schedule does now; nothing where a wake is due and its `prompt` is not composed yet.

    What the session is `called` for is news, whatever the facts.
    """
    match verdict(waking.cadence, rules, now, called):
        case Pass(why, count):
            return skipped(waking, why, count, rules, now)
        case Queue(missed) if prompt is not None:
            if not (is_called(waking.anchor, called, now) or is_news(rules, waking.told, prompt.facts)):
                return skipped(waking, Skip.UNCHANGED, missed + 1, rules, now)
            return queued(waking, prompt, missed, rules, now)
    return unchanged(waking)


def skipped(waking: WakeState, why: Skip, count: int, rules: Rules, now: Instant) -> Change:
    """Wakes that were due are not queued."""
    return replace(waking, anchor=passed(waking.anchor, rules.interval, now)), (Entry("skipped", why, count),)


def withdrawn(waking: WakeState, why: str) -> Change:
    """What waits is taken out of the outbox; what a client has already is its own to submit, and it will tell."""
    if waking.prompt is None or waking.prompt.offered is not None:
        return unchanged(waking)
    return replace(waking, prompt=None), (Entry("wake", f"withdrawn: {why}"),)


def begun_anew(waking: WakeState, now: Instant) -> Change:
    """The switch is off, or the session was closed: what waits is withdrawn, and an interval goes by before the next."""
    after, entries = withdrawn(waking, "off")
    return replace(after, anchor=now), entries


# ---------------------------------------------------------------- the outbox


def recomposed(waking: WakeState, prompt: Prompt) -> Change:
    """The prompt that waits says what is so now."""
    if waking.prompt is None or waking.prompt.offered is not None:
        return unchanged(waking)
    fresh = waking.prompt.model_copy(update={"text": prompt.text, "facts": prompt.facts, "composed": prompt.composed})
    return replace(waking, prompt=fresh), ()


def offered(waking: WakeState, now: datetime) -> Change:
    """The prompt is handed to a client, once."""
    if waking.prompt is None or waking.prompt.offered is not None:
        return unchanged(waking)
    return replace(waking, prompt=waking.prompt.model_copy(update={"offered": now})), ()


def is_lost(waking: WakeState, now: Instant) -> bool:
    """Whether an idle session's client no longer has the prompt that it was handed, although it never said.

    A wall clock that was set back proves nothing: the two minutes begin anew, see `expire_lost`.
    """
    prompt = waking.prompt
    return prompt is not None and prompt.offered is not None and now.wall - prompt.offered > LOST_AFTER


def expire_lost(waking: WakeState, now: Instant) -> Change:
    """Count a lost prompt as a wake, so that there is never one too many. One that is dated ahead is dated now."""
    if is_lost(waking, now):
        after = replace(waking, prompt=None, anchor=now, unprompted=waking.unprompted + 1)
        return after, (Entry("wake", "lost"),)
    prompt = waking.prompt
    if prompt is not None and prompt.offered is not None and prompt.offered > now.wall:
        return replace(waking, prompt=prompt.model_copy(update={"offered": now.wall})), ()
    return unchanged(waking)


def tidied(waking: WakeState, rules: Rules, now: Instant, *, is_idle: bool) -> Change:
    """Expire a lost prompt of an idle session, then withdraw one that may no longer be delivered."""
    after, entries = expire_lost(waking, now) if is_idle else unchanged(waking)
    stands = wake_status(after.cadence, rules)
    if stands is WakeStatus.ON:
        return after, entries
    after, more = withdrawn(after, stands)
    return after, (*entries, *more)


def told_outcome(waking: WakeState, prompt_id: str, outcome: Outcome, now: Instant) -> Change:
    """A client tells what became of a prompt; of one that it was not handed, or told of before, nothing comes."""
    prompt = waking.prompt
    if prompt is None or prompt.id != prompt_id or prompt.offered is None:
        return unchanged(waking)
    match outcome:
        case "submitted":
            return _submitted(waking, prompt, now)
        case "dropped":
            after = replace(waking, prompt=None, anchor=now, stopped=True)
        case "held":
            after = replace(waking, prompt=prompt.model_copy(update={"offered": None}))
        case "failed":
            after = _failed(waking, prompt, now)
    return after, (Entry("wake", outcome),)


def _submitted(waking: WakeState, prompt: Prompt, now: Instant) -> Change:
    after = replace(
        waking,
        prompt=None,
        anchor=now,
        unprompted=waking.unprompted + 1,
        briefed=now.wall,
        told=prompt.facts,
    )
    return after, (Entry("wake", "submitted"), Entry("injected", "wake", size=len(prompt.text.encode())))


def _failed(waking: WakeState, prompt: Prompt, now: Instant) -> WakeState:
    failures = prompt.failures + 1
    if failures >= MOST_FAILURES:
        return replace(waking, prompt=None, anchor=now)
    return replace(waking, prompt=prompt.model_copy(update={"offered": None, "failures": failures}))


# ---------------------------------------------------------------- the person, and the other channels


def prompted(waking: WakeState) -> Change:
    """A person speaks to the session: the limit begins anew, and Esc is over."""
    return replace(waking, unprompted=0, stopped=False), ()


def owes_with_prompt(waking: WakeState, rules: Rules, now: Instant) -> bool:
    """Whether a person's prompt carries the brief; not while a client holds a wake that carries it in this moment."""
    is_in_hand = waking.prompt is not None and waking.prompt.offered is not None and not is_lost(waking, now)
    return not is_in_hand and is_owed_with_prompt(waking.cadence, rules, now, waking.briefed)


def briefed(waking: WakeState, channel: str, size: int, facts: str, now: Instant) -> Change:
    """The session has read its brief by another channel than a wake; what waits would tell it nothing new."""
    after, entries = withdrawn(waking, "the brief came otherwise")
    after = replace(after, anchor=now, briefed=now.wall, told=facts)
    return after, (*entries, Entry("injected", channel, size=size))
