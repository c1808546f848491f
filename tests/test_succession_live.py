"""What a session leaves to the one after `/clear`, handed over by real servers that fail or are killed meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from repo_fixture import ANN, BOB
from sandbox import Lab, until
from serving import FAST_LOOKS, SIGNAL_BEFORE, ask, finish, serve, write_policy

KILLED_AT_THE_LOCK = SIGNAL_BEFORE.format(place="brief.notices.inheritance:rewrite", number=9)
KILLED_AT_THE_SESSION = SIGNAL_BEFORE.format(place="brief.sessions.inheritance:write_episode", number=9)

FAILS_TWICE = """
import brief.notices.inheritance as inheritance
from brief.notices.folder_lock import NoticeError
real, failed = inheritance.rewrite, []
def rewrite(*args):
    if len(failed) < 2:
        failed.append(1)
        raise NoticeError("the disk is full")
    return real(*args)
inheritance.rewrite = rewrite
"""


def hook(lab: Lab, event: str, session: str, **more: Any) -> None:
    """What a client tells of a session of this very process; whether anybody answers is not asked."""
    ask(lab, "POST", "/hooks", {"event": event, "session": session, "pid": os.getpid(), **more})


def begun(lab: Lab) -> None:
    """A session with a task, a claim and a lock."""
    hook(lab, "session-start", ANN, source="startup")
    assert ask(lab, "POST", "/tasks", {"session": ANN, "title": "mend the login"}).status == 200
    assert ask(lab, "POST", "/peers", {"session": ANN, "intent": "mend", "scope": ["auth"]}).status == 200
    assert ask(lab, "POST", "/locks", {"session": ANN, "component": "koda"}).status == 200


def cleared(lab: Lab) -> None:
    """The client begins anew as another session."""
    hook(lab, "session-end", ANN, reason="clear")
    hook(lab, "session-start", BOB, source="clear")


def task(lab: Lab, session: str) -> str | None:
    """The title of the task of a session."""
    found = ask(lab, "GET", "/state", session=session).json()["data"]["task"]
    return None if found is None else str(found["title"])


def lock(lab: Lab) -> Path:
    """The file of the lock."""
    (path,) = lab.state.glob("notices/active/lock-*.md")
    return path


@pytest.mark.parametrize("patch", [KILLED_AT_THE_LOCK, KILLED_AT_THE_SESSION])
def test_a_server_that_is_killed_in_the_midst(patch: str, lab: Lab) -> None:
    """All that the one session had belongs to the other once the next server has looked, wherever the kill fell."""
    lab.commit()
    first = serve(lab)
    begun(lab)
    hook(lab, "session-end", ANN, reason="clear")
    first.terminate()
    finish(first)
    killed = serve(lab, patch)
    with pytest.raises(Exception, match="server"):
        hook(lab, "session-start", BOB, source="clear")
    assert finish(killed)[0] == -9
    serve(lab, FAST_LOOKS)
    if patch is KILLED_AT_THE_SESSION:  # nothing of it was stored, and the client speaks again
        hook(lab, "user-prompt-submit", BOB)
    until(lambda: BOB in lock(lab).read_text())
    assert (task(lab, BOB), ANN in lock(lab).read_text()) == ("mend the login", False)
    (held,) = ask(lab, "GET", "/locks").json()["locks"]
    assert (held["session_id"], held["owner"]) == (BOB, "alive")


def test_a_lock_that_could_not_be_written_at_first(lab: Lab) -> None:
    """It is written at a later look of the same server, with no word of any client; until then its owner lives."""
    lab.commit()
    serve(lab, FAILS_TWICE + FAST_LOOKS)
    begun(lab)
    cleared(lab)
    assert [one["owner"] for one in ask(lab, "GET", "/locks").json()["locks"]] == ["alive"]
    until(lambda: BOB in lock(lab).read_text())


def test_locks_in_the_folders_of_the_policy(lab: Lab) -> None:
    """A lock that lies in a folder of `alerts.folders` follows its session too, and so does a bug-dep."""
    lab.commit()
    write_policy(lab, "version: 1\nalerts:\n  folders: [notices]\n")
    active = lab.repo / "notices/active"
    active.mkdir(parents=True)
    for kind in ("lock", "bug-dep", "alert"):
        (active / f"{kind}.md").write_text(f"---\nkind: {kind}\ncomponent: auth\nsession_id: {ANN}\n---\n# {kind}\n")
    serve(lab)
    begun(lab)
    cleared(lab)
    assert [BOB in (active / f"{kind}.md").read_text() for kind in ("lock", "bug-dep", "alert")] == [True, True, False]


def test_a_lock_that_came_later_with_a_branch(lab: Lab) -> None:
    """A lock of the session before that comes into the folder afterwards is handed over beside the next brief."""
    lab.commit()
    write_policy(lab, "version: 1\nalerts:\n  folders: [notices]\n")
    serve(lab)
    begun(lab)
    cleared(lab)
    late = lab.repo / "notices/active/late.md"
    late.parent.mkdir(parents=True)
    late.write_text(f"---\nkind: lock\ncomponent: auth\nsession_id: {ANN}\n---\n# late\n")
    assert ask(lab, "GET", "/brief", session=BOB).status == 200
    until(lambda: BOB in late.read_text())
