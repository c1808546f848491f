"""The shell scripts around the command, with a command in its place that says how it was called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = ["cat", "cksum", "dirname", "git", "id", "mktemp", "rm", "sh", "tee"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of a hard name whose environment is made and whose command prints its arguments, a line a call."""
    home = tmp_path / "Žofie's own"
    write(home / "scripts/prepare", "#!/bin/sh\n")
    write(
        home / ".venv/bin/majordomus", '#!/bin/sh\nprintf "<%s>" "$@"; echo\n[ "$1" != serve ] || exit "${FAILS:-0}"\n'
    )
    shutil.copy(ROOT / "scripts/brief", home / "scripts")
    return home


def write(path: Path, text: str) -> None:
    """Write an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def brief(checkout: Path, *arguments: str, cwd: Path, fails: int = 0) -> subprocess.CompletedProcess[str]:
    """Run scripts/brief of `checkout` in `cwd`, where `serve ensure` exits with `fails`."""
    return subprocess.run(
        [checkout / "scripts/brief", *arguments],
        cwd=cwd,
        env={**os.environ, "FAILS": str(fails)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_brief_of_current_folder(checkout: Path, tmp_path: Path) -> None:
    """Without --root the brief is that of the folder it was called in."""
    done = brief(checkout, "--line", "--width", "80", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"<brief><--root><{tmp_path}><--line><--width><80>\n", "")


@pytest.mark.parametrize(
    "arguments",
    [["--root", "a b/č", "--for", "x y"], ["--root=a b/č", "--for", "x y"], ["--for", "x y", "--root", "a b/č"]],
)
def test_brief_of_named_folder(checkout: Path, tmp_path: Path, arguments: list[str]) -> None:
    """--root names another folder wherever it stands, and every other argument arrives whole."""
    done = brief(checkout, *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "<brief><--root><a b/č><--for><x y>\n")


def test_brief_without_a_folder(checkout: Path, tmp_path: Path) -> None:
    """--root with nothing after it is a usage error in one sentence."""
    done = brief(checkout, "--line", "--root", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("--root names no folder")


def test_brief_outside_a_repository(checkout: Path, tmp_path: Path) -> None:
    """Where `serve ensure` finds no repository, there is no brief either."""
    done = brief(checkout, cwd=tmp_path, fails=2)
    assert (done.returncode, done.stdout) == (2, "")


def test_brief_without_a_server(checkout: Path, tmp_path: Path) -> None:
    """Where no server can run, the brief still comes."""
    done = brief(checkout, cwd=tmp_path, fails=1)
    assert (done.returncode, done.stdout) == (0, f"<brief><--root><{tmp_path}>\n")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A checkout that was never prepared, beside a folder `programs` without Python."""
    home = tmp_path / "bare"
    (home / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/prepare", home / "scripts")
    shutil.copy(ROOT / "pyproject.toml", home)
    shutil.copytree(ROOT / "bin", home / "bin")
    programs = home / "programs"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(shutil.which(name) or name)
    return home


def prepare(bare: Path) -> subprocess.CompletedProcess[str]:
    """Run scripts/prepare with the programs of `bare` alone."""
    argv = [bare / "scripts/prepare"]
    return subprocess.run(argv, env={"PATH": str(bare / "programs")}, capture_output=True, text=True, check=False)


def test_prepare_without_python(bare: Path) -> None:
    """A machine without a Python that is new enough is told so in one sentence."""
    write(bare / "programs/python3", "#!/bin/sh\nexit 1\n")
    done = prepare(bare)
    assert done.returncode == 1
    assert done.stderr.endswith("Python 3.11 or newer is needed and was not found; install python3.\n")


def test_prepare_without_venv(bare: Path) -> None:
    """Where Python has no ensurepip and nothing can be installed, the one line to run is said."""
    write(bare / "programs/python3", "#!/bin/sh\ncase $2 in *ensurepip*) exit 1 ;; esac\n")
    done = prepare(bare)
    assert done.returncode == 1
    assert done.stderr.endswith("as root: apt-get update && apt-get install --yes python3-venv\n")


def test_prepare_without_git(bare: Path) -> None:
    """A program that is missing where nothing can be installed is named, with the line to run."""
    (bare / "programs/git").unlink()
    done = prepare(bare)
    assert done.returncode == 1
    assert done.stderr.startswith("Missing here: git.")
