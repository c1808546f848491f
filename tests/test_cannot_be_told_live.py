"""What a policy or a git folder leaves open is told by real commands, with what to do, and never called read or empty."""

from __future__ import annotations

import json
from typing import Any

from sandbox import Lab
from serving import serve, write_policy


def _integration(lab: Lab) -> dict[str, Any]:
    brief = json.loads(lab.majordomus("brief", "--format", "json").stdout)
    found: dict[str, Any] = next(one for one in brief["sections"] if one["name"] == "integration")
    return found


def test_a_base_that_does_not_exist(lab: Lab) -> None:
    """The queue is partial with key, value, file and what to do, also where it was read against another base before."""
    lab.commit()
    serve(lab)
    write_policy(lab, "version: 1\nintegration:\n  base: nowhere\n")
    names = "integration.base names 'nowhere', but this repository has no such branch"
    found = _integration(lab)
    assert (found["status"], names in found["reason"], ".ai/repo/policy.yaml" in found["reason"]) == (
        "unread",
        True,
        True,
    )
    write_policy(lab, "version: 1\n")
    assert lab.majordomus("queue", "refresh").returncode == 0
    assert _integration(lab)["status"] == "read"
    write_policy(lab, "version: 1\nintegration:\n  base: nowhere\n")
    found = _integration(lab)
    assert (found["status"], names in found["reason"]) == ("partial", True)


def test_another_base_than_the_one_that_was_measured_against(lab: Lab) -> None:
    """Until the queue is refreshed the numbers are those of another base, and say so."""
    lab.commit()
    lab.git("branch", "next")
    serve(lab)
    assert lab.majordomus("queue", "refresh").returncode == 0
    write_policy(lab, "version: 1\nintegration:\n  base: next\n")
    found = _integration(lab)
    assert found["status"] == "partial"
    assert "compared with main, but integration.base names next; run majordomus queue refresh" in found["reason"]
    assert lab.majordomus("queue", "refresh").returncode == 0
    assert _integration(lab)["status"] == "read"


def test_doctor_names_the_entries_that_git_skips(lab: Lab) -> None:
    """A work tree whose entry is damaged still counts."""
    lab.commit()
    lab.worktree("topic")
    (lab.repo / ".git/worktrees/topic/gitdir").write_text("")
    told = lab.majordomus("doctor").stdout
    assert "topic below worktrees/ of the git folder cannot be read, so git skips" in told
