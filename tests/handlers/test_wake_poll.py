from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from brief.core.model.section_data import EpisodeState
from brief.handlers.wake_poll import PollAnswer, PollInputs, answer_poll
from brief.install.hooks import make_snippet
from brief.install.mods import Scope
from brief.sessions.database import Database
from brief.trust import WAKING, Trust
from process_helpers import start_of
from repo_fixture import ANN, BOB
from sandbox import Lab
from wake_helpers import ON, Woken

MINUTE = timedelta(minutes=1)


class Waiting(Woken):
    """The same, asked by processes that wait beside sessions."""

    def wait(
        self, session: str = ANN, *, since: float | None = None, scope: str = "project", **more: Any
    ) -> PollAnswer:
        """The answer to a process that began just now, or at `since` seconds of the steady clock."""
        began = self.steady if since is None else since
        return self.call(answer_poll, PollInputs, session=session, since=began, scope=scope, **more)

    def waits_until_due(self) -> float:
        """A session that hooks opened, its process asking once; an interval goes by and its wake is queued."""
        self.hook("session-start", provider="claude-code")
        began = self.steady
        self.wait(since=began)
        self.after(20)
        self.beat()
        return began


@pytest.fixture
def place(lab: Lab) -> Iterator[Waiting]:
    """A repository that wakes its sessions."""
    lab.commit()
    lab.state.mkdir()
    with closing(Database(lab.state / "majordomus.db", epoch=1)) as database:
        yield Waiting(lab, database)


def test_idle_session_is_woken(place: Waiting) -> None:
    """Once an interval is over the process gets the prompt, once, and with it the end."""
    began = place.waits_until_due()
    answer = place.wait(since=began)
    assert answer.prompt is not None
    assert answer.prompt.text.startswith("Majordomus, not the user:")
    assert answer.again_seconds is None
    assert place.wait().prompt is None


def test_delivered_with_the_prompt_that_the_client_makes_of_it(place: Waiting) -> None:
    """The wake is delivered when the client submits it, which its hook tells, and then nothing more goes with it."""
    began = place.waits_until_due()
    place.wait(since=began)
    assert "wake submitted" not in place.counted()
    place.put("koda", kind="lock")
    assert place.hook("user-prompt-submit", speaker="wake") == ""
    assert place.counted()["wake submitted"] == 1
    assert place.wake_state().unprompted == 1
    episode = place.episode()
    assert episode is not None
    assert episode.state is EpisodeState.BUSY


def test_prompt_that_quotes_a_wake(place: Waiting) -> None:
    """If no wake was handed out, a prompt that begins like one, or a client's that quotes one, carries the alerts."""
    place.hook("session-start", provider="claude-code")
    place.put("koda", kind="lock")
    assert "koda" in place.hook("user-prompt-submit", speaker="wake")


def test_when_to_ask_again(place: Waiting) -> None:
    """It asks once a minute, so that its session stays heard, and just after a wake is due; at once never."""
    place.hook("session-start", provider="claude-code")
    assert place.wait().again_seconds == 60
    place.after(19.5)
    assert place.wait().again_seconds == 31
    place.after(0.5)
    assert place.wait().again_seconds == 1


def test_busy_session_is_not_woken(place: Waiting) -> None:
    """While a turn runs the prompt waits, and its process asks no more often than before."""
    began = place.waits_until_due()
    place.hook("user-prompt-submit", speaker="client")
    answer = place.wait(since=began)
    assert (answer.prompt, answer.again_seconds) == (None, 60)
    place.hook("stop")
    assert place.wait().prompt is not None


def test_session_that_was_stopped_is_not_woken(place: Waiting) -> None:
    """After Esc no hook tells the end of the turn, so nothing comes until a person has spoken and was answered."""
    began = place.waits_until_due()
    place.hook("user-prompt-submit")
    place.after(20)
    place.beat()
    assert place.wait(since=began).prompt is None
    place.hook("user-prompt-submit")
    place.hook("stop")
    place.after(20)
    place.beat()
    assert place.wait().prompt is not None


def test_what_the_client_records_counts_too(place: Waiting) -> None:
    """A session that its hooks call idle and its client's own record busy, or waiting for a person, is not woken."""
    began = place.waits_until_due()
    folder = place.lab.home / ".claude/sessions"
    folder.mkdir(parents=True)
    pid = os.getpid()
    record = {
        "pid": pid,
        "sessionId": ANN,
        "cwd": str(place.lab.repo),
        "startedAt": 1_700_000_000_000,
        "procStart": str(start_of(pid)),
        "status": "waiting",
    }
    (folder / f"{pid}.json").write_text(json.dumps(record))
    assert place.service.context.seen().sessions
    assert place.wait(since=began).prompt is None
    (folder / f"{pid}.json").write_text(json.dumps(record | {"status": "idle"}))
    assert place.wait(since=began).prompt is not None


def test_of_several_the_last_waits_on(place: Waiting) -> None:
    """Each end of a turn starts another process; the older ones are to end, in whatever order they ask."""
    place.hook("session-start", provider="claude-code")
    old = place.steady
    place.wait(since=old)
    place.after(1)
    new = place.steady
    assert place.wait(since=new).again_seconds is not None
    answer = place.wait(since=old)
    assert answer.again_seconds is None
    assert "started later" in (answer.reason or "")
    assert place.wait(since=new).again_seconds is not None


def test_client_that_shows_another_session(place: Waiting) -> None:
    """The process of the session that its client showed before ends, also where nobody heard that session end."""
    client: dict[str, Any] = {"pid": os.getpid(), "process_start": start_of(os.getpid())}
    place.hook("session-start", provider="claude-code")
    old = place.steady
    place.wait(since=old, **client)
    place.after(1)
    assert place.wait(BOB, **client).again_seconds is not None
    place.after(20)
    place.beat()
    assert place.wait(since=old, **client).again_seconds is None


def test_session_that_two_clients_show(place: Waiting) -> None:
    """Beside each of them a process waits, one of which gets the wake; the end of one client ends nothing of the other."""
    place.hook("session-start", provider="claude-code", pid=1)
    began = place.steady
    place.wait(since=began, pid=1, process_start=1)
    place.after(1)
    place.hook("session-start", provider="claude-code", pid=2)
    later = place.steady
    place.wait(since=later, pid=2, process_start=2)
    place.after(1)
    place.board.close(ANN, "its process ended", place.clock.now)
    assert place.wait(since=later, pid=2, process_start=2).again_seconds is not None
    episode = place.episode()
    assert episode is not None
    assert episode.is_open


def test_session_that_was_closed_is_waited_for_no_more(place: Waiting) -> None:
    """The process of a session that was closed ends and opens nothing; one that began after that opens it anew."""
    place.hook("session-start", provider="claude-code")
    old = place.steady
    place.wait(since=old)
    place.after(1)
    place.hook("session-end", reason="clear")
    assert place.wait(since=old).again_seconds is None
    assert place.episode() is None
    place.after(1)
    assert place.wait().again_seconds is not None
    assert place.episode() is not None


def test_nobody_knows_the_session(place: Waiting) -> None:
    """A session that began before any server did is opened, idle, since such a process is started where one is."""
    place.wait(session=BOB, provider="claude-code")
    episode = place.episode(BOB)
    assert episode is not None
    assert (episode.state, episode.provider) == (EpisodeState.IDLE, "claude-code")


def test_mod_minds_the_session(place: Waiting) -> None:
    """If a mod of the same client sends heartbeats, no process waits, and the outbox is left to the mod."""
    began = place.waits_until_due()
    place.look("busy")
    answer = place.wait(since=began)
    assert (answer.prompt, answer.again_seconds) == (None, None)
    assert place.look().prompt is not None


def test_switch_that_is_off(place: Waiting) -> None:
    """With the switch off nobody is woken and no server started, and the process asks on, in case it is turned on."""
    began = place.waits_until_due()
    place.policy("version: 1\n")
    answer = place.wait(since=began)
    assert (answer.prompt, answer.again_seconds, answer.ensures) == (None, 60, False)
    assert "brief_on_interval" in (answer.reason or "")
    place.policy(ON)
    assert place.wait(since=began).ensures


def test_policy_that_starts_no_servers(place: Waiting) -> None:
    """If no server may be started automatically, this process starts none either."""
    place.policy(ON + "  ensure_server_on_start: false\n")
    assert not place.wait().ensures


def test_hook_of_the_user_needs_trust(place: Waiting) -> None:
    """A hook in the user's own settings is in every repository: it wakes only where that is trusted."""
    began = place.waits_until_due()
    answer = place.wait(since=began, scope="user")
    assert answer.prompt is None
    assert "majordomus trust" in (answer.reason or "")


def test_cloned_settings_do_not_make_a_hook_the_projects(place: Waiting) -> None:
    """Whatever a repository brings: if the person has a hook of their own, the session's channel is theirs and needs trust."""
    began = place.waits_until_due()
    own = place.lab.home / ".claude/settings.json"
    own.parent.mkdir()
    own.write_text(make_snippet(("majordomus",), Scope.USER))
    answer = place.wait(since=began)
    assert answer.prompt is None
    assert "majordomus trust" in (answer.reason or "")
    own.unlink()
    assert place.wait(since=began).reason is None
    assert "majordomus trust" in (place.wait(since=began, project=str(place.lab.home)).reason or "")
    (place.lab.repo / ".claude/settings.json").write_text('{"note": "majordomus hook wake --scope project"}')
    assert "majordomus trust" in (place.wait(since=began).reason or "")


def test_settings_of_the_folder_that_the_session_started_in(place: Waiting) -> None:
    """The settings that count are those of the folder that the client names, wherever in the repository that is."""
    began = place.waits_until_due()
    folder = place.lab.repo / "part"
    folder.mkdir()
    (place.lab.repo / ".claude").rename(folder / ".claude")
    assert "majordomus trust" in (place.wait(since=began).reason or "")
    assert place.wait(since=began, config="/nowhere", project=str(folder)).reason is None


def test_hook_that_is_trusted_wakes(place: Waiting) -> None:
    """Once trusted it wakes."""
    began = place.waits_until_due()
    Trust.read().grant(place.service.common_dir, [WAKING])
    assert place.wait(since=began, scope="user").prompt is not None


def test_limit_begins_anew_with_a_person(place: Waiting) -> None:
    """Prompts of a person begin the limit anew, those of the client and our own do not."""
    place.policy(ON + "  wake_limit: 1\n")
    began = place.waits_until_due()
    place.wait(since=began)
    place.hook("user-prompt-submit", speaker="wake")
    place.hook("stop")
    for speaker, comes in (("client", False), ("person", True)):
        place.hook("user-prompt-submit", speaker=speaker)
        place.hook("stop")
        place.after(20)
        place.beat()
        assert (place.wait().prompt is not None) is comes


def test_prompt_of_a_person_after_the_interval(place: Waiting) -> None:
    """With hooks too the brief goes with a person's prompt once an interval is over, which empties the outbox."""
    place.waits_until_due()
    assert place.wake_state().prompt is not None
    assert "[brief]" not in place.hook("user-prompt-submit", speaker="client")
    assert "[brief]" in place.hook("user-prompt-submit")
    assert place.wake_state().prompt is None
    assert "[brief]" not in place.hook("user-prompt-submit")


def test_prompt_of_a_person_where_the_switch_is_off(place: Waiting) -> None:
    """Without the switch a person's prompt carries the alerts alone, however long ago the brief was."""
    place.policy("version: 1\n")
    place.hook("session-start")
    place.after(600)
    assert "[brief]" not in place.hook("user-prompt-submit")


def test_only_who_is_not_woken_is_asked_to_report(place: Waiting) -> None:
    """The start of a session asks it to schedule a report of its own unless something waits beside it to wake it."""
    asked = "schedule that report now"
    assert asked in place.hook("session-start")
    place.wait(scope="project")
    assert asked not in place.hook("session-start")
    place.service.board.wakes.pause_all(place.clock.now)
    assert asked in place.hook("session-start")
    place.service.board.wakes.resume_all()
    place.wait(scope="user")
    assert asked in place.hook("session-start")
    place.wait(scope="project")
    place.policy("version: 1\n")
    assert asked in place.hook("session-start")
