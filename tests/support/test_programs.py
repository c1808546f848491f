from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from brief.core.model.errors import GitError
from brief.fastpath.known import ABSENT, Known
from brief.git.command import run
from brief.support.programs import environment_for, find_program, repository_around, search_path
from sandbox import Lab

OTHER_UID = 54_321


def planted(folder: Path, name: str = "git") -> Path:
    """A program that leaves a file beside it when it runs."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\n: >"{folder}/was-run"\nexit 1\n')
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("start", ["", ".", "tools", "./tools", "tools/.."])
def test_the_current_folder_decides_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    """Empty and relative entries of PATH are skipped, and git is found after them."""
    planted(lab.repo)
    planted(lab.repo / "tools")
    monkeypatch.chdir(lab.repo)
    monkeypatch.setenv("PATH", f"{start}:{lab.env['PATH']}")
    assert run(["rev-parse", "--git-dir"], str(lab.repo)) == b".git\n"
    assert [*lab.repo.rglob("was-run")] == []


def test_no_checkout_brings_its_own_git(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of PATH in a checkout of the repository, in its git folder, or behind a link to one, is skipped."""
    lab.commit()
    tree = lab.worktree("topic")
    folders = [lab.repo / "tools", tree / "node_modules/.bin", Path(lab.common_dir, "hooks")]
    for folder in folders:
        planted(folder)
    link = lab.base / "link"
    link.symlink_to(tree / "node_modules/.bin")
    one = lab.base / "one"
    one.mkdir()
    (one / "git").symlink_to(lab.repo / "tools/git")
    monkeypatch.setenv("PATH", ":".join(map(str, (*folders, link, one))) + f":{lab.env['PATH']}")
    for cwd in (lab.repo, tree, Path(lab.common_dir)):
        assert run(["--version"], str(cwd)).startswith(b"git version")
        assert search_path(str(cwd)) == f"{one}:{lab.env['PATH']}"
    assert [*lab.base.rglob("was-run")] == []


def test_another_repository_is_not_this_one(lab: Lab) -> None:
    """Tools kept in another repository are the person's, even if that repository contains the one in question."""
    tools = lab.base / "tools"
    lab.git("init", "-q", str(tools))
    path = planted(tools / "bin", "it")
    assert find_program("it", str(lab.repo), {"PATH": str(path.parent)}) == Known(str(path))
    assert find_program("it", str(tools), {"PATH": str(path.parent)}) is ABSENT


def test_a_folder_that_git_cannot_place_is_passed_over(lab: Lab) -> None:
    """If it is unknown whether a folder is one of the repository's checkouts, it is not searched."""
    path = planted(lab.base / "lost", "it")
    (path.parent / ".git").write_text("gitdir: /nowhere\n")
    assert find_program("it", str(lab.repo), {"PATH": str(path.parent)}) is ABSENT


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a folder another user's")
def test_a_folder_that_anybody_may_write_into_is_passed_over(lab: Lab) -> None:
    """A folder that another user owns and everybody may write to is not searched."""
    path = planted(lab.base / "open", "it")
    env = {"PATH": str(path.parent)}
    for mode, owner, found in ((0o777, 0, True), (0o755, OTHER_UID, True), (0o1777, OTHER_UID, False)):
        path.parent.chmod(mode)
        os.chown(path.parent, owner, owner)
        kept = f"{env['PATH']}:/nowhere-{owner}-{mode}"  # a PATH of its own, since what is known of one is kept
        assert (find_program("it", str(lab.repo), {"PATH": kept}) == Known(str(path))) is found, oct(mode)


def test_no_git_outside_the_repository_is_told_so(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """If only the repository has a git, no git is found, and the sentence says where it was searched."""
    planted(lab.repo)
    monkeypatch.setenv("PATH", str(lab.repo))
    with pytest.raises(GitError, match="no git on PATH outside the repository; install git"):
        run(["status"], str(lab.repo))
    assert not (lab.repo / "was-run").exists()


def test_git_reads_no_configuration_that_the_folder_decides(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration with a relative path, or inside the repository, is not the person's."""
    (lab.repo / "git").mkdir()
    for name in ("planted", "git/config", ".gitconfig"):
        (lab.repo / name).write_text("[told]\nby = repository\n")
    monkeypatch.chdir(lab.repo)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    for name, value in (
        ("GIT_CONFIG_GLOBAL", "planted"),
        ("GIT_CONFIG_GLOBAL", str(lab.repo / "planted")),
        ("XDG_CONFIG_HOME", "."),
        ("XDG_CONFIG_HOME", str(lab.repo)),
        ("HOME", "."),
        ("HOME", ""),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert b"told.by" not in run(["config", "--list"], str(lab.repo)), (name, value)


def test_programs_of_git_are_not_the_repositorys(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's GIT_EXEC_PATH is kept, one inside the repository is not."""
    for value, kept in (("/usr/lib/git-core", True), ("libexec", False), (str(lab.repo), False)):
        monkeypatch.setenv("GIT_EXEC_PATH", value)
        assert ("GIT_EXEC_PATH" in environment_for(str(lab.repo))) is kept


def test_a_home_that_is_a_repository_is_a_home(lab: Lab) -> None:
    """A person who keeps their home in git keeps their configuration there too."""
    assert environment_for(str(lab.repo), {"HOME": str(lab.repo)})["HOME"] == str(lab.repo)


def test_the_server_has_a_clean_environment(lab: Lab) -> None:
    """A server has no variables that control Python or git, and no entry of PATH inside the repository."""
    steering = {"PYTHONPATH": ":", "GIT_DIR": "/nowhere", "GIT_TRACE": "1", "PATH": f":{lab.repo}:{lab.env['PATH']}"}
    assert lab.majordomus("serve", "ensure", env=steering).returncode == 0
    (pid,) = [one for one in lab.processes() if b"brief.server" in Path(f"/proc/{one}/cmdline").read_bytes()]
    named = dict(line.split("=", 1) for line in Path(f"/proc/{pid}/environ").read_text().split("\0") if line)
    assert named["PATH"] == lab.env["PATH"]
    assert not {name for name in named if name.startswith(("PYTHON", "GIT_"))} - {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
    }


def test_the_repository_around_a_folder(lab: Lab) -> None:
    """A checkout, a git folder and a bare repository are found from within; other folders are in none."""
    bare = lab.base / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", bare], env=lab.env, check=True)
    assert repository_around(str(lab.repo)) == lab.common_dir
    assert repository_around(lab.common_dir + "/refs") == lab.common_dir
    assert repository_around(str(bare)) == str(bare)
    assert repository_around(str(lab.home)) is None
