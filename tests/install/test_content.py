from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from brief.install.content import (
    INSTALLED,
    digest_file,
    is_client_file,
    make_content,
    own_command,
    read_marker,
)
from brief.install.mods import MODS, Mod, Scope
from brief.support.package_data import mod_folder

COMMAND = ("/opt/the python", "-m", "brief")


def test_tests_and_what_the_client_laid_are_not_installed(mod: Mod) -> None:
    """All shipped files are installed but tests, the client's types, and the file that names those."""
    files = make_content(mod, Path(mod.source), Scope.PROJECT, COMMAND)
    assert set(files) == {
        ".claude-plugin/plugin.json",
        "hooks/hooks.json",
        "hooks/register.ts",
        INSTALLED,
        mod.marker,
    }


@pytest.mark.parametrize("scope", Scope)
def test_the_command_and_the_scope_are_written_in(mod: Mod, scope: Scope) -> None:
    """The installed mod contains the words of the command, verbatim, and its scope."""
    text = make_content(mod, Path(mod.source), scope, COMMAND)[INSTALLED].decode()
    assert 'COMMAND: readonly string[] = ["/opt/the python", "-m", "brief"]' in text
    assert f'= "{scope}"' in text


def test_the_own_command_needs_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no script was called, the command is the one beside the interpreter, else the interpreter, isolated."""
    assert own_command("-c") == (str(Path(sys.executable).with_name("majordomus")),)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert own_command("-c") == (str(tmp_path / "python"), "-I", "-m", "brief")


def test_the_script_that_was_called_is_named(tmp_path: Path) -> None:
    """If our script was called, the command is its full path; any other script does not count."""
    script = tmp_path / "majordomus"
    assert own_command(str(script)) == own_command("-c")
    script.touch(0o755)
    assert own_command(os.path.relpath(script)) == (str(script),)
    script.chmod(0o644)
    folder = tmp_path / "folder/majordomus"
    folder.mkdir(parents=True)
    for called in (str(script), str(folder), "/usr/bin/env", "-c", "", "majordomus"):
        assert own_command(called) == own_command("-c")


def test_the_marker_tells_what_was_written(mod: Mod) -> None:
    """The marker holds a digest of every other file, so that an edit is detected later."""
    files = make_content(mod, Path(mod.source), Scope.PROJECT, COMMAND)
    assert read_marker(mod, files) == {name: digest_file(text) for name, text in files.items() if name != mod.marker}


@pytest.mark.parametrize(
    "marker",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"schema": "majordomus.mod/v1"}',
        b'{"schema": "other/v1", "mod": "sample", "files": {}}',
        b'{"schema": "majordomus.mod/v1", "mod": "another", "files": {}}',
        b'{"schema": "majordomus.mod/v1", "mod": "sample", "files": []}',
        b'{"schema": [], "mod": "sample", "files": {}}',
        b"[" * 100_000,
    ],
)
def test_a_marker_that_is_none_claims_nothing(mod: Mod, marker: bytes) -> None:
    """A damaged marker, another schema or another mod's marker does not make a folder ours."""
    assert read_marker(mod, {mod.marker: marker}) is None


@pytest.mark.parametrize(
    ("name", "laid"),
    [
        (".claude-plugin/types/claude-code/index.d.ts", True),
        ("tsconfig.json", True),
        (".claude-plugin/plugin.json", False),
        ("hooks/tsconfig.json", False),
    ],
)
def test_what_the_client_lays(name: str, *, laid: bool) -> None:
    """The client's own files are its interface's types and the file at the mod's root that names them."""
    assert is_client_file(name) is laid


@pytest.mark.parametrize("shipped", MODS, ids=lambda mod: mod.name)
def test_every_mod_of_the_table_ships(shipped: Mod) -> None:
    """Each mod of the table has a manifest with its name, its hooks, and the generated module."""
    folder = mod_folder(shipped.source)
    files = make_content(shipped, folder, Scope.USER, COMMAND)
    assert json.loads(files[".claude-plugin/plugin.json"])["name"] == shipped.name
    assert {"hooks/hooks.json", INSTALLED, "README.md"} <= set(files)
    assert shipped.target.endswith(f"/{shipped.name}")
