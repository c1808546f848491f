from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import pytest

from brief.fastpath.hook import EVENTS, SPEAKING, read_call
from brief.fastpath.locate import NotLocatedError
from impostor import answer, listening, saying, socket_of, write_lease
from sandbox import Lab

UUID = "11111111-1111-4111-8111-111111111111"

SAYS_WHY = "return 'alone: ' + absence, lambda: None"
HOOK = """
import sys, time
from brief.fastpath.hook import run_hook

def alone(call, absence):
    {alone}

sys.exit(run_hook(sys.argv[1:], alone))
"""


def ran(
    lab: Lab,
    *words: str,
    stdin: bytes | IO[bytes] = b"{}",
    alone: str = SAYS_WHY,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """A hook as a process of its own, with `alone` in the place of what composes without a server."""
    given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    return subprocess.run(
        [sys.executable, "-c", HOOK.format(alone=alone), *words],
        cwd=cwd or lab.repo,
        env={**lab.env, **(env or {})},
        capture_output=True,
        timeout=60,
        check=False,
        **given,
    )


def context(done: subprocess.CompletedProcess[bytes]) -> str:
    """The context that a successful hook adds to the session. Empty if it printed nothing."""
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    document = json.loads(done.stdout)
    assert set(document) == {"hookSpecificOutput"}
    assert set(document["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    return str(document["hookSpecificOutput"]["additionalContext"])


def body_of(request: bytes) -> dict[str, Any]:
    """The fields of a request to a server's hook route."""
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/v1/hooks HTTP/1.1\r\n")
    given: dict[str, Any] = json.loads(body)
    return given


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("spelling", ["ours", "theirs"])
def test_every_event(lab: Lab, event: str, spelling: str) -> None:
    """Each event, by our name and by the client's, reaches the server, and what that says is printed as one document."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    said = 'read [this] "now" 🔔 ě\n'
    told = {"session_id": UUID, "source": "startup", "reason": "logout", "prompt": "a secret", "cwd": str(lab.repo)}
    with listening(path, saying(answer(json.dumps({"context": said}).encode()))) as requests:
        name = event if spelling == "ours" else EVENTS[event]
        done = ran(lab, name, stdin=json.dumps(told).encode(), cwd=lab.home)
    assert context(done) == said
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == EVENTS[event]
    assert body_of(requests[0]) == {
        "root": str(lab.repo),
        "event": event,
        "session": UUID,
        "source": "startup",
        "reason": "logout",
        "provider": "unknown",
    }


@pytest.mark.parametrize(
    ("prompt", "speaker"),
    [
        ("mend the login", None),
        ("why did it say: Majordomus, not the user: this session is idle?", None),
        ("say <task-notification>", None),
        (["a list"], None),
        ("<task-notification>\n<summary>a build ended</summary>", "client"),
        ("<task-notification>\n<summary>x</summary>\nFrom a hook: Majordomus, not the user: this session", "wake"),
        ("Majordomus, not the user: this session is idle", "wake"),
    ],
)
def test_who_wrote_the_prompt(lab: Lab, prompt: object, speaker: str | None) -> None:
    """A person's prompt, one that the client wrote and one that woke the session are distinguished; the text is never sent."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    told = json.dumps({"session_id": UUID, "prompt": prompt}).encode()
    with listening(path, saying(answer(b'{"context": ""}'))) as requests:
        ran(lab, "user-prompt-submit", stdin=told)
    assert body_of(requests[0]).get("speaker") == speaker
    assert b"this session is idle" not in requests[0]


def test_nothing_to_say(lab: Lab) -> None:
    """If there is nothing for the session to read, nothing is printed."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with listening(path, saying(answer(b'{"context": ""}'))):
        assert context(ran(lab, "user-prompt-submit")) == ""


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (answer(b'{"error": "no such route"}', status="404 Not Found"), "it answered 404"),
        (answer(b"[]"), "did not accept the hook"),
        (answer(b'{"context": 5}'), "did not accept the hook"),
        (answer(b'{"context": "cut'), "Unterminated string"),
        (answer(b'{"context": "x"}', epoch=8), "is not the server of epoch"),
        (b"\x00\xff", "is not the server of epoch"),
        (b"", "is not the server of epoch"),
    ],
    ids=lambda one: repr(one)[:30],
)
def test_server_that_answers_otherwise(lab: Lab, raw: bytes, why: str) -> None:
    """An answer that cannot be understood counts as none: the hook composes alone and knows why."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with listening(path, saying(raw)):
        assert why in context(ran(lab, "user-prompt-submit"))


def test_server_that_is_silent(lab: Lab) -> None:
    """A server that never answers is not waited for."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        assert "holds and is silent" in context(ran(lab, "session-start"))


@pytest.mark.parametrize("event", EVENTS)
def test_no_server(lab: Lab, event: str) -> None:
    """Without a server only the events at which a session reads something are worth composing for."""
    assert bool(context(ran(lab, event))) == (event in SPEAKING)


def test_outside_of_every_repository(lab: Lab) -> None:
    """Outside a checkout there is nothing to print, and the hook succeeds."""
    assert context(ran(lab, "user-prompt-submit", cwd=lab.home)) == ""


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b'{"session_id": 5}',
        b'{"session_id": "../../x", "cwd": 5, "source": [], "reason": {}}',
        b'{"session_id": "\\ud800", "cwd": "/no such folder\\u0000"}',
        b"\x00\xff\xfe",
        b"\xef\xbb\xbf{}",
        b"[" * 200_000,
        b"x" * 100_000,
        b'{"prompt": "' + b"x" * 10_000_000 + b'"}',
        b'{"prompt": "' + b"x" * 40_000_000,
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_any_input(lab: Lab, raw: bytes) -> None:
    """Empty, cut, wrong, binary or huge input leaves the session what it must read all the same."""
    assert context(ran(lab, "user-prompt-submit", stdin=raw)).startswith("alone: no server holds this repository")


def test_large_prompt_keeps_its_session(lab: Lab) -> None:
    """A prompt of 10 MB does not hide whose it is, and does not travel."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    raw = b'{"prompt": "' + b"x" * 10_000_000 + b'", "session_id": "' + UUID.encode() + b'"}'
    with listening(path, saying(answer(b'{"context": ""}'))) as requests:
        assert context(ran(lab, "user-prompt-submit", stdin=raw)) == ""
    assert body_of(requests[0])["session"] == UUID


def test_standard_input_closed(lab: Lab) -> None:
    """A closed standard input, or one that cannot be read, is empty."""
    for redirection in ("0<&-", "0>/dev/null"):
        code = HOOK.format(alone=SAYS_WHY)
        argv = ["sh", "-c", f'exec "$0" -c "$1" stop {redirection}', sys.executable, code]
        assert context(subprocess.run(argv, cwd=lab.repo, env=lab.env, capture_output=True, check=False)) == ""


def test_pipe_that_nobody_closes(lab: Lab) -> None:
    """A client that keeps the pipe open is not waited for, whatever it wrote so far."""
    for written in (b"", b'{"cwd": ', b"{}"):
        ours, theirs = os.pipe()
        os.write(theirs, written)
        with open(ours, "rb") as reading:
            assert context(ran(lab, "user-prompt-submit", stdin=reading)).startswith("alone")
        os.close(theirs)


def test_output_that_nobody_reads(lab: Lab) -> None:
    """With standard output closed, or its reader gone, the hook ends as well as ever."""
    for redirection in ("1>&-", "| true"):
        code = HOOK.format(alone="time.sleep(0.3); return 'x', lambda: open('noted', 'w')")
        script = f'{{ "$0" -c "$1" session-start; echo "exit $?" >&2; }} {redirection}'
        argv = ["sh", "-c", script, sys.executable, code]
        done = subprocess.run(argv, cwd=lab.repo, env=lab.env, input=b"{}", stderr=subprocess.PIPE, check=False)
        assert done.stderr == b"exit 0\n"
        assert not (lab.repo / "noted").exists()


def test_what_was_printed_is_noted(lab: Lab) -> None:
    """Text that this process composed by itself counts as delivered once it was printed."""
    assert (
        context(ran(lab, "session-start", alone="return 'x', (lab := __import__('pathlib').Path('noted')).touch"))
        == "x"
    )
    assert (lab.repo / "noted").exists()


@pytest.mark.parametrize(
    "words", [(), ("",), ("PreToolUse",), ("stop", "stop"), ("--version",), ("x" * 5_000,)], ids=repr
)
def test_no_such_event(lab: Lab, words: tuple[str, ...]) -> None:
    """A hook that was set up for another event says so, and its exit code stops nothing."""
    done = ran(lab, *words)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"; name one of session-start, user-prompt-submit, stop, session-end, wake\n" in done.stderr
    assert b"Error(" not in done.stderr
    assert len(done.stderr) < 500


def test_fault_that_nobody_foresaw(lab: Lab) -> None:
    """Whatever is raised, the session goes on, and the error is on standard error."""
    done = ran(lab, "session-start", alone="raise RuntimeError('broken \\x1b[31m')")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"RuntimeError" in done.stderr
    assert b"\x1b" not in done.stderr


@pytest.mark.parametrize("hanging", ["time.sleep(600)", "import threading; threading.Event().wait()"])
def test_what_hangs(lab: Lab, hanging: str) -> None:
    """A hook ends in time whatever hangs, well, and with nothing said."""
    assert context(ran(lab, "user-prompt-submit", alone=hanging)) == ""


def test_what_the_environment_tells(lab: Lab) -> None:
    """Claude Code is recognized by its environment, and a client that only inherits it is not mistaken for it."""
    given = {"session_id": UUID, "cwd": str(lab.repo)}
    inside = {"CLAUDECODE": "1", "CLAUDE_PID": "4711", "CLAUDE_CODE_SESSION_ID": UUID}
    for env, provider, pid in (
        ({}, "unknown", None),
        (inside, "claude-code", 4711),
        ({"CLAUDECODE": "1"}, "claude-code", None),
        ({**inside, "CLAUDE_CODE_SESSION_ID": "another"}, "unknown", None),
        ({"CLAUDE_PID": "4711"}, "unknown", None),
    ):
        call = read_call("stop", given, env, 0.0)
        assert (call.provider, call.pid) == (provider, pid)


@pytest.mark.parametrize("pid", ["", "x", "-1", "0", "1.5", "²", str(2**31), "9" * 5_000])
def test_no_such_process(lab: Lab, pid: str) -> None:
    """A value that is not the number of a process is left out."""
    call = read_call("stop", {"cwd": str(lab.repo)}, {"CLAUDECODE": "1", "CLAUDE_PID": pid}, 0.0)
    assert call.pid is None


@pytest.mark.parametrize("session", [None, 5, "", "x" * 129, "a\0b", "a\nb", "\ud800"], ids=repr)
def test_no_such_session(lab: Lab, session: object) -> None:
    """If the input names no valid session, that of the environment is used, if any."""
    given = {"session_id": session, "cwd": str(lab.repo), "source": session, "reason": "x" * 101}
    assert read_call("stop", given, {"CLAUDE_CODE_SESSION_ID": UUID}, 0.0).session == UUID
    assert read_call("stop", given, {"CLAUDE_CODE_SESSION_ID": "x" * 129}, 0.0).body() == {
        "root": str(lab.repo),
        "event": "stop",
        "provider": "unknown",
    }


def test_folder_that_is_in_no_checkout(lab: Lab) -> None:
    """The client's folder counts before the one that the process stands in."""
    with pytest.raises(NotLocatedError):
        read_call("stop", {"cwd": str(lab.home)}, {}, 0.0)
