from __future__ import annotations

import json
from pathlib import Path

import pytest

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.install.hooks import make_snippet
from brief.install.mods import Scope
from brief.sessions.channel_scope import PROJECT_SETTINGS, declares_wake, find_mod, scope_of_hook, scope_of_mod

COMMAND = ("/opt/my tools/majordomus",)
OF_PROJECT, OF_USER = (make_snippet(COMMAND, scope) for scope in (Scope.PROJECT, Scope.USER))
BEFORE_SCOPES = OF_USER.replace(" --scope user", "")


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """The person's own folder of the client, which is empty."""
    folder = tmp_path / "person/.claude"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout whose settings declare our hooks, as they are printed for a project."""
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude/settings.json").write_text(OF_PROJECT)
    return folder


def install_mod(folder: Path) -> None:
    """Put a mod below a folder of the client."""
    (folder / "skills/majordomus-brief/.claude-plugin").mkdir(parents=True)


@pytest.mark.parametrize("name", PROJECT_SETTINGS)
def test_hook_of_the_project_alone(person: Path, project: Path, name: str) -> None:
    """Declared by the project, by either of its files, and not by the person, it is the project's."""
    (project / ".claude/settings.json").rename(project / name)
    assert scope_of_hook("project", [str(person)], str(project)) == "project"
    assert scope_of_hook("user", [str(person)], str(project)) == "user"


@pytest.mark.parametrize("own", [OF_PROJECT, OF_USER, BEFORE_SCOPES, "{no JSON", "\0"])
def test_hook_that_the_person_has_too(person: Path, project: Path, own: str) -> None:
    """Whatever the project declares: if the person's own settings declare a hook, or cannot be read, the hook is theirs."""
    (person / "settings.json").write_text(own)
    assert scope_of_hook("project", [str(person)], str(project)) == "user"
    assert scope_of_hook("project", ["/nowhere", str(person)], str(project)) == "user"


@pytest.mark.parametrize(
    "text",
    [
        OF_USER,
        BEFORE_SCOPES,
        json.dumps({"note": OF_PROJECT}),
        json.dumps({"env": {"x": "majordomus hook wake --scope project"}}),
        json.dumps({"hooks": {"Stop": ["majordomus hook wake --scope project"]}}),
        json.dumps({"hooks": {"Stop": [{"hooks": [{"prompt": "majordomus hook wake --scope project"}]}]}}),
        json.dumps({"hooks": "majordomus hook wake --scope project"}),
        '"majordomus hook wake --scope project"',
        "majordomus hook wake --scope project",
    ],
)
def test_text_in_a_file_is_no_declaration(person: Path, project: Path, text: str) -> None:
    """A project that only contains the words of our hook, or declares it for a user, declares none of its own."""
    (project / ".claude/settings.json").write_text(text)
    assert scope_of_hook("project", [str(person)], str(project)) == "user"


def test_settings_that_cannot_be_read_prove_nothing(person: Path, project: Path) -> None:
    """If one of the project's files cannot be read, its hook is not proven to be its own."""
    (project / ".claude/settings.local.json").symlink_to("settings.local.json")
    assert isinstance(declares_wake(str(project / ".claude/settings.local.json"), "project"), Unknown)
    assert scope_of_hook("project", [str(person)], str(project)) == "user"


def test_mod_of_the_project_alone(person: Path, project: Path) -> None:
    """A mod is the project's where one of its checkouts has it and the person has none, whatever it says of itself."""
    other = project.parent / "other"
    assert scope_of_mod("project", str(person), [str(other), str(project)]) == "user"
    install_mod(project / ".claude")
    assert scope_of_mod("project", str(person), [str(other), str(project)]) == "project"
    assert scope_of_mod("user", str(person), [str(project)]) == "user"
    install_mod(person)
    assert scope_of_mod("project", str(person), [str(project)]) == "user"


def test_mod_that_cannot_be_looked_for_may_be_there(person: Path, project: Path) -> None:
    """If the person's folder cannot be accessed, they may have a mod, and the project's may not be the one that is loaded."""
    install_mod(project / ".claude")
    (person / "skills").symlink_to("skills")
    assert isinstance(find_mod(str(person)), Unknown)
    assert scope_of_mod("project", str(person), [str(project)]) == "user"


def test_what_is_declared(person: Path, project: Path) -> None:
    """A file declares it, does not, or is not there."""
    path = project / ".claude/settings.json"
    assert declares_wake(str(path), "project") == declares_wake(str(path), "user") == Known(value=True)
    path.write_text("{}")
    assert declares_wake(str(path), "project") == Known(value=False)
    assert declares_wake(str(person / "settings.json"), "user") is ABSENT
