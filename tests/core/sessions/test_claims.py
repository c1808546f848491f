from __future__ import annotations

from datetime import UTC, datetime
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.model.errors import UsageError
from brief.core.sessions.claims import (
    Claim,
    check_claim_scope,
    check_name,
    find_overlaps,
    make_relative,
    overlapping_paths,
)
from brief.core.sessions.task import SCOPE_LIMIT, Task

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PIECES = st.sampled_from(["a", "b", "ab", "A", "*", "?", "a*", "*b", "a*b", "??", "*.py", "x.py", "**", "..", "."])
PATHS = st.lists(PIECES, min_size=1, max_size=4).map("/".join)
SCOPES = st.lists(PATHS, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src", "src"),
        ("src", "src/"),
        ("./src//a.py", "src/a.py"),
        ("src", "src/a.py"),
        (".", "anything/at/all"),
        ("src/*.py", "src/a.py"),
        ("src/*.py", "src"),
        ("src/*", "src/a/b.py"),
        ("src/*.py", "src/a*"),
        ("src/**/a.py", "src/x/y/a.py"),
        ("**/a.py", "src/b.py"),
        ("src/x/../a.py", "src/a.py"),
        ("src/?.py", "src/a.py"),
        ("a*b*c", "axxbxxc"),
        ("app/[slug]", "app/[slug]/page.tsx"),
        ("../other", "../other/a"),
        ("/abs/a", "/abs"),
        ("*", "é"),
    ],
)
def test_paths_that_meet(one: str, other: str) -> None:
    """Two paths meet where one is, holds or matches the other, however they are spelled."""
    assert overlapping_paths((one,), (other,)) == ((one, other),)
    assert overlapping_paths((other,), (one,)) == ((other, one),)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src", "srcs"),
        ("src/a", "src/ab"),
        ("src", "Src"),
        ("src/*.py", "src/a.js"),
        ("src/*.py", "lib/a.py"),
        ("src/*.py", "src/*.js"),
        ("src/?.py", "src/ab.py"),
        ("a*b*c", "axxc"),
        ("ab*bc", "abc"),
        ("app/[slug]", "app/s"),
        ("src/**", "lib/src"),
        ("/abs/a", "abs/a"),
        ("../a", "a"),
    ],
)
def test_paths_that_do_not_meet(one: str, other: str) -> None:
    """Paths that share letters but no component do not meet, and brackets are letters."""
    assert overlapping_paths((one,), (other,)) == ()
    assert overlapping_paths((other,), (one,)) == ()


@given(SCOPES, SCOPES)
def test_overlap_is_mutual(ours: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    """Whoever overlaps is overlapped: the same pairs from either side."""
    assert set(overlapping_paths(ours, theirs)) == {(one, other) for other, one in overlapping_paths(theirs, ours)}


@given(PATHS)
def test_path_meets_itself(path: str) -> None:
    """Every path meets itself."""
    assert overlapping_paths((path,), (path,)) == ((path, path),)


@given(st.text("ab*?", min_size=1, max_size=6), st.text("ab", min_size=1, max_size=6))
def test_component_matches_as_fnmatch(pattern: str, name: str) -> None:
    """A pattern meets a plain name exactly where it matches it."""
    assert bool(overlapping_paths((pattern,), (name,))) == (pattern == "**" or fnmatchcase(name, pattern))


@given(st.text("ab*", min_size=1, max_size=5), st.text("ab*", min_size=1, max_size=5), st.text("ab", max_size=6))
def test_what_both_match_makes_them_meet(one: str, other: str, name: str) -> None:
    """Two patterns that match one and the same name are told to meet."""
    if fnmatchcase(name, one) and fnmatchcase(name, other):
        assert overlapping_paths((one,), (other,))


@pytest.mark.parametrize("path", ["", " ", "\0", "a" * 500, "/etc/passwd", "../other", "a/../../b"])
def test_refused_scope(path: str) -> None:
    """A scope that is no path, or leads out of the checkout, is refused with a sentence."""
    with pytest.raises(UsageError, match="scope"):
        check_claim_scope((path,))


def test_claim_needs_a_scope_within_bounds() -> None:
    """A claim is about one path at least and a bounded number at most."""
    with pytest.raises(UsageError, match="--scope"):
        check_claim_scope(())
    with pytest.raises(UsageError, match=str(SCOPE_LIMIT)):
        check_claim_scope(tuple(f"a{number}" for number in range(SCOPE_LIMIT + 1)))


def test_claimed_scope_is_normalised() -> None:
    """Spellings of one path become one path, and the whole checkout is a point."""
    assert check_claim_scope(("./src/", "src", "a//b/../c", "./")) == ("src", "a/c", ".")


@pytest.mark.parametrize("name", ["", "-x", "a b", "x" * 41, "a\x1b[1m", "ü"])
def test_refused_name(name: str) -> None:
    """A name of a claim is a short plain word."""
    with pytest.raises(UsageError, match="cannot name a claim"):
        check_name(name)


@pytest.mark.parametrize(
    ("path", "told"),
    [("/r/src", "src"), ("/r", "."), ("/r/", "."), ("/rx/a", "/rx/a"), ("src", "src")],
)
def test_below(path: str, told: str) -> None:
    """A path inside the checkout is told relative to it; any other stays as it is."""
    assert make_relative(path, "/r") == told


def test_an_overlap_is_told_once() -> None:
    """A path named twice makes one pair, and a task that adds nothing to its episode's claims is left out."""
    assert overlapping_paths(("src", "src"), ("src/a", "src/a")) == (("src", "src/a"),)
    claims = [Claim(episode="bob", name="work", intent="tidy", scope=("src",), since=NOW)]
    task = Task(episode="bob", title="tidy all", scope=("src",), next_action=None, next_since=None, since=NOW)
    assert [met.kind for met in find_overlaps(("src",), "ann", claims, {"bob": task})] == ["claim"]
    wider = task.replace(scope=("src", "docs"))
    assert [met.kind for met in find_overlaps(("src", "docs"), "ann", claims, {"bob": wider})] == ["claim", "task"]


def test_against_others_alone() -> None:
    """What an episode claims is compared to the claims and tasks of every other one, and to none of its own."""
    claims = [
        Claim(episode="me", name="work", intent="mine", scope=("src",), since=NOW),
        Claim(episode="ann", name="login", intent="login", scope=("src/login.py", "doc"), since=NOW),
        Claim(episode="bob", name="work", intent="docs", scope=("doc",), since=NOW),
    ]
    tasks = {
        "me": Task(episode="me", title="mine", scope=("src",), since=NOW),
        "eve": Task(episode="eve", title="tidy", scope=("src/*.py",), since=NOW),
        "sam": Task(episode="sam", title="no scope", since=NOW),
    }
    met = find_overlaps(("src",), "me", claims, tasks)
    assert [(one.episode, one.kind, one.name, one.about, one.paths) for one in met] == [
        ("ann", "claim", "login", "login", (("src", "src/login.py"),)),
        ("eve", "task", None, "tidy", (("src", "src/*.py"),)),
    ]
