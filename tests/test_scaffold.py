"""The first step in a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from brief.core.model.errors import PolicyError
from brief.core.policy.names import POLICY_FILE
from brief.core.policy.settings import Settings, keys
from brief.policy import PolicyStatus, read_policy
from brief.scaffold import session_lines, write_skeleton


def test_the_skeleton_is_written_and_changes_nothing(tmp_path: Path) -> None:
    """The written policy has no fault, sets every key, and equals the defaults."""
    outcome = write_skeleton(str(tmp_path))
    assert outcome.written
    assert outcome.path == str(tmp_path / POLICY_FILE)
    policy = read_policy(str(tmp_path), f"{tmp_path}/.git")
    assert (policy.status, policy.settings, policy.declared) == (PolicyStatus.READ, Settings(), frozenset(keys()))


@pytest.mark.parametrize("there", ["mine: 1\n", ""])
def test_a_policy_that_is_there_is_left(tmp_path: Path, there: str) -> None:
    """An existing file is never overwritten, even if it is empty."""
    path = tmp_path / POLICY_FILE
    path.parent.mkdir(parents=True)
    path.write_text(there)
    outcome = write_skeleton(str(tmp_path))
    assert not outcome.written
    assert "left as it is" in outcome.sentence
    assert path.read_text() == there


@pytest.mark.parametrize("link", [".ai", ".ai/repo"])
def test_a_link_in_the_way_is_not_followed(tmp_path: Path, link: str) -> None:
    """Nothing is written through a folder that is a link, and the sentence names it."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside)
    with pytest.raises(PolicyError, match="a link is in the way"):
        write_skeleton(str(root))
    assert list(outside.iterdir()) == []


def test_a_policy_that_is_a_link_to_nothing_is_left(tmp_path: Path) -> None:
    """A broken link in place of the policy is not written through."""
    path = tmp_path / "root" / POLICY_FILE
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "elsewhere.yaml")
    assert not write_skeleton(str(tmp_path / "root")).written
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    """If a folder cannot be created, the error says so, and nothing is changed."""
    (tmp_path / ".ai").write_text("mine")
    with pytest.raises(PolicyError, match="cannot be written"):
        write_skeleton(str(tmp_path))
    assert (tmp_path / ".ai").read_text() == "mine"


def test_the_lines_say_what_to_read_and_how() -> None:
    """The lines name both commands, the interval, and that unread is not empty."""
    lines = session_lines(7)
    assert "`majordomus brief`" in lines
    assert "`majordomus alerts list`" in lines
    assert "7 minutes" in lines
    assert "not the same as empty" in lines
    assert "whenever a minute has passed" in session_lines(1)
