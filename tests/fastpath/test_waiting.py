from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.locate import POLICY
from brief.fastpath.waiting import MOST_PROMPT, OVER, WOKEN, folders_of, scope_of
from impostor import answer, listening, send, socket_of, write_lease
from process_helpers import start_of
from sandbox import Lab, until
from serving import write_policy

UUID = "11111111-1111-4111-8111-111111111111"
TEXT = "Majordomus, not the user: 🔔 read this\n"


def said(**fields: Any) -> bytes:
    """The answer of a server to a process that waits."""
    document = {"prompt": None, "again_seconds": 0.05, "ensures": False, "reason": None, **fields}
    return answer(json.dumps(document).encode())


WAKE = said(prompt={"id": "1", "text": TEXT}, again_seconds=None)


def environment(lab: Lab, **changes: str) -> dict[str, str]:
    """The input that the client gives a hook of an interactive session, whose process is this one."""
    given = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_SESSION_ATTENDED": "1",
        "CLAUDE_CODE_SESSION_ID": UUID,
        "CLAUDE_PID": str(os.getpid()),
        "CLAUDE_PROJECT_DIR": str(lab.repo),
    }
    return {**lab.env, **given, **changes}


@contextmanager
def waiting(lab: Lab, event: str = "SessionStart", **changes: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process that waits; ended with the test."""
    argv = [sys.executable, "-I", "-m", "brief", "hook", "wake", "--scope", "project"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, cwd=lab.repo, env=environment(lab, **changes), stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        try:
            assert process.stdin is not None
            told = {"session_id": UUID, "cwd": str(lab.repo), "hook_event_name": event, "prompt": "a secret"}
            process.stdin.write(json.dumps(told).encode())
            process.stdin.close()
            process.stdin = None
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """How it ended, and what it said."""
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def in_turn(*answers: bytes) -> Callable[[socket.socket, bytes], None]:
    """Give these answers one after the other, the last one again and again."""
    left = list(answers)

    def serve(connection: socket.socket, request: bytes) -> None:
        send(connection, left.pop(0) if len(left) > 1 else left[0])

    return serve


def body_of(request: bytes) -> dict[str, Any]:
    """The fields of a request."""
    body: dict[str, Any] = json.loads(request.partition(b"\r\n\r\n")[2])
    return body


@pytest.fixture
def path(lab: Lab) -> Path:
    """The socket's path of a server, in a repository with a policy."""
    write_policy(lab, "version: 1\n")
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    return path


def test_wakes_once_it_is_told_to(lab: Lab, path: Path) -> None:
    """It asks until there is a prompt, writes that to standard error and nothing else anywhere, and ends with 2."""
    with listening(path, in_turn(said(), said(), WAKE)) as requests, waiting(lab) as process:
        assert ended(process) == (WOKEN, b"", TEXT.encode())
    assert [request.partition(b" HTTP")[0] for request in requests] == [b"POST /api/v1/episodes/wait"] * 3
    body = body_of(requests[0])
    assert 0 < body.pop("since") <= time.monotonic()
    assert body == {
        "root": str(lab.repo),
        "session": UUID,
        "provider": "claude-code",
        "pid": os.getpid(),
        "process_start": start_of(os.getpid()),
        "scope": "project",
        "project": str(lab.repo),
        "config": lab.env["CLAUDE_CONFIG_DIR"],
    }


def test_end_of_a_turn_is_told(lab: Lab, path: Path) -> None:
    """Started by the end of a turn, it first tells that, and nothing of what was said in it."""
    with listening(path, in_turn(answer(b'{"context": ""}'), WAKE)) as requests, waiting(lab, "Stop") as process:
        assert ended(process)[0] == WOKEN
    assert requests[0].startswith(b"POST /api/v1/hooks ")
    assert body_of(requests[0])["event"] == "stop"
    assert b"secret" not in b"".join(requests)


def test_end_of_a_turn_is_told_until_it_is_heard(lab: Lab, path: Path) -> None:
    """If no server took the outcome, as while one is replaced, it is reported again before the next poll."""
    heard = answer(b'{"context": ""}')
    answers = [answer(b"{}", status="503 Service Unavailable"), said(), heard, said(), WAKE]
    with listening(path, in_turn(*answers)) as requests, waiting(lab, "Stop") as process:
        assert ended(process)[0] == WOKEN
    told = [request.partition(b" HTTP")[0].rpartition(b"/")[2] for request in requests]
    assert told == [b"hooks", b"wait", b"hooks", b"wait", b"wait"]


@pytest.mark.parametrize(
    "changes",
    [
        {"CLAUDE_CODE_SESSION_ATTENDED": "0"},
        {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
        {"CLAUDE_PID": ""},
        {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "another"},
    ],
    ids=" ".join,
)
def test_waits_beside_nobody_else(lab: Lab, path: Path, changes: dict[str, str]) -> None:
    """If no person uses the session, its client would wait for this process: it ends at once and asks nobody."""
    with listening(path, in_turn(WAKE)) as requests, waiting(lab, **changes) as process:
        assert ended(process) == (OVER, b"", b"")
    assert requests == []


def test_without_a_policy(lab: Lab) -> None:
    """In a repository without a policy it ends at once, and asks nobody."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with listening(path, in_turn(WAKE)) as requests, waiting(lab) as process:
        assert ended(process) == (OVER, b"", b"")
    assert requests == []


def test_policy_that_goes(lab: Lab, path: Path) -> None:
    """Once the policy is removed it ends."""
    with listening(path, in_turn(said())), waiting(lab) as process:
        (lab.repo / POLICY).unlink()
        assert ended(process) == (OVER, b"", b"")


def test_outside_of_git(lab: Lab) -> None:
    """Outside of any repository it ends at once and says nothing."""
    argv = [sys.executable, "-m", "brief", "hook", "wake"]
    done = subprocess.run(
        argv, cwd=lab.home, env=environment(lab), input=b"{}", capture_output=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (OVER, b"", b"")


def test_told_that_it_is_over(lab: Lab, path: Path) -> None:
    """If the server says that there is nothing to wait for any more, the process ends and wakes nobody."""
    with listening(path, in_turn(said(), said(again_seconds=None))), waiting(lab) as process:
        assert ended(process) == (OVER, b"", b"")


@pytest.mark.parametrize(
    "raw",
    [
        answer(b"[]"),
        answer(b"{}"),
        answer(b'{"prompt": "text", "again_seconds": 1, "ensures": false}'),
        answer(b'{"prompt": null, "again_seconds": "soon", "ensures": false}'),
        answer(b'{"prompt": null, "again_seconds": -1, "ensures": false}'),
        answer(b'{"prompt": null, "again_seconds": 1e300, "ensures": false}'),
        answer(b'{"prompt": {"text": 5}, "again_seconds": null, "ensures": false}'),
        answer(b'{"prompt": {"text": ""}, "again_seconds": null, "ensures": false}'),
        answer(b'{"prompt": {"text": "%s"}, "again_seconds": null, "ensures": false}' % (b"x" * (MOST_PROMPT + 1))),
        answer(b"[" * 1_000_000),
        answer(b'{"error": {"message": "no such path"}}', status="404 Not Found"),
        answer(b'{"prompt": {"text": "x"}, "again_seconds": null, "ensures": false}', status="500 Server Error"),
        answer(b"cut", length=9),
    ],
    ids=lambda raw: repr(raw)[-40:],
)
def test_answers_that_are_none(lab: Lab, path: Path, raw: bytes) -> None:
    """An answer that cannot be understood wakes nobody, and the process polls again."""
    with listening(path, in_turn(said(), raw, WAKE)), waiting(lab) as process:
        assert ended(process) == (WOKEN, b"", TEXT.encode())


def test_ends_with_its_client(lab: Lab, path: Path) -> None:
    """Once the client is gone the process ends by itself."""
    with (
        subprocess.Popen(["sleep", "60"]) as client,
        listening(path, in_turn(said())) as requests,
        waiting(lab, CLAUDE_PID=str(client.pid)) as process,
    ):
        until(lambda: len(requests) > 1)
        client.kill()
        client.wait()
        assert ended(process) == (OVER, b"", b"")


def test_ends_with_a_client_that_nobody_buried(lab: Lab, path: Path) -> None:
    """A client that has ended and whose number is still taken, by itself or by another, is not waited beside."""
    with (
        subprocess.Popen(["sleep", "60"]) as client,
        listening(path, in_turn(said())) as requests,
        waiting(lab, CLAUDE_PID=str(client.pid)) as process,
    ):
        until(lambda: len(requests) > 1)
        client.kill()
        assert ended(process) == (OVER, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ended_by_its_client(lab: Lab, path: Path, number: signal.Signals) -> None:
    """A signal of its client ends it, and nobody is woken by that."""
    with listening(path, in_turn(said())) as requests, waiting(lab) as process:
        until(lambda: len(requests) > 1)
        process.send_signal(number)
        code, out, err = ended(process)
        assert code in (OVER, -number)
        assert (out, err) == (b"", b"")


def test_server_that_is_gone_is_started(lab: Lab, path: Path) -> None:
    """If the last answer said that the policy wants a server, one is started once it is gone."""
    with waiting(lab):
        with listening(path, in_turn(said(ensures=True))) as requests:
            until(lambda: len(requests) > 1)
        until(lambda: lab.majordomus("serve", "status").returncode == 0, 30)


def test_server_that_nobody_wants_is_not_started(lab: Lab, path: Path) -> None:
    """If the policy wants none, the process waits until somebody else starts one."""
    with waiting(lab) as process:
        with listening(path, in_turn(said())) as requests:
            until(lambda: len(requests) > 1)
        path.unlink()
        with listening(path, in_turn(WAKE)):
            assert ended(process) == (WOKEN, b"", TEXT.encode())


def test_whose_hook_it_is_say_its_own_words() -> None:
    """Without arguments the scope is the user's; an unknown scope makes it an unknown event."""
    assert scope_of([]) == scope_of(["--scope", "user"]) == "user"
    assert scope_of(["--scope", "project"]) == "project"
    for words in (["--scope"], ["--scope", "all"], ["project"], ["--scope", "project", "more"]):
        assert scope_of(words) is None


def test_words_that_are_no_scope_are_told(lab: Lab) -> None:
    """A mistake in the settings is one sentence, and the session goes on."""
    done = lab.majordomus("hook", "wake", "--scope", "everybody")
    assert (done.returncode, done.stdout) == (0, "")
    assert "is not an event" in done.stderr


def test_folders_of_the_client_are_told(tmp_path: Path) -> None:
    """The server judges by the client's folders, of which only absolute paths are sent."""
    told = {"CLAUDE_PROJECT_DIR": str(tmp_path), "CLAUDE_CONFIG_DIR": "config"}
    assert folders_of(told) == {"project": str(tmp_path)}
    assert folders_of({"CLAUDE_CONFIG_DIR": "/caf\udce9"}) == {"config": "/caf\\xe9"}
