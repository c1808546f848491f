"""Files and folders of the state that are swapped while a server runs, and a repository copied by hard links."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import section
from hostile import FORM_PARAMS, FORMS, snapshot, widen
from sandbox import Lab

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
ONE = {"CLAUDE_CODE_SESSION_ID": SESSION}


@pytest.fixture
def served(lab: Lab) -> Iterator[Lab]:
    """A repository in which everything was written that a server writes, and one runs."""
    lab.commit()
    for words in (
        "serve ensure",
        "lock place koda",
        "alerts add hello --kind courtesy",
        "queue refresh",
        "brief --line",
    ):
        assert lab.majordomus(*words.split(), env=ONE).returncode == 0
    lab.majordomus("hook", "user-prompt-submit", stdin=json.dumps({"session_id": SESSION, "cwd": str(lab.repo)}))
    (lab.state / "seen").mkdir(mode=0o700, exist_ok=True)
    (lab.state / "derive.lock").touch(0o600)
    (lab.state / "derive.json").write_text("{}")
    (lab.state / "derive.json").chmod(0o600)
    yield lab
    assert len(lab.processes()) == 1, "the server goes on"


def brief(lab: Lab) -> dict[str, Any]:
    """The brief that the server composes."""
    told: dict[str, Any] = json.loads(lab.majordomus("brief", "--format", "json", seconds=5).stdout)
    assert told["answered_by"]["kind"] == "lease-holder"
    return told


WAYS: dict[str, Callable[[Path, Path], object]] = {**FORMS, "wide": lambda victim, _: widen(victim)}


@pytest.mark.parametrize("form", [*FORM_PARAMS, "wide"])
@pytest.mark.parametrize(
    ("name", "of"), [("derive.lock", "derive"), ("derive.json", "derive"), ("observation.json", "integration")]
)
def test_a_file_that_was_swapped_is_not_read(served: Lab, name: str, of: str, form: str) -> None:
    """The section says in one sentence what lies there, at once, and nothing is written through it."""
    victim, elsewhere = served.state / name, served.base / "elsewhere"
    assert section(brief(served), of)["status"] == "read"
    WAYS[form](victim, elsewhere)
    before = snapshot(elsewhere)
    told = section(brief(served), of)
    assert told["status"] in ("unread", "partial")
    assert told["reason"].startswith(f"{victim} ")
    assert "\n" not in told["reason"]
    assert snapshot(elsewhere) == before


@pytest.mark.parametrize("form", FORM_PARAMS)
def test_an_observation_that_was_swapped_is_replaced(served: Lab, form: str) -> None:
    """A new file replaces whatever is there by rename; a folder in its place is an error in one sentence."""
    victim, elsewhere = served.state / "observation.json", served.base / "elsewhere"
    FORMS[form](victim, elsewhere)
    before = snapshot(elsewhere)
    done = served.majordomus("queue", "refresh")
    assert done.returncode == (1 if form == "other kind" else 0), done
    assert "Traceback" not in done.stderr
    assert victim.is_file() is (form != "other kind")
    assert not victim.is_symlink()
    assert snapshot(elsewhere) == before


@pytest.mark.parametrize("name", ["lines", "seen", "notices", "notices/active"])
@pytest.mark.parametrize("form", ["link", "dangling link"])
def test_a_folder_that_was_swapped_is_not_written(served: Lab, name: str, form: str) -> None:
    """Nothing is made, changed or removed where a link leads, whatever sessions do meanwhile."""
    victim, elsewhere = served.state / name, served.base / "elsewhere"
    WAYS[form](victim, elsewhere)
    before = snapshot(elsewhere)
    for session in (SESSION, OTHER):
        given = json.dumps({"session_id": session, "cwd": str(served.repo)})
        assert served.majordomus("hook", "user-prompt-submit", stdin=given, seconds=5).returncode == 0
        for words in ("alerts add hello", "lock place zeta", "lock release koda", "brief --line", "alerts list"):
            done = served.majordomus(*words.split(), env={"CLAUDE_CODE_SESSION_ID": session}, seconds=5)
            assert "Traceback" not in done.stderr
    assert snapshot(elsewhere) == before
    told = section(brief(served), "alerts")
    if name.startswith("notices"):
        assert told["status"] in ("partial", "unread")
        assert "is a symbolic link, so nothing is read or written there" in told["reason"]


def test_a_copy_by_hard_links_shares_nothing(served: Lab) -> None:
    """The server of the original goes on; the copy gets none, with one sentence, and nothing of it is written."""
    copy = served.base / "copy"
    subprocess.run(["cp", "-al", str(served.repo), str(copy)], check=True)
    state = copy / ".git/majordomus"
    before = snapshot(state)
    for words in ("serve ensure", "serve run", "lock place zeta", "task set theirs"):
        done = served.majordomus(*words.split(), cwd=copy, env={"CLAUDE_CODE_SESSION_ID": OTHER})
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), words
        assert f"{state}/" in done.stderr
        assert "names (hard links), so a write would reach the others too" in done.stderr
        assert f"in a copied repository remove {state}" in done.stderr
    told = json.loads(served.majordomus("brief", "--format", "json", cwd=copy).stdout)
    assert (told["answered_by"]["kind"], section(told, "alerts")["status"]) == ("self", "unread")
    assert snapshot(state) == before
    assert served.majordomus("task", "set", "ours", env=ONE).returncode == 0
    assert section(brief(served), "state")["data"]["task"]["title"] == "ours"
    subprocess.run(["rm", "-r", str(state)], check=True)
    assert served.majordomus("serve", "ensure", cwd=copy).stdout.startswith("started: ")
    assert "ours" not in served.majordomus("task", "show", cwd=copy).stdout
    assert served.majordomus("serve", "stop", cwd=copy).returncode == 0
    assert served.majordomus("serve", "stop").returncode == 0
    assert served.majordomus("serve", "ensure").stdout.startswith("started: ")
