from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.ask import Answer
from sandbox import Lab, until
from serving import FAST_LOOKS, answers, ask, exchange, finish, lease, left_behind, serve

_ENDS_SOON = FAST_LOOKS + "; holder.SUPERSEDED_SECONDS = 0.3"


def _standing(lab: Lab) -> str:
    return str(ask(lab, "GET", "/server").json()["lease"])


def _post(socket: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer of the server at `socket`, even if no lease names it any more."""
    payload = json.dumps(body).encode()
    head = f"POST /api/v1{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n"
    raw = exchange(socket, f"{head}content-length: {len(payload)}\r\n\r\n".encode() + payload)
    answer: dict[str, Any] = json.loads(raw.partition(b"\r\n\r\n")[2])
    return answer


def _open(lab: Lab, session: str) -> Answer:
    return ask(lab, "POST", "/episodes", {"session": session})


def _remove_lock(lab: Lab) -> None:
    (lab.state / "lease.lock").unlink()


def _replace_lock(lab: Lab) -> None:
    (lab.state / "other").touch()
    (lab.state / "other").replace(lab.state / "lease.lock")


@pytest.mark.parametrize("supersede", [_remove_lock, _replace_lock])
def test_a_superseded_server_writes_nothing_more(supersede: Any, lab: Lab) -> None:
    """At once it refuses commands with the sentence and says in its brief that it no longer holds."""
    serve(lab, FAST_LOOKS)
    assert _open(lab, "before").status == 200
    supersede(lab)
    refused = _open(lab, "after")
    told = refused.json()
    assert (refused.status, told["kind"], told["exit_code"]) == (409, "SupersededError", 1)
    assert "lease.lock is no longer the file that epoch" in told["error"]
    assert told["error"].endswith("run majordomus serve ensure and ask again")
    brief = ask(lab, "GET", "/brief", session="before").json()
    assert brief["answered_by"]["kind"] == "superseded"
    assert "is superseded and writes nothing more" in brief["answered_by"]["reason"]
    assert [e["episode"]["id"] for e in ask(lab, "GET", "/episodes").json()["open"]] == ["before"]


def test_a_superseded_server_is_replaced(lab: Lab) -> None:
    """`serve ensure` starts a new one with a higher epoch, which knows what the old one stored."""
    old = serve(lab, FAST_LOOKS)
    _open(lab, "kept")
    before = lease(lab)
    _remove_lock(lab)
    until(lambda: _standing(lab) == "superseded")
    assert lab.majordomus("serve", "ensure").stdout.startswith("started: ")
    assert lease(lab)["epoch"] > before["epoch"]
    assert [e["episode"]["id"] for e in ask(lab, "GET", "/episodes").json()["open"]] == ["kept"]
    assert _post(before["socket"], "/server/stop", {"root": str(lab.repo)})["lease"] == "superseded"
    assert finish(old)[0] == 0
    assert answers(lab)
    assert not Path(before["socket"]).exists()


def test_a_superseded_server_ends_when_nothing_is_open(lab: Lab) -> None:
    """With no episode left there is nobody it could answer for."""
    old = serve(lab, FAST_LOOKS)
    _remove_lock(lab)
    assert finish(old) == (0, "", "")
    assert left_behind(lab) == []


def test_a_superseded_server_ends_after_a_while(lab: Lab) -> None:
    """Also with episodes open it goes once its time is over, and leaves the files of the new holder."""
    old = serve(lab, _ENDS_SOON)
    _open(lab, "kept")
    (lab.state / "lease.lock").unlink()
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert finish(old) == (0, "", "")
    assert answers(lab)
    assert len(left_behind(lab)) == 3


def test_a_server_whose_whole_state_was_removed_gives_way(lab: Lab) -> None:
    """`rm -rf` of the folder under a running server supersedes it: it ends in order, and a new one starts afresh."""
    old = serve(lab, _ENDS_SOON)
    _open(lab, "lost")

    def is_removed() -> bool:  # the server may write a file in it meanwhile
        shutil.rmtree(lab.state, ignore_errors=True)
        return not lab.state.exists()

    until(is_removed)
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert finish(old) == (0, "", "")
    assert ask(lab, "GET", "/episodes").json()["open"] == []


def test_a_server_that_slept_through_its_end_cannot_write(lab: Lab) -> None:
    """Stopped, superseded and woken, it is fenced off by the lock before its first look."""
    old = serve(lab)
    _open(lab, "before")
    before = lease(lab)
    os.kill(old.pid, signal.SIGSTOP)
    _remove_lock(lab)
    (lab.state / "lease.json").unlink()
    assert lab.majordomus("serve", "ensure").returncode == 0
    os.kill(old.pid, signal.SIGCONT)
    root = str(lab.repo)
    for path, body in (
        ("/episodes", {"session": "after"}),
        ("/tasks", {"session": "before", "title": "late"}),
        ("/episodes/close", {"session": "before"}),
    ):
        told = _post(before["socket"], path, {"root": root, **body})
        assert told["kind"] == "SupersededError", told
        assert "is superseded and writes nothing more" in told["error"]
    assert [e["episode"]["id"] for e in ask(lab, "GET", "/episodes").json()["open"]] == ["before"]
    old.terminate()
    assert finish(old)[0] == 0
    assert answers(lab)


def _remove(path: Path) -> None:
    path.unlink()


def _remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def _replace(path: Path) -> None:
    path.unlink()
    path.touch()


@pytest.mark.parametrize("spoil", [_remove, _remove_folder, _replace])
def test_a_server_whose_socket_was_removed_ends(spoil: Callable[[Path], None], lab: Lab) -> None:
    """A logout clears the runtime folder: a server that nobody finds ends in order, and the next one knows its episodes."""
    old = serve(lab, FAST_LOOKS)
    _open(lab, "kept")
    spoil(Path(lease(lab)["socket"]))
    assert finish(old) == (0, "", "")
    assert not (lab.state / "lease.json").exists()
    assert lab.majordomus("serve", "ensure").stdout.startswith("started: ")
    assert [e["episode"]["id"] for e in ask(lab, "GET", "/episodes").json()["open"]] == ["kept"]


def test_a_look_that_fails_is_not_the_last(lab: Lab) -> None:
    """If one check fails, the next still runs, since a server without checks would never give way."""
    broken = """
from brief.request import Requests
real, failed = Requests.checkout_config, []
def ground(self, *args, **named):
    if len(failed) < 2:
        failed.append(1)
        raise RuntimeError("broken")
    return real(self, *args, **named)
Requests.checkout_config = ground
"""
    process = serve(lab, broken + FAST_LOOKS.replace("import", "\nimport", 1))
    _remove_lock(lab)
    assert finish(process)[0] == 0
    log = [json.loads(line) for line in (lab.state / "server.log").read_text().splitlines()]
    assert any("RuntimeError: broken" in line.get("fault", "") for line in log)


def test_who_was_heard_is_known_to_the_next_server(lab: Lab) -> None:
    """An episode outlives the server; the next one knows it, and says that it has not heard it itself."""
    first = serve(lab)
    _open(lab, "here")
    first.terminate()
    assert finish(first)[0] == 0
    serve(lab)
    (known,) = ask(lab, "GET", "/episodes").json()["open"]
    assert (known["episode"]["id"], known["liveness"]) == ("here", "unheard")
    ask(lab, "GET", "/state", session="here")
    (known,) = ask(lab, "GET", "/episodes").json()["open"]
    assert known["liveness"] == "heard"
