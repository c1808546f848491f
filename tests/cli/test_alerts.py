"""Alerts and locks by real commands, as people and sessions use them."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from repo_fixture import ANN, BOB
from sandbox import Lab


@pytest.fixture
def two(lab: Lab) -> Lab:
    """A repository with a second work tree named topic, and a server."""
    lab.commit()
    lab.worktree("topic")
    lab.start_server()
    return lab


def say(lab: Lab, *words: str, at: Path | None = None, session: str | None = None) -> str:
    """What a command prints, which must succeed."""
    env = {"CLAUDE_CODE_SESSION_ID": session} if session else None
    done = lab.majordomus(*words, cwd=at, env=env)
    assert (done.returncode, done.stderr) == (0, ""), words
    return done.stdout


def fail(lab: Lab, *words: str, code: int, session: str | None = None) -> str:
    """The one sentence that a command ends with."""
    done = lab.majordomus(*words, env={"CLAUDE_CODE_SESSION_ID": session} if session else None)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1), (words, done)
    return done.stderr.removeprefix("majordomus: ").rstrip("\n")


def block(lab: Lab, session: str, at: Path | None = None) -> str:
    """The block of a prompt, from the server."""
    told = json.dumps({"session_id": session, "cwd": str(at or lab.repo)})
    done = lab.majordomus("hook", "user-prompt-submit", stdin=told)
    assert (done.returncode, done.stderr) == (0, "")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def test_first_lock(two: Lab) -> None:
    """A lock placed in one work tree is in the prompt of the other with its owner alive; released, it is gone."""
    topic = two.base / "topic"
    say(two, "episode", "open", session=BOB, at=topic)
    placed = say(two, "lock", "place", "koda", "--title", "rebuilding", at=topic, session=BOB)
    assert placed.startswith(f"placed: lock on koda, session {BOB}\n")
    assert "- lock on koda, owner alive: rebuilding (lock-koda-" in block(two, ANN)
    assert f"koda: session {BOB}, owner alive, since " in say(two, "lock", "status")
    assert say(two, "lock", "audit", "--strict").startswith("ok    ok ")
    assert f"koda is locked by session {BOB}, owner alive, since " in fail(
        two, "lock", "place", "koda", code=1, session=ANN
    )
    assert "leave it to that session" in fail(two, "lock", "release", "koda", code=1, session=ANN)
    assert say(two, "lock", "release", "koda", session=BOB).startswith("released: lock on koda")
    assert block(two, ANN) == ""
    assert say(two, "lock", "status") == "0 locks are held\n"


def test_lock_needs_a_session(two: Lab) -> None:
    """Without a session, or with one that is no UUID, the command says how to give one, exit code 2."""
    for more in ([], ["--session", "agent-7"]):
        told = fail(two, "lock", "place", "koda", *more, code=2)
        assert told.endswith("give it with --session, or set CLAUDE_CODE_SESSION_ID")


def test_race_for_a_lock(two: Lab) -> None:
    """Of eight processes that place one lock at once one holds it, and the others are told whose it is, and since when."""
    sessions = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(lambda one: two.majordomus("lock", "place", "billing", "--session", one), sessions))
    (winner,) = (one for one, done in zip(sessions, ended, strict=True) if done.returncode == 0)
    for done in ended:
        if done.returncode:
            assert f"billing is locked by session {winner}, owner unknown, since 20" in done.stderr
    assert say(two, "lock", "status").count(winner) == 1


def test_audit_strict(two: Lab) -> None:
    """`lock audit --strict` exits 1 for a lock since `alerts.lock_owner_since` that does not name its owner; an older one warns."""
    policy = two.repo / ".ai/repo/policy.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text("version: 1\nalerts:\n  lock_owner_since: 2026-01-01\n")
    active = two.state / "notices/active"
    active.mkdir(parents=True)
    (active / "old.md").write_text("---\nkind: lock\ncreated: 2025-12-31\nexpires: 2999-01-01\n---\n")
    assert say(two, "lock", "audit", "--strict").startswith("warn  anonymous ")
    (active / "new.md").write_text("---\nkind: lock\ncreated: 2026-01-01\nexpires: 2999-01-01\nsession: 724929\n---\n")
    assert two.majordomus("lock", "audit").returncode == 0
    done = two.majordomus("lock", "audit", "--strict")
    assert (done.returncode, done.stderr) == (1, "")
    assert "fail  no-session-id " in done.stdout
    assert "warn  anonymous " in done.stdout


def test_added_until_archived(two: Lab) -> None:
    """A notice is added, listed, shown in full, set to done, and archived; each command says what became of it."""
    say(two, "alerts", "add", "Tea is ready", "--kind", "courtesy", "--body", "In the kitchen.", session=BOB)
    assert "courtesy: Tea is ready (tea-is-ready)" in say(two, "alerts", "list")
    shown = say(two, "alerts", "show", "tea-is-ready")
    assert shown.startswith("tea-is-ready: courtesy, shown\nTea is ready\n")
    assert shown.endswith("\n\nIn the kitchen.\n")
    say(two, "alerts", "ack", "tea-is-ready", session=ANN)
    assert block(two, ANN) == ""
    assert "Tea is ready" in block(two, "33333333-3333-4333-8333-333333333333")
    assert say(two, "alerts", "done", "tea-is-ready").startswith("done: courtesy tea-is-ready (Tea is ready)\n")
    assert "tea-is-ready: courtesy, hidden: it is done" in say(two, "alerts", "show", "tea-is-ready")
    moved = say(two, "alerts", "archive", "tea-is-ready")
    assert moved == f"archived: courtesy tea-is-ready (Tea is ready)\n{two.state}/notices/archive/tea-is-ready.md\n"
    assert fail(two, "alerts", "archive", "tea-is-ready", code=1).startswith("there is no active notice tea-is-ready")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--kind", "lock"], "kind lock is placed with majordomus lock place COMPONENT"),
        (["--kind", "bug-dep", "--component", "koda"], "kind bug-dep needs --component and --ticket"),
        (["--expires", "2026-13-45"], 'expires: "2026-13-45" is not a valid day'),
        (["--fires-on", "2026-02-30"], 'fires_on: "2026-02-30" is not a valid day'),
        (["--applies-when", "component == ("], "applies_when: component == ( cannot be used"),
        (["--priority", "11"], "--priority 11 is too large; give 10 or less"),
        (["--recurring", "hourly"], "hourly"),
    ],
    ids=str,
)
def test_add_refused(two: Lab, more: list[str], sentence: str) -> None:
    """What cannot be meant is one sentence with the value, exit code 2, and nothing is written."""
    done = two.majordomus("alerts", "add", "Tea", *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not (two.state / "notices").exists()


def test_migrate_from_where_it_is_given(two: Lab) -> None:
    """A list is named from the folder of the person, as every file is, and is taken over once."""
    docs = two.repo / "docs"
    docs.mkdir()
    (docs / "todo.md").write_text("- [ ] 2030-12-01 water the plants\n- [ ] soon\n")
    first = say(two, "alerts", "migrate", "todo.md", at=docs)
    assert first.startswith("from docs/todo.md: 1 added, 0 there before, 0 ticked off, 1 not read\n")
    assert "not read: line 2: soon: names no day with a year" in first
    again = say(two, "alerts", "migrate", "docs/todo.md")
    assert again.startswith("from docs/todo.md: 0 added, 1 there before,")
    assert f"{two.repo}/todo.md is not there" in fail(two, "alerts", "migrate", "todo.md", code=1)


def test_reminders(two: Lab) -> None:
    """`reminders` lists what is for the owner beside what is for all, and nothing of another kind."""
    for title, more in (("Mine", ["--audience", "owner"]), ("Ours", []), ("Tea", ["--kind", "alert"])):
        say(two, "alerts", "add", title, *(more if "--kind" in more else ["--kind", "reminder", *more]))
    listed = say(two, "reminders")
    assert [f"{title} (" in listed for title in ("Mine", "Ours", "Tea")] == [True, True, False]
    assert "Mine" not in say(two, "brief")
    assert "Mine" not in block(two, ANN)


@pytest.mark.slow
def test_two_hundred_adds_at_once(two: Lab) -> None:
    """The same title from many at once makes as many notices, each whole."""
    code = (
        "import sys; from brief.fastpath.ask import ask\n"
        "for n in range(10):\n"
        " body = {'root': sys.argv[2], 'title': 'Twin', 'body': sys.argv[3]}\n"
        " answer = ask(sys.argv[1], 'POST', '/alerts', [], body, seconds=50)\n"  # twenty wait for one lock
        " assert answer.status == 200, answer.body\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, two.common_dir, str(two.repo), f"by {number}"], env=two.env)
        for number in range(20)
    ]
    assert [process.wait(60) for process in started] == [0] * 20
    written = [path.read_text() for path in (two.state / "notices/active").glob("twin*.md")]
    assert sorted(text.rpartition("---\n")[2] for text in written) == sorted(
        f"by {number}\n" for number in range(20) for _ in range(10)
    )


MODEL = {"CLAUDECODE": "1"}


@pytest.mark.parametrize("served", [False, True])
def test_what_is_for_the_owner(lab: Lab, *, served: bool) -> None:
    """A person reads it in reminders and with --owner, a model with no command, with and without a server."""
    lab.commit()
    if served:
        assert lab.majordomus("serve", "ensure").returncode == 0
    active = lab.state / "notices/active"
    active.mkdir(mode=0o700, parents=True)
    for slug, audience in (("secret", "owner"), ("open", "team")):
        (active / f"{slug}.md").write_text(f"---\nkind: reminder\naudience: {audience}\n---\n# {slug} title\n")
    lists = (["reminders"], ["alerts", "list"], ["alerts", "list", "--owner"])
    told = [["secret title" in say(lab, *words), "open title" in say(lab, *words)] for words in lists]
    assert told == [[True, True], [False, True], [True, True]]
    listed = lab.majordomus("reminders", env=MODEL).stdout
    assert ["secret title" in listed, "open title" in listed] == [False, True]
    assert "those for the owner alone are left out" in listed
    for words in (["alerts", "list", "--owner"], ["alerts", "show", "secret", "--owner"]):
        done = lab.majordomus(*words, env=MODEL)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("majordomus: --owner shows what is for the owner alone")
    assert "secret title" not in fail(lab, "alerts", "show", "secret", code=2)
    assert "secret title" in say(lab, "alerts", "show", "secret", "--owner")


@pytest.mark.parametrize("served", [False, True])
def test_what_is_still_to_come(lab: Lab, *, served: bool) -> None:
    """Reminders tell it with the days that are left, whatever its kind, and no prompt carries it."""
    lab.commit()
    if served:
        assert lab.majordomus("serve", "ensure").returncode == 0
    active = lab.state / "notices/active"
    active.mkdir(mode=0o700, parents=True)
    (active / "ahead.md").write_text(
        f"---\nkind: alert\nfires_on: {datetime.now(UTC).date() + timedelta(days=5)}\n---\n"
    )
    told = say(lab, "reminders")
    assert "1 still to come" in told
    assert "alert 🔔 in 5d: ahead (ahead)" in told
    assert "ahead" not in block(lab, ANN)


def test_strict_where_notices_cannot_be_read(lab: Lab) -> None:
    """Status exits 10 for a file that may be a lock; the audit holds that file against nobody."""
    lab.commit()
    active = lab.state / "notices/active"
    active.mkdir(mode=0o700, parents=True)
    (active / "broken.md").write_text("---\nkind: lock\ntitle: a: b: c\n---\n")
    for served in (False, True):
        if served:
            assert lab.majordomus("serve", "ensure").returncode == 0
        codes = [lab.majordomus("lock", word, "--strict").returncode for word in ("status", "audit")]
        assert codes == [10, 0]
        assert "1 file, possibly a lock, could not be read (broken): majordomus lock status" in block(lab, ANN)
