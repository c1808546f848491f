"""What counts as told was read: a client that gave up, died or never read is told again, by the same kernel as in use."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Lab, until
from serving import ask, lease, leave_notice, serve, write_policy

SESSION = "1" * 8 + "-1111-4111-8111-" + "1" * 12
OTHER = "2" * 8 + "-2222-4222-8222-" + "2" * 12
SLOW = """
import asyncio
from brief.handlers import session_context as telling
composed = telling.read_unseen
async def late(*args):
    found = await composed(*args)
    await asyncio.sleep({seconds})
    return found
telling.read_unseen = late
"""
"""A server that takes longer to compose than its caller waits."""


def _request(lab: Lab, path: str = "/hooks", *, close: bool = True, **fields: Any) -> bytes:
    payload = json.dumps({"root": str(lab.repo), "session": SESSION, **fields}).encode()
    ends = "connection: close\r\n" if close else ""
    head = f"POST /api/v1{path} HTTP/1.1\r\nhost: x\r\n{ends}content-type: application/json\r\n"
    return f"{head}content-length: {len(payload)}\r\n\r\n".encode() + payload


def _prompt(lab: Lab) -> str:
    """The text that a session reads with a prompt, in a call that reads it in full."""
    return str(ask(lab, "POST", "/hooks", {"session": SESSION, "event": "user-prompt-submit"}).json()["context"])


def _connected(lab: Lab, request: bytes) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10)
    client.connect(lease(lab)["socket"])
    client.sendall(request)
    return client


@pytest.fixture
def held(lab: Lab) -> Lab:
    """A server, and a courtesy that no session has seen."""
    lab.commit()
    leave_notice(lab, "tea", "---\nkind: courtesy\n---\n# tea is ready\n")
    serve(lab)
    return lab


def _closes_at_once(client: socket.socket) -> None:
    """Its answer, if one comes, finds nobody."""


def _leaves_unread(client: socket.socket) -> None:
    """The answer has come, and it ends before it reads any of it."""
    client.recv(1, socket.MSG_PEEK)


def _reads_a_part(client: socket.socket) -> None:
    """It ends in the midst of the answer."""
    assert len(client.recv(20)) == 20


@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize("ends", [_closes_at_once, _leaves_unread, _reads_a_part])
def test_a_courtesy_that_was_not_read_is_told_again(ends: Callable[..., None], close: bool, held: Lab) -> None:
    """A text that was only composed and sent is not delivered; once a client has read the whole answer it is, and only once."""
    with _connected(held, _request(held, event="user-prompt-submit", close=close)) as client:
        ends(client)
    until(lambda: not _is_seen(held))
    assert "tea is ready" in _prompt(held)
    until(lambda: _is_seen(held))
    assert "tea is ready" not in _prompt(held)


def _is_seen(lab: Lab) -> bool:
    return any((lab.state / "seen").glob("*")) if (lab.state / "seen").exists() else False


def test_a_hook_that_gave_up_is_told_again(lab: Lab) -> None:
    """The answer comes after the 0.5 s of the hook: what stood in it is in the next one."""
    lab.commit()
    leave_notice(lab, "tea", "---\nkind: courtesy\n---\n# tea is ready\n")
    serve(lab, SLOW.format(seconds=0.7))
    with _connected(lab, _request(lab, event="user-prompt-submit")) as client:
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)
    assert "tea is ready" in _prompt(lab)


def test_an_answer_that_waits_unread_is_not_told(held: Lab) -> None:
    """A client that hangs with the answer before it does not use it up, and delays the next call a moment only."""
    with _connected(held, _request(held, event="user-prompt-submit")) as client:
        client.recv(1, socket.MSG_PEEK)
        begun = time.monotonic()
        assert "tea is ready" in _prompt(held)
        assert time.monotonic() - begun < 5


def test_a_client_that_keeps_its_connection_is_told_once(held: Lab) -> None:
    """An answer that was read in full is delivered, whether the client then closes or asks again."""
    request = _request(held, event="user-prompt-submit", close=False)
    with _connected(held, request) as client:
        assert b"tea is ready" in _whole(client)
        client.sendall(request)
        assert b"tea is ready" not in _whole(client)


def _whole(client: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += client.recv(65_536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += client.recv(65_536)
    return body


@pytest.mark.parametrize("path", ["hook", "brief"])
def test_a_signal_that_was_not_read_is_told_again(path: str, held: Lab) -> None:
    """A follow-up stays due until a text with it was read to its end."""
    for session in (SESSION, OTHER):
        assert ask(held, "POST", "/episodes", {"session": session, "pid": os.getpid()}).status == 200
    placed = ask(
        held,
        "POST",
        "/alerts",
        {"kind": "bug-dep", "title": "fix", "component": "login", "ticket": "X-1", "session": SESSION},
    )
    assert placed.status == 200, placed.body
    slug = placed.json()["notice"]["slug"] if "notice" in placed.json() else placed.json()["slug"]
    assert ask(held, "POST", "/alerts/done", {"slug": slug, "session": OTHER}).status == 200
    query = f"GET /api/v1/brief?root={held.repo}&session={SESSION} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    request = query.encode() if path == "brief" else _request(held, event="session-start")
    for _ in range(2):
        with _connected(held, request) as client:
            client.recv(1, socket.MSG_PEEK)
    told = [ask(held, "GET", "/brief", session=SESSION, format="text").body for _ in range(2)]
    assert [b"HIGH" in text for text in told] == [True, False]


def test_a_wake_that_nobody_received_waits_again(lab: Lab) -> None:
    """A prompt whose answer was not read is handed out to the next call, and is not lost until it expires."""
    lab.commit()
    write_policy(lab, "version: 1\nsession:\n  brief_on_interval: true\n")
    assert lab.majordomus("trust").returncode == 0
    serve(lab)
    assert ask(lab, "POST", "/episodes/heartbeat", {"session": SESSION, "state": "idle"}).status == 200
    assert ask(lab, "POST", "/wakes/now", {"session": SESSION}).status == 200
    with _connected(lab, _request(lab, "/episodes/heartbeat", state="idle")) as client:
        client.recv(1, socket.MSG_PEEK)

    def hand_out_prompt() -> bool:
        return (
            ask(lab, "POST", "/episodes/heartbeat", {"session": SESSION, "state": "idle"}).json()["prompt"] is not None
        )

    until(hand_out_prompt, 10)
    assert not hand_out_prompt()


def test_head_tells_nobody_anything(held: Lab) -> None:
    """A client that asks only for the head has read no text."""
    ask(held, "POST", "/episodes", {"session": SESSION})
    request = f"HEAD /api/v1/brief?root={held.repo}&session={SESSION} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    with _connected(held, request.encode()) as client:
        while client.recv(65_536):
            pass
    assert "tea is ready" in _prompt(held)
