from __future__ import annotations

import pytest

from brief.clones.kinship import RootCommits, are_clones
from neighbourhood import git_hangs
from sandbox import Lab


@pytest.mark.parametrize(
    ("ours", "theirs", "clones"),
    [
        ({"a"}, {"a"}, True),
        ({"a"}, {"a", "b"}, True),
        ({"a", "b"}, {"a"}, True),
        ({"a"}, {"b"}, False),
        ({"a", "lib"}, {"b", "lib"}, False),
        (set(), {"a"}, False),
        (set(), set(), False),
    ],
)
def test_clones_share_where_they_begin(ours: set[str], theirs: set[str], clones: bool) -> None:
    """Clones have the same roots, or one has merged more in; two projects that merged the same library are not clones."""
    assert are_clones(ours, theirs) is clones


def test_roots_are_learned_once_there_are_any(lab: Lab) -> None:
    """Before the first commit the roots are not settled, after it they are."""
    roots = RootCommits(lab.common_dir)
    told = [(roots.known, roots.settled)]
    roots.learn()
    told.append((roots.known, roots.settled))
    first = lab.commit()
    roots.learn()
    assert [*told, (roots.known, roots.settled)] == [(None, False), (frozenset(), False), (frozenset({first}), True)]


def test_a_git_that_fails_is_asked_again(lab: Lab) -> None:
    """If git fails, its words are the reason and the roots are unknown."""
    roots = RootCommits(str(lab.home))
    roots.learn()
    assert roots.known is None
    assert not roots.settled
    assert "not a git repository" in roots.reason


def test_a_history_too_long_is_asked_for_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk over the history that times out is not started again and again."""
    lab.commit()
    git_hangs(lab, monkeypatch)
    roots = RootCommits(lab.common_dir)
    roots.learn(deadline_s=0.05)
    assert roots.known is None
    assert roots.settled
    assert "no answer within" in roots.reason
