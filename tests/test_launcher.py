"""The script that installers place, as they place it, called where the environment and the folder are hostile."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest

from sandbox import Lab

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
HARD = 'Žofie\'s own "dir"'
"""A name with a space and both quotes in it, beyond ASCII."""

PLANTED = ("sitecustomize.py", "usercustomize.py", "re.py", "os.py", "json/__init__.py", "brief/__init__.py")


class Installed(NamedTuple):
    """A script, and the folder of packages that its installer made."""

    script: Path
    packages: Path


def run(*argv: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """What a program that must succeed prints."""
    done = subprocess.run(
        argv, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source, which asks for no other package: those of the tests are used."""
    folder = tmp_path_factory.mktemp("wheel")
    run(BIN / "hatchling", "build", "--target", "wheel", "--directory", folder / "whole", cwd=ROOT)
    (built,) = (folder / "whole").iterdir()
    alone = folder / built.name
    with ZipFile(built) as whole, ZipFile(alone, "w") as made:
        for entry in whole.infolist():
            text = whole.read(entry)
            is_metadata = entry.filename.endswith("/METADATA")
            made.writestr(entry, re.sub(rb"(?m)^Requires-Dist:.*\n", b"", text) if is_metadata else text)
    return alone


def with_needs(script: Path, packages: Path) -> Installed:
    """An installation that has the packages of the tests beside its own."""
    (packages / "needs.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(script, packages)


def packages_of(venv: Path) -> Path:
    """Where a virtual environment has its packages."""
    (found,) = venv.glob("lib/python3*/site-packages")
    return found


def by_pip(folder: Path, *what: str | Path) -> Installed:
    """An environment in `folder` with what pip installed into it."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    made = with_needs(folder / "bin/majordomus", packages_of(folder))
    run(BIN / "pip", "--python", folder / "bin/python", "install", "--no-index", "--no-deps", *what)
    return made


def in_venv(folder: Path, wheel: Path) -> Installed:
    """By pip, into a virtual environment."""
    return by_pip(folder, wheel)


def editable(folder: Path, wheel: Path) -> Installed:
    """By pip, from this source, which stays where it is."""
    return by_pip(folder, "--no-build-isolation", "--editable", ROOT)


def by_link(folder: Path, wheel: Path) -> Installed:
    """By pip, and called through a link to a link."""
    made = by_pip(folder / "environment", wheel)
    (folder / "first").symlink_to("environment/bin/majordomus")
    (folder / "majordomus").symlink_to(folder / "first")
    return made._replace(script=folder / "majordomus")


def for_user(folder: Path, wheel: Path) -> Installed:
    """By pip, into the person's own folder, by a Python that lies elsewhere."""
    base = Path(getattr(sys, "_base_executable", sys.executable))
    env = {"PYTHONUSERBASE": str(folder), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    run(BIN / "pip", "--python", base, "install", "--user", "--no-index", "--no-deps", wheel, env=env)
    return with_needs(folder / "bin/majordomus", packages_of(folder))


def by_pipx(folder: Path, wheel: Path) -> Installed:
    """By pipx, which links to the script from the person's bin/."""
    env = {
        "PIPX_HOME": str(folder / "share/pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }
    run(BIN / "pipx", "install", wheel, env=env)
    return with_needs(folder / "bin/majordomus", packages_of(folder / "share/pipx/venvs/majordomus-brief"))


def by_uv(folder: Path, wheel: Path) -> Installed:
    """By uv, as a tool, which links to the script from the person's bin/."""
    env = {
        "UV_TOOL_DIR": str(folder / "share/uv/tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
        "UV_PYTHON": sys.executable,
    }
    run(BIN / "uv", "tool", "install", "--offline", "--no-cache", wheel, env=env)
    return with_needs(folder / "bin/majordomus", packages_of(folder / "share/uv/tools/majordomus-brief"))


def plant(folder: Path, marker: Path) -> None:
    """Modules that Python imports by itself, and some that we do; each writes its name into `marker`."""
    for name in PLANTED:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(marker)!r}, 'a').write({name!r})\n")


@pytest.mark.parametrize(
    "install", [in_venv, editable, by_link, for_user, by_pipx, by_uv], ids=lambda one: one.__name__
)
def test_every_installation_is_isolated(install: object, wheel: Path, lab: Lab, tmp_path: Path) -> None:
    """However it was installed, the command, its server and its hooks start, and import nothing of the folder they are in."""
    assert callable(install)
    made: Installed = install(tmp_path / HARD, wheel)
    marker = tmp_path / "marker"
    plant(lab.repo, marker)
    env = {**lab.env, "PYTHONPATH": ":.", "PYTHONHOME": ".", "PYTHONUSERBASE": ".", "PYTHONOPTIMIZE": "2"}
    assert run(made.script, "serve", "ensure", cwd=lab.repo, env=env).startswith("started: ")
    assert run(made.script, "brief", "--line", cwd=lab.repo, env=env).startswith("peers 0")
    assert "hookSpecificOutput" in run(made.script, "hook", "session-start", cwd=lab.repo, env=env)
    assert not marker.exists(), marker.read_text()


def test_printed_hooks_start_by_a_shell(wheel: Path, lab: Lab, tmp_path: Path) -> None:
    """What is printed for the settings names the script so that a shell starts it, whatever its folder is called."""
    made = in_venv(tmp_path / HARD, wheel)
    printed = run(made.script, "capture", "install", "--channel", "hooks", cwd=lab.repo, env=lab.env)
    (command,) = {line.split(": ", 1)[1] for line in printed.splitlines() if "session-start" in line}
    words = json.loads(command.rstrip(","))
    assert "hookSpecificOutput" in run("/bin/sh", "-c", words, cwd=lab.repo, env={**lab.env, "PYTHONPATH": "."})


def test_without_written_bytecode(wheel: Path, lab: Lab, tmp_path: Path) -> None:
    """Where no compiled file can be written, as in folders that are read only, the command starts every time."""
    made = in_venv(tmp_path / HARD, wheel)
    package = made.packages / "brief"
    for cache in [*package.rglob("__pycache__")]:
        shutil.rmtree(cache)
    for folder in (package, *[path for path in package.rglob("*") if path.is_dir()]):
        (folder / "__pycache__").touch()  # in the way of root too
    for _ in range(2):
        assert run(made.script, "brief", "--line", cwd=lab.repo, env=lab.env).startswith("peers ?")


@pytest.mark.parametrize("words", [["--help"], ["policy", "schema"], ["brief"]], ids=" ".join)
def test_without_docstrings_and_assertions(lab: Lab, words: list[str]) -> None:
    """An interpreter that drops docstrings and assertions runs the command as any does."""
    argv = [sys.executable, "-OO", "-m", "brief", *words]
    assert run(*argv, cwd=lab.repo, env=lab.env) != ""


def test_no_python_is_told(wheel: Path, lab: Lab, tmp_path: Path) -> None:
    """Where the Python is gone that it was installed for, one sentence says so, and none of the current folder is taken."""
    made = in_venv(tmp_path / HARD, wheel)
    python = made.script.parent / "python"
    python.unlink()
    for name in ("python", "python3", "readlink"):
        (lab.repo / name).symlink_to(sys.executable)
    (lab.repo / "called").symlink_to(made.script)
    done = subprocess.run(
        [lab.repo / "called", "brief"], cwd=lab.repo, env={"PATH": ":"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"majordomus: its Python {python} is gone; install majordomus-brief again\n"


@pytest.mark.parametrize("tools", ["pipx/venvs", "uv/tools", "elsewhere"])
def test_known_links_start_no_process(wheel: Path, lab: Lab, tmp_path: Path, tools: str) -> None:
    """Beside the shell and Python nothing is started, also by the links of pipx and uv; another link costs one more."""
    made = in_venv(tmp_path / "share" / tools / "majordomus-brief", wheel)
    link = tmp_path / "bin/majordomus"
    link.parent.mkdir()
    link.symlink_to(made.script)
    for script, count in ((made.script, 2), (link, 3 if tools == "elsewhere" else 2)):
        trace = tmp_path / "trace"
        run("strace", "-f", "-qq", "-e", "trace=execve", "-o", trace, script, "statusline", cwd=lab.repo, env=lab.env)
        assert len([line for line in trace.read_text().splitlines() if line.endswith("= 0")]) == count, (
            trace.read_text()
        )
