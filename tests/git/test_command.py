from __future__ import annotations

import os
from pathlib import Path

import pytest

from brief.core.model.errors import GitError
from brief.git.command import GitTimeoutError, git_cwd, run
from sandbox import Lab, until


@pytest.fixture
def as_git(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a fake git on PATH."""
    folder = lab.base / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder / "git"


def script(path: Path, text: str) -> None:
    """Make an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_git_answers_in_bytes(lab: Lab) -> None:
    """The output of git is returned unchanged."""
    assert run(["rev-parse", "--git-dir"], str(lab.repo)) == b".git\n"


def test_a_failure_is_one_sentence(lab: Lab) -> None:
    """The sentence has git's own words, the command and the folder, and no control characters."""
    with pytest.raises(GitError) as caught:
        run(["rev-parse", "--verify", "no-\x1b[31m-\u202ebranch"], str(lab.repo))
    assert str(caught.value) == f"git rev-parse failed in {lab.repo}: Needed a single revision"
    with pytest.raises(GitError) as caught:
        run(["cat-file", "-t", "no-\x1b\u202e"], str(lab.repo))
    assert str(caught.value).endswith("Not a valid object name no-??")


def test_a_missing_git_says_what_to_do(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git on PATH the sentence asks to install it."""
    monkeypatch.setenv("PATH", str(lab.base))
    with pytest.raises(GitError, match="no git on PATH outside the repository; install git"):
        run(["status"], str(lab.repo))


def test_a_missing_folder_is_not_called_a_missing_git(lab: Lab) -> None:
    """A missing folder is named."""
    with pytest.raises(GitError, match=f"{lab.base}/gone does not exist"):
        run(["status"], str(lab.base / "gone"))


def test_a_name_with_a_nul_is_refused(lab: Lab) -> None:
    """No process can be given a name with NUL, and the sentence says so."""
    with pytest.raises(GitError, match="NUL"):
        run(["rev-parse", "a\0b"], str(lab.repo))


def test_an_old_git_is_named_with_what_is_needed(lab: Lab, as_git: Path) -> None:
    """A git that rejects the arguments and is older than 2.36 is reported by its version."""
    script(as_git, 'case "$1" in --version) echo "git version 2.25.1";; *) exit 129;; esac')
    with pytest.raises(GitError, match=r"git 2\.25\.1 is too old: install git 2\.36 or newer"):
        run(["worktree", "list", "--porcelain", "-z"], str(lab.repo))


def test_a_usage_error_of_a_new_git_is_not_blamed_on_its_age(lab: Lab) -> None:
    """Only an old version is called too old."""
    with pytest.raises(GitError, match="git worktree failed"):
        run(["worktree", "list", "--no-such-option"], str(lab.repo))


def test_a_foreign_repository_says_how_to_trust_it(lab: Lab) -> None:
    """git's refusal of another user's repository comes with the command that allows it."""
    with pytest.raises(GitError) as caught:
        run(["worktree", "list"], str(lab.repo), env={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert f"git config --global --add safe.directory {lab.repo}" in str(caught.value)
    assert "belongs to another user" in str(caught.value)


def test_a_silent_git_is_ended_with_all_it_started(lab: Lab, as_git: Path) -> None:
    """After the deadline neither git nor its helpers run, even if git itself has already ended."""
    script(as_git, "sleep 600 & exit 0")
    with pytest.raises(GitTimeoutError, match="no answer within 1 s"):
        run(["status"], str(lab.repo), deadline_s=1)
    until(lambda: not lab.processes())


def test_a_flood_is_cut(lab: Lab, as_git: Path) -> None:
    """Output over the limit is an error, and the process is killed."""
    script(as_git, "exec yes")
    with pytest.raises(GitError, match="printed more than 1,000 bytes"):
        run(["status"], str(lab.repo), most=1_000)
    until(lambda: not lab.processes())


def test_a_flood_of_complaints_costs_no_memory_and_no_answer(lab: Lab, as_git: Path) -> None:
    """A long standard error is read and discarded."""
    script(as_git, "yes complaint | head -c 1000000 >&2; echo fine")
    assert run(["status"], str(lab.repo)) == b"fine\n"


def test_a_killed_git_is_told_with_the_signal(lab: Lab, as_git: Path) -> None:
    """A git that was killed by a signal is an error."""
    script(as_git, "kill -9 $$")
    with pytest.raises(GitError, match="was ended by signal 9"):
        run(["status"], str(lab.repo))


def test_the_callers_git_variables_do_not_lead_astray(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call from inside a hook is about the folder it names, and no trace file is written."""
    trace = lab.base / "trace"
    for name, value in {
        "GIT_DIR": "/nowhere",
        "GIT_WORK_TREE": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere/index",
        "GIT_OBJECT_DIRECTORY": "/nowhere/objects",
        "GIT_CONFIG_COUNT": "nonsense",
        "GIT_TRACE": str(trace),
    }.items():
        monkeypatch.setenv(name, value)
    assert run(["rev-parse", "--show-toplevel"], str(lab.repo)) == os.fsencode(lab.repo) + b"\n"
    assert not trace.exists()


def test_no_program_that_the_repository_names_is_started(lab: Lab) -> None:
    """Git itself would run core.fsmonitor of a cloned repository; our calls do not."""
    marker, monitor = lab.base / "started", lab.base / "monitor"
    script(monitor, f"touch {marker}")
    lab.commit(a_txt="a")
    lab.git("config", "core.fsmonitor", str(monitor))
    run(["status"], str(lab.repo))
    assert not marker.exists()
    lab.git("status")
    assert marker.exists()


def test_nothing_is_fetched(lab: Lab) -> None:
    """Every transport is disabled, even to a repository on the same disk."""
    with pytest.raises(GitError, match="transport 'file' not allowed"):
        run(["ls-remote", f"file://{lab.repo}"], str(lab.base))


def test_the_seat_is_where_a_person_would_stand(lab: Lab) -> None:
    """Git runs in the primary checkout, or in the git folder if that is elsewhere."""
    assert git_cwd("/a/repo/.git") == "/a/repo"
    assert git_cwd("/a/repo.git") == "/a/repo.git"
    assert git_cwd("/a/.git/modules/sub") == "/a/.git/modules/sub"
