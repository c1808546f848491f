from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brief.install.client import FLAG, Client, examine
from brief.install.mods import MODS, Scope

MOD = MODS[0]


class Machine:
    """A home with a client's files in it, a client of any version on PATH, and a checkout."""

    def __init__(self, base: Path) -> None:
        self.home, self.root, self.programs = base / "home", base / "repo", base / "bin"
        for folder in (self.home / ".claude", self.root / ".claude", self.root / "src", self.programs):
            folder.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": str(self.programs)}
        self.client("echo '2.1.332 (Claude Code)'")
        self.own(projects={str(self.root): {"hasTrustDialogAccepted": True}})

    def client(self, script: str) -> None:
        """Put a client on PATH."""
        (self.programs / "claude").write_text(f"#!/bin/sh\n{script}\n")
        (self.programs / "claude").chmod(0o755)

    def own(self, **document: Any) -> None:
        """Write the client's own state file."""
        (self.home / ".claude.json").write_text(json.dumps(document))

    def seen(self, scope: Scope = Scope.PROJECT, folder: str = "") -> Client:
        """Examine the client."""
        return examine(MOD, scope, str(self.root), str(self.root / folder), self.env)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine on which nothing prevents loading."""
    return Machine(tmp_path)


def test_nothing_in_the_way(machine: Machine) -> None:
    """If nothing prevents loading the mod, there are no reasons."""
    assert machine.seen() == Client("2.1.332", ())


@pytest.mark.parametrize(
    ("script", "version", "said"),
    [
        ("echo '2.1.286 (Claude Code)'", "2.1.286", "2.1.286 does not load mods; they need 2.1.287 or newer"),
        ("echo hello", None, "prints no version"),
        ("exit 1", None, "prints no version"),
    ],
)
def test_the_version(machine: Machine, script: str, version: str | None, said: str) -> None:
    """A client that is too old loads no mod; if it prints no version, that is unknown."""
    machine.client(script)
    seen = machine.seen()
    assert seen.version == version
    assert [said in reason for reason in (seen.doubts if version is None else seen.reasons)] == [True]
    assert seen.reasons == () or version is not None


def test_no_client(machine: Machine) -> None:
    """Without a client on PATH it is unknown whether it loads the mod."""
    (machine.programs / "claude").unlink()
    seen = machine.seen()
    assert (seen.reasons, "is not on PATH" in seen.doubts[0]) == ((), True)


def test_the_rollout_flag(machine: Machine) -> None:
    """A rollout that the client last saw switched off is a reason, unless the client does not ask for rollouts."""
    machine.own(cachedGrowthBookFeatures={FLAG: False}, projects={str(machine.root): {"hasTrustDialogAccepted": True}})
    assert [FLAG in reason for reason in machine.seen().reasons] == [True]
    machine.env["DISABLE_TELEMETRY"] = "1"
    assert machine.seen().reasons == ()


@pytest.mark.parametrize("path", ["home/.claude/settings.json", "repo/.claude/settings.json"])
@pytest.mark.parametrize(
    "settings", [{"disableAllHooks": True}, {"enabledPlugins": {"majordomus-brief@skills-dir": False}}]
)
def test_settings_that_keep_it_out(machine: Machine, tmp_path: Path, path: str, settings: dict[str, Any]) -> None:
    """Settings that disable all hooks, or this mod, are named by their file."""
    (tmp_path / path).write_text(json.dumps(settings))
    (reason,) = machine.seen().reasons
    assert reason.startswith(str(tmp_path / path))


def test_a_folder_that_is_not_trusted(machine: Machine) -> None:
    """A checkout that the client does not trust is a reason, with what to do; trust in a folder above counts."""
    machine.own(projects={})
    assert "start it there once" in machine.seen().reasons[0]
    machine.own(projects={str(machine.root.parent): {"hasTrustDialogAccepted": True}})
    assert machine.seen().reasons == ()


def test_the_persons_own_is_loaded_in_its_place(machine: Machine) -> None:
    """A checkout's mod is not loaded if the person has it too."""
    (machine.home / ".claude" / MOD.target / ".claude-plugin").mkdir(parents=True)
    assert [("is loaded in its place" in reason) for reason in machine.seen().reasons] == [True]
    assert machine.seen(Scope.USER).reasons == ()


def test_a_subdirectory(machine: Machine) -> None:
    """A session that starts below the root does not load the checkout's mod, but loads the person's."""
    assert "looks only in the folder it starts in" in machine.seen(folder="src").reasons[0]
    assert machine.seen(Scope.USER, folder="src").reasons == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"projects": 3}', "[" * 100_000])
def test_files_that_are_damaged(machine: Machine, text: str) -> None:
    """The content of the client's unreadable files is unknown, including its trust in the checkout; nothing crashes."""
    (machine.home / ".claude.json").write_text(text)
    (machine.home / ".claude/settings.json").write_text(text)
    seen = machine.seen()
    if text == '{"projects": 3}':
        assert [("does not trust" in reason) for reason in seen.reasons] == [True]
    else:
        told = [f"{path} is not " for path in (machine.home / ".claude.json", machine.home / ".claude/settings.json")]
        assert seen.reasons == ()
        assert [doubt.startswith(start) for doubt, start in zip(seen.doubts, told, strict=True)] == [True, True]


def test_a_file_that_is_not_there_is_no_doubt(machine: Machine) -> None:
    """A client that never ran here has no state file, and so trusts nothing."""
    (machine.home / ".claude.json").unlink()
    seen = machine.seen()
    assert ([("does not trust" in reason) for reason in seen.reasons], seen.doubts) == ([True], ())
