from __future__ import annotations

import json
import socket

import pytest

from brief import __version__
from brief.clones.asking import MOST_BYTES, Neighbour, ask_server, mark_superseded
from brief.clones.entries import Entry
from brief.core.model.brief import PeersSection, Status
from brief.core.model.wire import to_json
from neighbourhood import Behaviour, entry, listening, saying, section, silent
from sandbox import Lab


def asked(made: Entry, behave: Behaviour) -> Neighbour:
    """The neighbour that results from a server that behaves like this."""
    with listening(made, behave):
        return ask_server(made)


def test_a_server_that_answers_is_ready(lab: Lab) -> None:
    """A clone's board counts the sessions it reported, and has the clone's own path."""
    made = entry(lab.runtime, "koda")
    told = section(made, "e1", "e2")
    assert told.data is not None
    neighbour = asked(made, saying(made, to_json(told).encode()))
    board = neighbour.board
    assert (board.kind, board.name, board.path, board.condition, board.count) == (
        "clone",
        "koda",
        made.root,
        "ready",
        2,
    )
    assert neighbour.peers == told.data.peers
    assert neighbour.gap is None


def test_only_its_own_boards_are_asked_for(lab: Lab) -> None:
    """The question names the clone's own checkout, and that server asks no other."""
    made = entry(lab.runtime)
    with listening(made, silent) as questions:
        ask_server(made)
    assert questions[0].startswith(f"GET /api/v1/peers?root={made.root}&local=true HTTP/1.1\r\n".encode())


@pytest.mark.parametrize(
    "behave",
    [silent, lambda connection: (connection.sendall(b"HTTP/1.1 200 OK\r\n"), connection.recv(1))],
    ids=["nothing", "half a head"],
)
def test_a_server_that_never_answers_is_silent(lab: Lab, behave: Behaviour) -> None:
    """Without a complete answer in time a server is silent, never an empty board."""
    made = entry(lab.runtime)
    neighbour = asked(made, behave)
    assert (neighbour.board.condition, neighbour.board.count) == ("silent", None)
    assert neighbour.board.reason == f"its server (pid {made.pid}) gave no answer within 250 ms"
    assert neighbour.gap is not None


def test_a_server_with_a_full_queue_is_silent(lab: Lab) -> None:
    """A stopped process whose backlog is full refuses at once, which counts as silence too."""
    made = entry(lab.runtime)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(made.socket)
        listener.listen(0)
        waiting = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(2)]
        for caller in waiting:
            caller.setblocking(False)
            caller.connect_ex(made.socket)
        neighbour = ask_server(made)
        for caller in waiting:
            caller.close()
    assert neighbour.board.condition == "silent"


def test_a_socket_that_nobody_serves_is_refused(lab: Lab) -> None:
    """A running process with nobody on its socket is reported as such."""
    made = entry(lab.runtime)
    neighbour = ask_server(made)
    assert neighbour.board.condition == "refused"
    assert "cannot be asked: No such file or directory" in (neighbour.board.reason or "")


def flood(connection: socket.socket) -> None:
    """Send 50 MB, or as much of it as is taken."""
    for _ in range(50):
        connection.sendall(b"x" * 1024 * 1024)


BRIEF = json.dumps({"schema": "majordomus.brief/v1", "line": "peers 0", "sections": []}).encode()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not a peers section"),
        (b"\x00\xff", "not a peers section"),
        (b"[" * 100_000, "not a peers section"),
        (b"null", "not a peers section"),
        (BRIEF, "not a peers section"),
        (b'{"name": "peers", "status": "read", "headline": "0 others"}', "not a peers section"),
    ],
    ids=["nothing", "garbage", "deep", "null", "another repository's brief", "a count of nobody"],
)
def test_rubbish_is_refused(lab: Lab, body: bytes, why: str) -> None:
    """Whatever is not a peers section is never taken for an empty one."""
    made = entry(lab.runtime)
    neighbour = asked(made, saying(made, body))
    assert (neighbour.board.condition, neighbour.board.count, neighbour.peers) == ("refused", None, ())
    assert why in (neighbour.gap or "")


@pytest.mark.parametrize(
    ("behave", "why"),
    [
        (flood, f"it sent more than {MOST_BYTES} bytes"),
        (lambda connection: connection.sendall(b"hello\n"), "is not the server of epoch"),
        (lambda connection: None, "is not the server of epoch"),
    ],
    ids=["50 MB", "no HTTP", "hung up"],
)
def test_somebody_else_is_refused(lab: Lab, behave: Behaviour, why: str) -> None:
    """An answer without the entry's epoch, or without an end, is refused."""
    neighbour = asked(entry(lab.runtime), behave)
    assert neighbour.board.condition == "refused"
    assert why in (neighbour.board.reason or "")


def test_another_epoch_is_refused(lab: Lab) -> None:
    """The server of another repository at the same socket does not answer for this one."""
    made, other = entry(lab.runtime), entry(lab.runtime, "other")
    neighbour = asked(made, saying(other, to_json(section(other, "e1")).encode()))
    assert neighbour.board.condition == "refused"
    assert neighbour.peers == ()


@pytest.mark.parametrize(("version", "condition"), [("0.0.1", "other-version"), (__version__, "refused")])
def test_an_older_server_that_refuses_the_question_is_told(lab: Lab, version: str, condition: str) -> None:
    """Its board is unread, with its words, and with both versions if they differ."""
    made = entry(lab.runtime, version=version)
    body = json.dumps({"error": "local is not a parameter here", "kind": "UsageError", "exit_code": 2}).encode()
    neighbour = asked(made, saying(made, body, status=400))
    assert (neighbour.board.condition, neighbour.board.count) == (condition, None)
    assert "it answered 400: local is not a parameter here" in (neighbour.board.reason or "")
    assert ("version 0.0.1" in (neighbour.board.reason or "")) is (version != __version__)


def test_a_server_that_read_nothing_is_refused(lab: Lab) -> None:
    """A section that is unread over there is unread here, with the same reason."""
    made = entry(lab.runtime)
    unread = PeersSection(status=Status.UNREAD, headline="peers unread", reason="git hangs")
    neighbour = asked(made, saying(made, to_json(unread).encode()))
    assert (neighbour.board.condition, neighbour.board.reason, neighbour.board.count) == ("refused", "git hangs", None)


def test_a_server_that_read_a_part_is_ready_in_part(lab: Lab) -> None:
    """A partial section counts what it read, and its gap is ours too."""
    made = entry(lab.runtime)
    part = section(made, "e1").replace(status=Status.PARTIAL, reason="one board is locked")
    neighbour = asked(made, saying(made, to_json(part).encode()))
    assert (neighbour.board.condition, neighbour.board.count) == ("ready", 1)
    assert "one board is locked" in (neighbour.gap or "")


@pytest.mark.parametrize("status", [200, 400])
def test_a_superseded_server_is_told_and_leaves_no_gap(lab: Lab, status: int) -> None:
    """A server that calls itself superseded counts what it answered, or null if it answered nothing."""
    made = entry(lab.runtime)
    body = to_json(section(made, "e1")).encode() if status == 200 else b'{"error": "it was moved"}'
    neighbour = asked(made, saying(made, body, status, lease_state="superseded"))
    assert (neighbour.board.condition, neighbour.board.count) == ("superseded", 1 if status == 200 else None)
    assert "writes nothing more" in (neighbour.board.reason or "")
    assert neighbour.gap is None


def test_a_replaced_server_is_superseded_whatever_it_says(lab: Lab) -> None:
    """A server that does not know yet, or does not answer, is called superseded all the same."""
    made = entry(lab.runtime)
    neighbour = mark_superseded(made, asked(made, silent))
    assert (neighbour.board.condition, neighbour.board.count, neighbour.gap) == ("superseded", None, None)


def test_other_peoples_text_is_cleaned_in_sentences(lab: Lab) -> None:
    """A server's own words cannot put control characters into the reason."""
    made = entry(lab.runtime)
    body = json.dumps({"error": "\x1b]0;owned\x07no\u202e"}).encode()
    assert "it answered 500: no" in (asked(made, saying(made, body, status=500)).gap or "")
