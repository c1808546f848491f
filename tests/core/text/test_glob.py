from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.text.glob import matches


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("src/*.py", "src/a.py"),
        ("src/*", "src/a.py"),
        ("s?c/*", "src/a"),
        ("*", "main"),
        ("fix/*", "fix/login"),
        ("fix/**", "fix/login/deep"),
        ("src/**", "src"),
        ("src/**", "src/"),
        ("src/**/test_*.py", "src/test_a.py"),
        ("src/**/test_*.py", "src/a/b/test_a.py"),
        ("**/a.py", "a.py"),
        ("**/a.py", "x/y/a.py"),
        ("**", ""),
        ("**/**/b", "a/b"),
        ("./src/*", "src/a"),
        ("src/a", "./src//a/"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("*a*b", "aXaXb"),
        ("a**c", "abc"),
        ("žluť/*", "žluť/kůň"),
    ],
)
def test_a_pattern_fits(pattern: str, path: str) -> None:
    """`*` and `?` stay within one part, `**` crosses parts, all else stands for itself."""
    assert matches(path, pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/*", "src/a/b"),
        ("src/*", "src"),
        ("src", "src/a"),
        ("*.py", "src/a.py"),
        ("src/**", "srcs/a"),
        ("**/a.py", "x/ba.py"),
        ("s?c", "sc"),
        ("SRC/*", "src/a"),
        ("app/[id]", "app/i"),
        ("", "a"),
        ("a", ""),
        ("*a*b", "aXbX"),
    ],
)
def test_a_pattern_does_not_fit(pattern: str, path: str) -> None:
    """A pattern has to fit the whole path, with its capitals, and does not leave its part."""
    assert not matches(path, pattern)


def test_no_pattern_blows_up() -> None:
    """Patterns that make a backtracking matcher take forever are answered."""
    assert not matches("a" * 2_000, "*a" * 200 + "b")
    assert not matches("a/" * 200 + "c", "**/a/" * 100 + "b")


@given(st.text("ab/*", max_size=12), st.text("ab/", max_size=12))
def test_a_path_fits_itself_and_everything(pattern: str, path: str) -> None:
    """Every path fits itself and `**`, and any pattern has an answer."""
    assert matches(path, path)
    assert matches(path, "**")
    assert matches(path, pattern) in (True, False)
