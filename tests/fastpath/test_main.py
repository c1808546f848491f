from __future__ import annotations

import json
from pathlib import Path

import pytest

from brief.core.model.brief import Brief
from brief.core.model.wire import from_json
from brief.fastpath.main import run
from impostor import answer, listening, saying, socket_of, write_lease
from sandbox import Lab
from terminal import in_terminal


@pytest.fixture
def at(served: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in the served repository, in this very process."""
    monkeypatch.chdir(served.repo)
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    return served.repo


@pytest.mark.parametrize("form", ["text", "json", "prompt", "line"])
def test_every_form_is_the_servers(at: Path, capfd: pytest.CaptureFixture[str], form: str) -> None:
    """The fast path prints what the server composed, whole, in the form that was asked for."""
    assert run(["brief", "--format", form]) == 0
    printed = capfd.readouterr().out
    assert printed.endswith("\n")
    if form == "json":
        assert from_json(Brief, printed).answered_by.kind == "lease-holder"
    else:
        assert "peers" in printed


def test_strict(at: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With --strict the exit code tells that not all was read, and all is printed nevertheless."""
    assert run(["brief", "--line", "--strict"]) == 10
    assert "queue ?" in capfd.readouterr().out


def test_session_of_the_environment(
    at: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The client's own session is meant unless another is named."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "of-the-client")
    for words, session in (([], "of-the-client"), (["--session", "named"], "named")):
        assert run(["brief", *words]) == 0
        assert f"session {session} has no open episode" in capfd.readouterr().out


@pytest.mark.parametrize(
    "words",
    [[], ["--version"], ["peers"], ["brief", "--help"], ["statusline", "--help"], ["brief", "--width", "wide"]],
    ids=" ".join,
)
def test_what_the_whole_command_must_answer(at: Path, words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Anything but a brief that a server answers is left to the whole command, and nothing was printed."""
    assert run(words) is None
    assert capfd.readouterr() == ("", "")


def test_no_server(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a server, and outside of every repository, the whole command says why."""
    for place in (lab.repo, lab.home):
        monkeypatch.chdir(place)
        assert run(["brief"]) is None


def test_a_silent_server_is_waited_for_once(lab: Lab) -> None:
    """If the server gives no answer, the command composes by itself and does not wait for the server a second time."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with listening(path, saying(b"")) as requests:
        assert "composed by this command alone" in lab.majordomus("brief").stdout
    assert len(requests) == 1


def test_body_without_a_line_end(lab: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    """An answer always ends its line."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with listening(path, saying(answer(json.dumps([1]).encode()))):
        assert run(["brief", "--root", str(lab.repo)]) == 0
    assert capfd.readouterr().out == "[1]\n"


@pytest.mark.parametrize("options", [(), ("--root=.",), ("--verbose", "--session=s")], ids=" ".join)
def test_terminal_width(served: Lab, options: tuple[str, ...]) -> None:
    """In a terminal no line is wider than it, whoever composed the brief, and what is too wide goes on below."""
    printed = in_terminal(served, "brief", *options, columns=60)
    assert "nobody was asked." in " ".join(printed.split())
    assert all(len(line) <= 60 for line in printed.splitlines() if "/" not in line)


def test_terminal_that_does_not_know_its_width(served: Lab) -> None:
    """A terminal of no width gets whole lines, as a file does."""
    printed = in_terminal(served, "brief", columns=0)
    assert printed.splitlines()[1:] == served.majordomus("brief").stdout.splitlines()[1:]
