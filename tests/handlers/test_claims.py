from __future__ import annotations

import json
from typing import Any

import pytest

from brief.core.model.wire import from_plain
from brief.core.sessions.claims import Claim, Overlap
from brief.handlers.claims import Announced, announced_text
from sandbox import Lab


@pytest.fixture
def two(lab: Lab) -> Lab:
    """A lab in which ann is open in the repository and bob in a work tree of it."""
    lab.commit()
    lab.worktree("topic")
    lab.start_server()
    for name, folder in (("ann", lab.repo), ("bob", lab.base / "topic")):
        assert lab.majordomus("episode", "open", "--session", name, cwd=folder).returncode == 0
    return lab


def said(lab: Lab, *words: str, where: str = "repo", code: int = 0) -> str:
    """The text output of a command."""
    done = lab.majordomus(*words, cwd=lab.base / where)
    assert done.returncode == code, done.stderr
    return done.stdout or done.stderr


def told(lab: Lab, *words: str, where: str = "repo") -> dict[str, Any]:
    """The JSON output of a command."""
    document: dict[str, Any] = json.loads(said(lab, *words, "--format", "json", where=where))
    return document


def test_announce_and_release(two: Lab) -> None:
    """A claim is announced, replaced under its name, shown to whoever overlaps it from either side, and released."""
    assert said(two, "peers", "announce", "fix login", "--scope", "src/login.py") == (
        "episode ann claims work: fix login (src/login.py)\n"
    )
    other = two.base / "topic"
    answer = told(two, "peers", "announce", "tidy", "--scope", f"{other}/src/", "--name", "tidy", where="topic")
    assert answer["claim"]["scope"] == ["src"]
    assert answer["overlaps"] == [
        {
            "episode": "ann",
            "kind": "claim",
            "name": "work",
            "about": "fix login",
            "paths": [["src", "src/login.py"]],
        }
    ]
    replaced = said(two, "peers", "announce", "fix logout", "--scope", "./src/*.py")
    assert "released: work: fix login (src/login.py)\n" in replaced
    assert "overlaps the claim tidy of episode bob, tidy: src/*.py meets src\n" in replaced
    assert said(two, "peers", "release", "work") == "released: work: fix logout (src/*.py)\n"
    assert "holds no claim" in said(two, "peers", "release", code=1)


def test_task_of_another(two: Lab) -> None:
    """The scope of another session's task is shown like a claim, even if it was given as an absolute path."""
    said(two, "task", "set", "tests", "--scope", f"{two.base}/topic/tests", where="topic")
    said(two, "task", "set", "mine", "--scope", "tests")
    answer = told(two, "peers", "announce", "more tests", "--scope", "tests/a.py")
    assert [(one["episode"], one["kind"], one["paths"]) for one in answer["overlaps"]] == [
        ("bob", "task", [["tests/a.py", "tests"]])
    ]


@pytest.mark.parametrize(
    ("words", "code", "word"),
    [
        (("announce", "x"), 2, "--scope"),
        (("announce", "x", "--scope", "/etc"), 2, "outside the checkout"),
        (("announce", "x", "--scope", "../topic"), 2, "outside the checkout"),
        (("announce", " ", "--scope", "a"), 2, "blank"),
        (("announce", "x", "--scope", "a", "--name", "a/b"), 2, "name"),
        (("announce", "x", "--scope", "a", "--session", "nobody"), 1, "no episode nobody"),
        (("release", "x", "--session", "nobody"), 1, "no episode nobody"),
    ],
)
def test_refused(two: Lab, words: tuple[str, ...], code: int, word: str) -> None:
    """Invalid claims and releases are refused with a sentence, and nothing is held."""
    assert word in said(two, "peers", *words, code=code)
    assert "holds no claim" in said(two, "peers", "release", code=1)


def test_claims_survive_the_server(two: Lab) -> None:
    """The next server holds the claims of the last one, and closing the episode ends them."""
    said(two, "peers", "announce", "fix login", "--scope", "src")
    said(two, "serve", "stop")
    answer = told(two, "peers", "announce", "tidy", "--scope", ".", where="topic")
    assert [one["episode"] for one in answer["overlaps"]] == ["ann"]
    said(two, "episode", "close")
    assert told(two, "peers", "announce", "tidy", "--scope", ".", where="topic")["overlaps"] == []


def test_text_is_bounded_and_clean() -> None:
    """Other sessions' words are sanitized before they are shown, and of many pairs a few are listed and the rest counted."""
    claim = from_plain(
        Claim,
        {"episode": "a", "name": "work", "intent": "x\x1b[2J", "scope": ("s\n",), "since": "2026-03-01T12:00:00Z"},
    )
    pairs = tuple((f"a{n}", "b\x1b]0;t\x07") for n in range(5))
    met = Overlap(episode="b", kind="task", name=None, about="y\n\x9b1m", paths=pairs)
    assert announced_text(Announced(claim=claim, released=None, overlaps=(met,))) == (
        "episode a claims work: x (s)\n"
        "overlaps the task of episode b, y: a0 meets b, a1 meets b, a2 meets b and 2 more\n"
    )
