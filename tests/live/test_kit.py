from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from brief.install.mods import MODS
from brief.support.package_data import mod_folder
from claude import Session, client, environment, settle_in
from messages import Messages
from npm import program
from sandbox import Lab, until

TYPESCRIPT = "7.0.2"


def run(lab: Lab, tmp_path: Path, action: str) -> str:
    """What the client says of the shipped mod, which must be good."""
    copy = shutil.copytree(mod_folder(MODS[0].source), tmp_path / MODS[0].name)
    argv = [client(), "plugin", action, str(copy)]
    done = subprocess.run(argv, env=environment(lab), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_validate(lab: Lab, tmp_path: Path) -> None:
    """The client finds nothing in the mod that it would refuse."""
    told = run(lab, tmp_path, "validate")
    assert "Validation passed" in told


def test_types(lab: Lab, messages: Messages, tmp_path: Path) -> None:
    """The mod, its tests among it, keeps to the types of its interface that the client itself writes down."""
    copy = shutil.copytree(mod_folder(MODS[0].source), tmp_path / MODS[0].name)
    settle_in(lab, lab.repo)
    with Session(lab, messages, lab.repo, words=["--plugin-dir", str(copy)]):
        until((copy / "tsconfig.json").exists, 30)
    argv = [program("typescript", TYPESCRIPT, "tsc"), "--noEmit", "--project", str(copy)]
    done = subprocess.run(argv, env=lab.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_own_tests(lab: Lab, tmp_path: Path) -> None:
    """The mod's own tests pass in the client's kit, and there are many."""
    told = run(lab, tmp_path, "test")
    assert " 0 fail" in told
    assert told.count("(pass)") > 50
