from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from brief.fastpath.locate import locate
from brief.install.content import make_content
from brief.install.mods import Mod, Scope
from brief.install.place import Place, in_checkout, of_person
from sandbox import Lab

COMMAND = ("/opt/python", "-m", "brief")

Tree = Mapping[str, bytes]


@pytest.fixture
def mod(tmp_path: Path) -> Mod:
    """A shipped mod with a test, the client's types, and the module that an installation generates."""
    for name in (
        ".claude-plugin/plugin.json",
        ".claude-plugin/types/claude-code/index.d.ts",
        "tsconfig.json",
        "hooks/hooks.json",
        "hooks/register.ts",
        "hooks/installed.ts",
        "hooks/rows.test.ts",
        "tests/register.ts",
    ):
        path = tmp_path / "shipped" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {name}\n")
    return Mod("sample", "claude-code", str(tmp_path / "shipped"), "skills/sample", "session.brief_on_interval")


@pytest.fixture
def wanted(mod: Mod) -> Tree:
    """The files that an installation writes into a checkout."""
    return make_content(mod, Path(mod.source), Scope.PROJECT, COMMAND)


@pytest.fixture
def place(lab: Lab, mod: Mod) -> Place:
    """The place of the mod in the lab's checkout."""
    return in_checkout(mod, locate(str(lab.repo)))


@pytest.fixture
def own_place(lab: Lab, mod: Mod) -> Place:
    """The place of the mod in the person's own folder."""
    return of_person(mod, lab.env)


@pytest.fixture
def tree() -> Callable[[Path], Tree]:
    """Read a folder. Returns the content of every file by its relative path."""

    def read(folder: Path) -> Tree:
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }

    return read
