from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Iterator
from datetime import timedelta

import pytest
from msgspec import ValidationError

from brief.core.model.errors import NotFoundError, RepositoryError, UsageError
from brief.core.wakes.wake_text import MOST_BYTES
from brief.sessions.database import Database
from brief.trust import WAKING, Trust
from repo_fixture import ANN, BEGIN, BOB
from sandbox import Lab
from wake_helpers import ON, Woken

MINUTE = timedelta(minutes=1)


@pytest.fixture
def place(lab: Lab) -> Iterator[Woken]:
    """A repository with one commit and a server's service."""
    lab.commit()
    lab.state.mkdir()
    with contextlib.closing(Database(lab.state / "majordomus.db", epoch=1)) as database:
        yield Woken(lab, database)


# ---------------------------------------------------------------- look


def test_first_look(place: Woken) -> None:
    """A look of a session that nobody knows opens it, and tells the line and when it is woken."""
    answer = place.look("busy", provider="claude-code", pid=1)
    episode = place.board.require_open(ANN)
    assert (episode.state, episode.provider, episode.process and episode.process.pid) == ("busy", "claude-code", 1)
    assert "peers 0" in answer.line
    assert answer.prompt is None
    assert (answer.switch, answer.reason, answer.wakes) == ("on", None, "on")
    assert (answer.due, answer.interval_minutes, answer.next_heartbeat_seconds) == (BEGIN + 20 * MINUTE, 20, 60)


def test_closed_session_is_opened_again(place: Woken) -> None:
    """A session that is resumed is open again."""
    place.look()
    place.board.close(ANN, "ended", place.clock.now)
    place.look()
    assert place.board.require_open(ANN).is_open


def test_state_of_a_session(place: Woken) -> None:
    """The state of a session is known to all others, and a heartbeat without a change keeps composed briefs valid."""
    for state in ("idle", "busy", "waiting"):
        place.look(state)
        assert place.board.require_open(ANN).state == state
    version = place.board.version
    place.look("waiting")
    assert place.board.version == version


def test_width(place: Woken) -> None:
    """The line is as narrow as it is asked for."""
    assert [len(place.look(width=width).line) <= width for width in (0, 5, 20)] == [True, True, True]


def test_line_is_that_of_the_brief(place: Woken) -> None:
    """The line of a look is the line of the session's brief: it counts everybody but itself, and knows its own task."""
    place.put("koda", kind="lock", component="koda")
    place.look(session=BOB)
    place.look()
    place.board.set_task(ANN, "mend the login", (), None, place.clock.now)
    for session in (ANN, BOB):
        kept = asyncio.run(place.service.brief(str(place.lab.repo), session, local=False))
        assert place.look(session=session).line == kept.value.line
        assert "peers 1" in kept.value.line


def test_settings_hook_is_silent(place: Woken) -> None:
    """If a mod sends heartbeats, the settings hook of the same client stays silent."""
    place.look()
    assert place.service.activity.is_served(ANN, place.clock.now)


def test_idle_session_is_woken(place: Woken) -> None:
    """An idle session is handed its prompt once, and is looked at sooner until its outcome is known."""
    prompt = place.woken()
    assert "[brief]" in prompt.text
    assert len(prompt.text.encode()) <= MOST_BYTES
    again = place.look()
    assert (again.prompt, again.next_heartbeat_seconds) == (None, 30)
    assert place.tell(prompt.id, "submitted").recorded
    after = place.look()
    assert (after.prompt, after.next_heartbeat_seconds, after.due) == (None, 60, place.clock.now + 20 * MINUTE)


@pytest.mark.parametrize(("state", "draft"), [("busy", False), ("waiting", False), ("idle", True)])
def test_who_is_not_interrupted(place: Woken, state: str, draft: bool) -> None:
    """A busy session, one that waits for a person, and a draft in the box hold the prompt until the next idle look."""
    place.look()
    place.after(20)
    place.beat()
    held = place.look(state, draft=draft)
    assert (held.prompt, held.next_heartbeat_seconds) == (None, 30)
    assert place.look().prompt is not None


def test_prompt_that_waited_is_composed_anew(place: Woken) -> None:
    """A prompt that waited for hours tells what is so when it is handed out, and is the same prompt."""
    place.look()
    place.after(20)
    place.beat()
    waiting = place.wake_state().prompt
    assert waiting is not None
    place.after(180)
    place.put("koda", kind="lock", component="koda")
    prompt = place.look().prompt
    assert prompt is not None
    assert prompt.id == waiting.id
    assert "koda title" in prompt.text


def test_two_clients_of_one_session(place: Woken) -> None:
    """Two clients with one session id get one prompt between them."""
    place.woken()
    assert [place.look(pid=pid).prompt for pid in (1, 2)] == [None, None]


def test_outcome_that_is_never_told(place: Woken) -> None:
    """A prompt of which nothing is heard counts as a wake, and the next comes an interval later."""
    place.woken()
    place.after(3)
    assert place.look("busy").prompt is None
    assert place.wake_state().prompt is not None
    place.look("idle")
    assert place.wake_state().prompt is None
    assert place.counted()["wake lost"] == 1
    place.after(19)
    place.beat()
    assert place.look().prompt is None


def test_policy_off_while_one_waits(place: Woken) -> None:
    """Once the switch is off, what waits is withdrawn with the next look, and why is said."""
    place.look()
    place.after(20)
    place.beat()
    place.policy("version: 1\n")
    answer = place.look()
    assert (answer.prompt, answer.switch, answer.wakes, answer.due) == (None, "off", "off", None)
    assert answer.reason is not None
    assert "session.brief_on_interval is not true" in answer.reason
    assert place.wake_state().prompt is None


@pytest.mark.parametrize("value", ['"true"', "yes", "1", "null", "[true]"])
def test_only_true_wakes(place: Woken, value: str) -> None:
    """R4: whatever is not true is off, and nothing is composed."""
    place.policy(f"version: 1\nsession:\n  brief_on_interval: {value}\n")
    place.look()
    place.after(60)
    place.beat()
    assert (place.look().prompt, place.look().switch) == (None, "off")
    assert place.counted() == {}


@pytest.mark.parametrize("minutes", ["0", "-5", '"20"', "1.5", "1e9", ".nan", "true"])
def test_faulty_interval(place: Woken, minutes: str) -> None:
    """R4: an interval that cannot be is never taken for another than the default, and the brief says so."""
    place.policy(f"{ON}  brief_interval_minutes: {minutes}\n")
    assert place.look().due == BEGIN + 20 * MINUTE
    assert "session.brief_interval_minutes" in " ".join(place.service.request_context(str(place.lab.repo)).notes)


def test_mod_of_the_user(place: Woken) -> None:
    """A mod that is installed for the user wakes nobody before its waking is trusted in this repository."""
    place.look()
    place.after(20)
    place.beat()
    untrusted = place.look(scope="user")
    assert (untrusted.switch, untrusted.prompt) == ("off", None)
    assert "majordomus trust" in (untrusted.reason or "")
    Trust.read().grant(place.lab.common_dir, [WAKING])
    assert place.look(scope="user").switch == "on"
    place.after(20)
    place.beat()
    assert place.look(scope="user").prompt is not None


def test_mod_that_only_says_it_is_the_projects(place: Woken) -> None:
    """If the person has the mod too, which the client then loads, or no checkout has it, waking needs trust."""
    own = place.lab.home / ".claude/skills/majordomus-brief/.claude-plugin"
    own.mkdir(parents=True)
    assert "majordomus trust" in (place.look().reason or "")
    own.rmdir()
    assert place.look().switch == "on"
    shutil.rmtree(place.lab.repo / ".claude")
    assert "majordomus trust" in (place.look().reason or "")


def test_mod_of_the_checkout_a_session_began_in(place: Woken) -> None:
    """A session that goes on in another checkout keeps the mod of the first."""
    place.lab.commit()
    assert place.look(root=str(place.lab.worktree("topic"))).switch == "on"


def test_session_that_no_episode_can_have(place: Woken) -> None:
    """An id that no episode can have is refused, and so is a folder of another repository."""
    with pytest.raises(UsageError, match="is not an episode id"):
        place.look(session="../../x")
    with pytest.raises(RepositoryError):
        place.look(root="/")
    with pytest.raises(ValidationError):
        place.look("asleep")


# ---------------------------------------------------------------- outcomes


def test_escape(place: Woken) -> None:
    """After Esc nothing comes at all, ten times over, until a person speaks; then the next interval wakes again."""
    place.tell(place.woken().id, "dropped")
    for _ in range(10):
        place.after(20)
        place.beat()
        assert (place.look().prompt, place.look().wakes) == (None, "stopped")
    place.prompt()
    assert place.look().wakes == "on"
    assert place.woken() is not None


def test_draft_that_came_between(place: Woken) -> None:
    """A prompt that a draft held back is handed out again at the next heartbeat."""
    prompt = place.woken()
    answer = place.tell(prompt.id, "held")
    assert (answer.recorded, answer.waiting) == (True, True)
    again = place.look().prompt
    assert again is not None
    assert again.id == prompt.id


def test_failed_twice(place: Woken) -> None:
    """A prompt that failed is handed out once more, and then no more in this interval."""
    prompt = place.woken()
    assert place.tell(prompt.id, "failed").waiting
    assert place.look().prompt == prompt
    assert not place.tell(prompt.id, "failed").waiting
    assert place.look().prompt is None
    assert place.counted()["wake failed"] == 2


def test_outcome_told_twice(place: Woken) -> None:
    """An outcome counts once, however often it is reported."""
    prompt = place.woken()
    assert [place.tell(prompt.id, "submitted").recorded for _ in range(3)] == [True, False, False]
    assert place.wake_state().unprompted == 1
    assert place.counted()["wake submitted"] == 1


def test_outcome_of_nothing(place: Woken) -> None:
    """An outcome of a prompt that is unknown is not recorded, and one of a session that is unknown is refused."""
    place.look()
    assert not place.tell("none", "submitted").recorded
    with pytest.raises(NotFoundError, match=BOB):
        place.tell("none", "submitted", session=BOB)


def test_what_was_owed_is_told_with_a_wake(place: Woken) -> None:
    """A follow-up stays due until a wake with its line was submitted."""
    place.look()
    place.board.follow_up(ANN, str(place.lab.repo), "fixed in KODA-12", place.clock.now)
    assert place.look().next_heartbeat_seconds == 30
    prompt = place.woken()
    assert "fixed in KODA-12" in prompt.text
    assert place.board.follow_ups(ANN)
    place.tell(prompt.id, "submitted")
    assert not place.board.follow_ups(ANN)


# ---------------------------------------------------------------- a prompt of a person


def test_first_prompt_carries_the_brief(place: Woken) -> None:
    """The first prompt of a session carries alerts and brief, the next ones within the interval the alerts alone."""
    place.put("koda", kind="lock")
    first, second = place.prompt(), place.prompt()
    assert (first.carries, second.carries) == ("brief", "alerts")
    assert first.context.index("koda title") < first.context.index("[brief]")
    assert "Keep briefed" not in first.context
    assert "[brief]" not in second.context
    assert [answer.bytes for answer in (first, second)] == [len(a.context.encode()) for a in (first, second)]
    assert place.board.require_open(ANN).state == "busy"


def test_nothing_to_attach(place: Woken) -> None:
    """Without notices a prompt within the interval gets nothing."""
    place.prompt()
    answer = place.prompt()
    assert (answer.context, answer.carries, answer.bytes) == ("", "nothing", 0)


def test_prompt_after_the_interval(place: Woken) -> None:
    """A person's prompt after the interval carries the brief, empties the outbox, and puts the next wake off."""
    place.prompt()
    place.after(20)
    place.beat()
    assert place.wake_state().prompt is not None
    place.after(1)
    assert place.prompt().carries == "brief"
    assert place.wake_state().prompt is None
    assert place.look().due == place.clock.now + 20 * MINUTE


def test_prompt_where_the_switch_is_off(place: Woken) -> None:
    """Without the switch the first prompt alone carries the brief."""
    place.policy("version: 1\n")
    carried = []
    for _ in range(3):
        carried.append(place.prompt().carries)
        place.after(60)
    assert carried == ["brief", "nothing", "nothing"]


def test_prompt_that_no_person_wrote(place: Woken) -> None:
    """A prompt of another kind gets the alerts, and neither ends Esc nor begins the limit anew."""
    place.tell(place.woken().id, "dropped")
    assert place.prompt(human=False).carries == "nothing"
    assert place.look().wakes == "stopped"


def test_limit(place: Woken) -> None:
    """After the limit nobody is woken, the line says so, and the next prompt of a person begins anew."""
    place.policy(f"{ON}  wake_limit: 2\n")
    for _ in range(2):
        place.tell(place.woken().id, "submitted")
    place.after(20)
    place.beat()
    answer = place.look()
    assert (answer.prompt, answer.wakes, answer.due) == (None, "limit", None)
    assert "wake limit reached" in answer.line
    place.prompt()
    assert "wake limit reached" not in place.look().line
    assert place.woken() is not None


def test_ledger(place: Woken) -> None:
    """What a session read, by which channel and how many bytes, is counted."""
    place.put("koda", kind="lock")
    attached = [place.prompt(), place.prompt()]
    prompt = place.woken()
    place.tell(prompt.id, "submitted")
    sizes = {line.detail: line.size for line in place.board.wakes.ledger(ANN) if line.kind == "injected"}
    assert sizes == {"mod": sum(each.bytes for each in attached), "wake": len(prompt.text.encode())}
