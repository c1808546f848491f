from __future__ import annotations

import subprocess
import sys

import pytest

from sandbox import Lab

SLOW = {
    "asyncio",
    "dataclasses",
    "difflib",
    "importlib.metadata",
    "msgspec",
    "pydantic",
    "sqlite3",
    "subprocess",
    "wcwidth",
    "yaml",
}
"""Each takes as long to import as a bare interpreter takes to start, or brings what does."""

CALL = "import sys; from brief.__main__ import main; main(); sys.stderr.write('\\n' + ' '.join(sys.modules))"


def loaded(lab: Lab, *words: str) -> set[str]:
    """The slow modules that an interpreter holds after a command."""
    argv = [sys.executable, "-c", CALL, *words]
    done = subprocess.run(argv, cwd=lab.repo, env=lab.env, capture_output=True, text=True, check=True)
    return SLOW & set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "words", [(), ("--help",), ("--version",), ("task", "--help"), ("capture", "install", "--help")]
)
def test_help(lab: Lab, words: tuple[str, ...]) -> None:
    """Help loads nothing of what the commands do."""
    assert loaded(lab, *words) == set()


OF_SERVE = {"subprocess"}
OF_POLICY = {"difflib", "msgspec"}


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (("serve", "status"), OF_SERVE),
        (("serve", "ensure"), OF_SERVE),
        (("serve", "stop"), OF_SERVE),
        (("policy", "show"), OF_POLICY),
        (("policy", "check"), OF_POLICY),
        (("policy", "schema"), OF_POLICY),
        (("trust", "--list"), OF_POLICY),
    ],
)
def test_local_command(lab: Lab, words: tuple[str, ...], needed: set[str]) -> None:
    """A command that asks for no brief loads what its own answer needs; without a policy no reader of YAML."""
    assert loaded(lab, *words) == needed


OF_COMPOSING = {"asyncio", "difflib", "msgspec", "sqlite3", "subprocess"}


@pytest.mark.parametrize(
    "words", [("brief",), ("task", "show"), ("derive", "status"), ("alerts", "list")], ids=" ".join
)
def test_command_that_composes(lab: Lab, words: tuple[str, ...]) -> None:
    """Without a server and without a file to read, no reader of YAML is loaded, and nothing that measures text."""
    assert loaded(lab, *words) == OF_COMPOSING


def test_start_of_a_server() -> None:
    """A server that finds the lease taken has loaded nothing slow until then."""
    code = "import sys; import brief.server.__main__; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert SLOW & set(done.stderr.split()) == {"sqlite3"}
