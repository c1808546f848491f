from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.notices.slug import MOST, digest, make_slug


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Lock: release train", "lock-release-train"),
        ("Příliš žluťoučký kůň", "prilis-zlutoucky-kun"),
        ("Straße nach Łódź", "strasse-nach-lodz"),
        ("../../etc/passwd\0", "etc-passwd"),
        ("--- .hidden", "hidden"),
        ("ﬁne ①", "fine-1"),
        ("日本語", ""),
        ("", ""),
    ],
)
def test_words_become_ascii(text: str, made: str) -> None:
    """Accents go, what is no letter or digit becomes one dash, and what has no ASCII leaves nothing."""
    assert make_slug(text) == made


def test_a_long_title_is_cut_between_words() -> None:
    """Whole words stay where they fit; one word that is too long by itself is cut."""
    assert make_slug("word " * 40) == "-".join(["word"] * 12)
    assert make_slug("x" * 500) == "x" * MOST
    assert make_slug("short words here", most=11) == "short-words"


@given(st.text())
def test_a_slug_is_always_a_safe_name(text: str) -> None:
    """No text leads out of a folder, hides a file or passes the bound."""
    assert re.fullmatch(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*)?", make_slug(text))
    assert len(make_slug(text)) <= MOST


def test_a_digest_tells_its_parts_apart() -> None:
    """Where one part ends matters, and a lone surrogate is a text like any other."""
    assert digest("a", "bc") != digest("ab", "c")
    assert len(digest("\ud800", characters=32)) == 32
