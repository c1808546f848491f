"""The database goes from under a running server: what was acknowledged is stored, and what was lost is told."""

from __future__ import annotations

import json
import os

from sandbox import Lab
from serving import FAST_LOOKS, ask, finish, serve


def _task(lab: Lab, title: str) -> int:
    return ask(lab, "POST", "/tasks", {"session": "s", "title": title}).status


def test_a_moved_database(lab: Lab) -> None:
    """No write is acknowledged any more, the server ends, and the next one tells that something is missing."""
    process = serve(lab, FAST_LOOKS.replace("0.05", "2.0"))
    assert ask(lab, "POST", "/episodes", {"session": "s", "pid": os.getpid()}).status == 200
    assert _task(lab, "before") == 200
    away = lab.base / "away"
    away.mkdir()
    for path in lab.state.glob("majordomus.db*"):
        path.rename(away / path.name)
    refused = ask(lab, "POST", "/tasks", {"session": "s", "title": "after"})
    assert (refused.status, refused.json()["kind"]) == (500, "StoreError")
    assert "majordomus.db is gone: somebody changed it under the server" in refused.json()["error"]
    assert finish(process)[0] == 0
    assert lab.majordomus("serve", "ensure").returncode == 0
    for words in (("brief",), ("serve", "status")):
        assert "was gone, although an earlier server had stored" in lab.majordomus(*words).stdout, words


def test_a_cut_database_is_kept_aside(lab: Lab) -> None:
    """The next server moves it aside, and brief, status and doctor tell so until it is removed."""
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert lab.majordomus("serve", "stop").returncode == 0
    os.truncate(lab.state / "majordomus.db", 8_192)
    assert lab.majordomus("serve", "ensure").returncode == 0
    (aside,) = lab.state.glob("majordomus.db.damaged-*")
    for words in (("brief",), ("serve", "status"), ("doctor",)):
        assert aside.name in lab.majordomus(*words).stdout, words
    assert lab.majordomus("serve", "stop").returncode == 0
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert any(aside.name in note for note in json.loads(lab.majordomus("brief", "--format", "json").stdout)["notes"])
    aside.unlink()
    assert lab.majordomus("serve", "stop").returncode == 0
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert aside.name not in lab.majordomus("brief").stdout
