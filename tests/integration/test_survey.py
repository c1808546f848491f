from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.errors import GitError, NotFoundError
from brief.git.command import GitTimeoutError, run_with_warnings
from brief.integration import survey
from brief.integration.observation import Observation
from brief.integration.survey import observe
from sandbox import Lab
from serving import unprivileged

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MAIN = "refs/heads/main"


def look(lab: Lab, base: str = MAIN) -> Observation:
    """Survey the lab's repository."""
    return observe(lab.common_dir, base, NOW)


def branch(lab: Lab, name: str, start: str = "main", commits: int = 1, at: int = 1_000) -> None:
    """A branch with commits of its own, each at the same second."""
    lab.git("checkout", "-q", "--detach", start)
    for number in range(commits):
        lab.commit(f"{name} {number}", at=at)
    lab.git("update-ref", f"refs/heads/{name}", "HEAD")
    lab.git("checkout", "-q", "main")


def test_a_branch_ahead_is_an_entry_with_its_facts(lab: Lab) -> None:
    """Ahead, behind, the time of the last commit and the worktree are those of git."""
    lab.commit()
    topic = lab.worktree("topic")
    lab.commit(cwd=topic, at=1_000)
    lab.commit(cwd=topic, at=2_000)
    base = lab.commit(a_txt="a")
    found = look(lab)
    assert (found.base, found.base_sha, found.observed_at, found.provider) == ("main", base, NOW, "git")
    (entry,) = found.entries
    assert (entry.name, entry.ahead, entry.behind) == ("topic", 2, 1)
    assert entry.committed_at == datetime.fromtimestamp(2_000, UTC)
    assert entry.worktree == str(topic)
    assert (entry.lane, entry.disposition, entry.conflicts_with, entry.number) == ("local", "behind", None, None)


def test_what_the_base_already_holds_is_no_entry(lab: Lab) -> None:
    """The base itself, merged branches and symbolic refs do not wait."""
    lab.commit()
    lab.git("branch", "same")
    lab.commit()
    lab.git("branch", "new")
    branch(lab, "topic")
    lab.git("symbolic-ref", "refs/heads/alias", "refs/heads/topic")
    assert [entry.name for entry in look(lab).entries] == ["topic"]


def test_the_queue_is_in_the_order_of_merging(lab: Lab) -> None:
    """Branches that contain the whole base come first, then those behind it; each oldest first."""
    lab.commit()
    branch(lab, "late-behind", at=400)
    branch(lab, "early-behind", at=100)
    lab.commit()
    branch(lab, "late-ready", at=300)
    branch(lab, "early-ready", at=200)
    found = look(lab)
    assert [entry.name for entry in found.entries] == ["early-ready", "late-ready", "early-behind", "late-behind"]
    assert [entry.disposition for entry in found.entries] == ["ready", "ready", "behind", "behind"]
    assert found.next == "early-ready"


def test_an_empty_queue_is_an_answer(lab: Lab) -> None:
    """If nothing waits, the observation still says when that was read."""
    lab.commit()
    found = look(lab)
    assert (found.entries, found.next, found.omitted, found.observed_at) == ((), None, 0, NOW)


@pytest.mark.parametrize("name", ["evil-\u202etopic", os.fsdecode(b"caf\xe9"), "-dash", "ěščř/x"])
def test_every_branch_name_can_be_written_down(lab: Lab, tmp_path: Path, name: str) -> None:
    """Names are verbatim; bytes that are not UTF-8 are escaped, so that the observation can be stored."""
    lab.commit()
    branch(lab, name)
    found = look(lab)
    assert [entry.name for entry in found.entries] == ["caf\\xe9" if "\udce9" in name else name]
    found.write(str(tmp_path / "observation.json"))


def test_a_branch_without_common_history_is_counted_in_full(lab: Lab) -> None:
    """An orphan is ahead by all its commits and behind by all of the base."""
    lab.commit()
    lab.commit()
    lab.git("checkout", "-q", "--orphan", "island")
    lab.commit("first of another history")
    assert [(e.name, e.ahead, e.behind) for e in look(lab).entries] == [("island", 1, 2)]


def test_a_worktree_that_is_gone_is_not_named(lab: Lab) -> None:
    """An entry names a folder only if there is one."""
    lab.commit()
    topic = lab.worktree("topic")
    lab.commit(cwd=topic)
    shutil.rmtree(topic)
    assert look(lab).entries[0].worktree is None


def test_a_remote_base_leaves_the_local_one_in_the_queue(lab: Lab) -> None:
    """Compared with origin/main, an unpushed main waits as well."""
    lab.commit()
    lab.git("update-ref", "refs/remotes/origin/main", "HEAD")
    lab.commit()
    found = look(lab, "refs/remotes/origin/main")
    assert (found.base, [entry.name for entry in found.entries]) == ("origin/main", ["main"])


def test_only_the_newest_branches_are_looked_at_and_the_rest_is_counted(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the limit the branches with the oldest commits are omitted and counted."""
    monkeypatch.setattr(survey, "MOST_ENTRIES", 2)
    lab.commit()
    for number in range(4):
        branch(lab, f"topic-{number}", at=1_000 + number)
    found = look(lab)
    assert ([entry.name for entry in found.entries], found.omitted) == (["topic-2", "topic-3"], 2)
    assert found.as_data().open == 4


def test_when_the_time_is_up_the_rest_is_counted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A branch that could not be read in time is omitted, not called absent."""
    lab.commit()
    for number in range(3):
        branch(lab, f"topic-{number}", at=1_000 + number)
    measured: list[str] = []

    def slow(args: list[str], *rest: Any, **options: Any) -> tuple[bytes, tuple[str, ...]]:
        if args[0] == "rev-list" and measured:
            raise GitTimeoutError("git rev-list gave no answer within 5 s")
        measured.extend(args[:1] if args[0] == "rev-list" else [])
        return run_with_warnings(args, *rest, **options)

    monkeypatch.setattr(survey, "run_with_warnings", slow)
    found = look(lab)
    assert ([entry.name for entry in found.entries], found.omitted) == (["topic-2"], 2)


def test_a_commit_of_an_impossible_time_has_none(lab: Lab) -> None:
    """A time that no calendar has is unknown, and sorts last of its kind."""
    lab.commit()
    branch(lab, "far", at=2**50)
    branch(lab, "near", at=1_000)
    assert [(e.name, e.committed_at is None) for e in look(lab).entries] == [("near", False), ("far", True)]


def test_a_base_without_a_commit_is_a_sentence(lab: Lab) -> None:
    """Before the first commit nothing can wait, and the base is named."""
    with pytest.raises(NotFoundError, match="the base 'main' has no commit"):
        look(lab)


def test_a_branch_whose_commit_is_missing_is_named_and_costs_no_other(lab: Lab) -> None:
    """Git silently skips a branch whose commit is missing; here it is named as unread, and not counted as ahead."""
    lab.commit()
    lab.git("branch", "same")
    branch(lab, "topic")
    (lab.repo / ".git/refs/heads/broken").write_text("1" * 40 + "\n")
    found = look(lab)
    assert ([entry.name for entry in found.entries], found.unread, found.omitted) == (["topic"], ("broken",), 0)


def test_a_damaged_repository_is_a_sentence(lab: Lab) -> None:
    """If the base's commit is missing, nothing counts as read."""
    lab.commit()
    (lab.repo / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    with pytest.raises(GitError, match="git for-each-ref failed in"):
        look(lab)


def test_a_branch_that_git_cannot_read_is_named(lab: Lab) -> None:
    """Git warns of a broken ref and succeeds without it: it is unread, by name, and nobody knows whether it is ahead."""
    lab.commit()
    branch(lab, "fine")
    for name in ("feat", "a/b"):
        lab.git("branch", name)
        (lab.repo / ".git/refs/heads" / name).write_text("0000\n")
    found = look(lab)
    assert [entry.name for entry in found.entries] == ["fine"]
    assert (found.unread, found.gaps, found.omitted) == (("a/b", "feat"), (), 0)


def test_a_folder_of_branches_that_cannot_be_opened_is_a_gap(lab: Lab) -> None:
    """Git silently skips the branches in a closed folder; here it is reported, also to a user without privileges."""
    lab.commit()
    lab.git("branch", "d/feat")
    folder = lab.repo / ".git/refs/heads/d"
    folder.chmod(0)
    code = "import sys; from brief.integration.survey import _closed_folders; print(*_closed_folders(sys.argv[1]))"
    try:
        asked = [*unprivileged(), sys.executable, "-c", code, lab.common_dir]
        printed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    finally:
        folder.chmod(0o755)
    assert printed == "the branches in refs/heads/d could not be read: Permission denied\n"
    assert look(lab).gaps == ()


def test_any_other_warning_of_git_is_a_gap(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning not known to be harmless may mean a missing branch; each is reported once."""
    lab.commit()

    def warned(*args: Any, **options: Any) -> tuple[bytes, tuple[str, ...]]:
        return run_with_warnings(*args, **options)[0], (
            "warning: odd \udcff",
            "warning: ignoring broken ref refs/remotes/o/x",
        )

    monkeypatch.setattr(survey, "run_with_warnings", warned)
    found = look(lab)
    assert (found.unread, found.gaps) == ((), ("git said: warning: odd \\xff",))
