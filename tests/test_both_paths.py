"""A command says the same whether the fast path or the whole command asked the server."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from brief.capabilities.capability import Capability
from brief.capabilities.table import CAPABILITIES
from brief.cli.main import main
from sandbox import Lab
from serving import leave_notice

pytestmark = pytest.mark.slow

SESSIONS = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
FAST = "from brief.__main__ import run_command; run_command()"

ANN, BOB = (["--session", one] for one in SESSIONS)
CALLS: list[list[str]] = [
    ["episode", "open", *ANN, "--provider", "claude-code"],
    ["episode", "open", *BOB],
    ["episode", "list"],
    ["task", "set", "fix lögin", "--scope", "src/login", "--scope=a.txt", "--next", "test", *ANN],
    ["task", "set", "", *ANN],
    ["task", "next", "write it", *ANN],
    ["task", "show", *ANN],
    ["task", "show", "--strict", *BOB],
    ["peers", "announce", "rename it", "--scope", "src", *BOB],
    ["peers", "list", *ANN, "--strict"],
    ["peers", "release", *BOB],
    ["lock", "place", "login", "--title", "mine", *ANN],
    ["lock", "place", "login", *BOB],
    ["lock", "release", "login", *BOB],
    ["lock", "status"],
    ["lock", "audit", "--strict"],
    ["alerts", "add", "read me", "--kind", "courtesy", "--component=login", *ANN],
    ["alerts", "add", "read me", "--priority", "99", *ANN],
    ["alerts", "list", *BOB],
    ["alerts", "list", "--strict", *BOB],
    ["alerts", "show", "nothing-of-the-kind"],
    ["alerts", "show", "alert"],
    ["alerts", "done", "alert", *ANN],
    ["alerts", "ack", "nothing-of-the-kind", *ANN],
    ["alerts", "archive", "nothing-of-the-kind", *ANN],
    ["alerts", "migrate", "nothing.md"],
    ["reminders"],
    ["queue", "refresh"],
    ["queue", "show", "--strict"],
    ["derive", "status"],
    ["wake", "list"],
    ["wake", "pause", *ANN],
    ["wake", "resume", *ANN],
    ["wake", "now", *ANN],
    ["lock", "release", "login", *ANN],
    ["task", "done", *ANN],
    ["episode", "close", "--reason", "merged", *ANN],
    ["brief", *BOB],
    ["brief", "--line", "--strict"],
    ["task", "set", "x", "--session", "nobody"],
    ["task", "set", "x" * 100_000, *BOB],
    ["task", "set", b"\xff".decode("utf-8", "surrogateescape"), *BOB],
    ["peers", "list", "--nope"],
    ["peers", "list", "--session"],
    ["peers", "list", "--session="],
    ["peers", "list", "--session", ""],
    ["peers", "list", "--session", " "],
    ["peers", "list", "--root", ""],
    ["episode", "open", "--session", ""],
    ["episode", "open", "--provider="],
    ["episode", "open", "--pid", "2147483647"],
    ["peers", "release", ""],
    ["peers", "announce", "it", "--scope", "", *ANN],
    ["task", "set", "x", "--scope", "", "--scope", "a", *BOB],
    ["lock", "place", ""],
    ["lock", "place", "api", "--title", " ", *BOB],
    ["alerts", "add", "x", "--component", ""],
    ["alerts", "add", "nothing more", "--body", "", "--kind", "courtesy"],
    ["alerts", "add", "x", "--expires", "2020-01-01"],
    ["alerts", "list", "--component="],
    ["alerts", "show", ""],
    ["alerts", "migrate", ""],
    ["brief", "--section", ""],
    ["peers", "list", "--session=a", "--session=b"],
    ["peers", "list", "--", "x"],
    ["wake", "--help"],
]
_CHANGING = re.compile(
    r"20\d\d-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d(\.\d+)?Z?|\bpid \d+|epoch \d+|\bat [0-9a-f]{9}\b"
    r'|"(pid|epoch|took_ms|head|size)":"?[0-9a-f.]+"?|\d+s\b'
)
"""What differs between two answers to one question, or between two repositories."""


@pytest.fixture(scope="module")
def twins() -> Iterator[tuple[Lab, Lab]]:
    """Two alike repositories with servers: one is asked by the fast path, the other by the whole command."""
    with contextlib.ExitStack() as leaving:
        labs = [leaving.enter_context(Lab()) for _ in range(2)]
        for lab in labs:
            lab.commit(a_txt="one")
            leave_notice(lab, "alert", "---\nkind: alert\ncreated: 2999-01-01\n---\n# read this\n")
            lab.start_server()
        yield labs[0], labs[1]


Answer = tuple[int, str, str]
"""Exit code, standard output and standard error of a call, without what differs between two repositories."""


def by_fast_path(lab: Lab, words: list[str]) -> Answer:
    """The call as a process of its own."""
    argv = [sys.executable, "-c", FAST, *words]
    done = subprocess.run(argv, cwd=lab.repo, env=lab.env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, _settled(done.stdout, lab), _settled(done.stderr, lab)


@pytest.fixture
def by_whole_command(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[[Lab, list[str]], Answer]:
    """The call by the whole command in this process."""

    def call(lab: Lab, words: list[str]) -> Answer:
        with monkeypatch.context() as patch:
            patch.chdir(lab.repo)
            for name in os.environ.keys() - lab.env.keys():
                patch.delenv(name)
            for name, value in lab.env.items():
                patch.setenv(name, value)
            code = main(words)
        out, err = capfdbinary.readouterr()
        return code, _settled(out, lab), _settled(err, lab)

    return call


def _settled(stream: bytes, lab: Lab) -> str:
    return _CHANGING.sub("#", stream.decode().replace(str(lab.base), "BASE"))


def test_every_command_says_the_same_by_both_paths(
    twins: tuple[Lab, Lab], by_whole_command: Callable[[Lab, list[str]], Answer]
) -> None:
    """One sequence of calls gives the same bytes and exit codes."""
    for words in CALLS:
        assert by_fast_path(twins[0], words) == by_whole_command(twins[1], words), words


QUERIES = [one for one in CAPABILITIES if one.cli and one.kind == "query"]


@pytest.mark.parametrize("capability", QUERIES, ids=lambda one: one.id)
def test_every_query_says_the_same_as_json(
    capability: Capability, twins: tuple[Lab, Lab], by_whole_command: Callable[[Lab, list[str]], Answer]
) -> None:
    """The JSON is the server's own, letter for letter."""
    words = [*capability.cli, "--format", "json", *(["alert"] if capability.id == "alerts.show" else [])]
    by_fast = by_fast_path(twins[0], words)
    assert by_fast == by_whole_command(twins[0], words)
    assert by_fast[1].startswith("{")


def test_every_command_is_tried() -> None:
    """The sequence calls every capability that has words."""
    tried = {tuple(words[:2]) for words in CALLS} | {tuple(words[:1]) for words in CALLS}
    assert {one.cli for one in CAPABILITIES if one.cli} <= tried
