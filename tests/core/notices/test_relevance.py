from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.notices.relevance import DEPTH, LENGTH, Focus, Truth, applies, fault

KODA = Focus(component="koda", repo="shop", branch="fix/login", paths=("src/a.py", "docs"), agent="claude-code")
KDB = Focus(component="kdb", repo="shop", branch="main", paths=(), agent="other")
NOTHING = Focus()


def test_t11_a_rule_is_for_its_component() -> None:
    """T11: focus koda is shown, kdb is not, and where there is no focus or the rule is broken nobody knows."""
    rule = 'component == "koda"'
    assert applies(rule, KODA) is Truth.YES
    assert applies(rule, KDB) is Truth.NO
    assert applies(rule, NOTHING) is Truth.UNKNOWN
    assert applies("component === (", KDB) is Truth.UNKNOWN
    assert fault(rule) is None
    assert fault("component === (") == (
        'applies_when: the rule has at column 13 "=", which means nothing here; '
        "until it is mended the notice is shown to all"
    )


@pytest.mark.parametrize("rule", [None, "", " \n"])
def test_no_rule_is_for_all(rule: str | None) -> None:
    """A notice without a rule concerns every session."""
    assert applies(rule, NOTHING) is Truth.YES
    assert fault(rule) is None


@pytest.mark.parametrize(
    ("rule", "koda", "kdb", "nothing"),
    [
        ("component != 'koda'", "no", "yes", "unknown"),
        ("!(component == 'koda')", "no", "yes", "unknown"),
        ("!component == 'koda'", "no", "yes", "unknown"),
        ("!!(component == 'koda')", "yes", "no", "unknown"),
        ("component in ['koda', \"api\"]", "yes", "no", "unknown"),
        ("component in []", "no", "no", "no"),
        ("component in [repo, 'koda']", "yes", "no", "unknown"),
        ("'koda' in [component, 'koda']", "yes", "yes", "yes"),
        ("'docs' in paths", "yes", "no", "unknown"),
        ("paths matches 'src/**'", "yes", "no", "unknown"),
        ("paths matches ['lib/**', 'docs']", "yes", "no", "unknown"),
        ("branch matches 'fix/*'", "yes", "no", "unknown"),
        ("!(branch matches 'fix/*')", "no", "yes", "unknown"),
        ("branch matches ['fix/*', 'main']", "yes", "yes", "unknown"),
        ("agent == 'claude-code' && repo == 'shop'", "yes", "no", "unknown"),
        ("component == 'koda' || repo == 'shop'", "yes", "yes", "unknown"),
        ("component == 'koda' || 'a' == 'a'", "yes", "yes", "yes"),
        ("component == 'koda' && 'a' == 'b'", "no", "no", "no"),
        ("'a' == 'b' && component == 'x' || component == 'koda'", "yes", "no", "unknown"),
        ("component == 'koda' && (repo == 'x' || branch == 'fix/login')", "yes", "no", "unknown"),
        ("(component) == ('koda')", "yes", "no", "unknown"),
        (r"component == 'it\'s' || component == 'a\\b' || component == 'koda'", "yes", "no", "unknown"),
        ("component=='koda'&&repo=='shop'", "yes", "no", "unknown"),
        ("component == 'Koda'", "yes", "no", "unknown"),
        ("component != ' KODA '", "no", "yes", "unknown"),
        ("component in ['KODA']", "yes", "no", "unknown"),
        ("'KDB' in [component]", "no", "yes", "unknown"),
        ("component matches 'K*A'", "yes", "no", "unknown"),
        ("repo == 'Shop'", "no", "no", "unknown"),
        ("branch matches 'FIX/*'", "no", "no", "unknown"),
    ],
)
def test_a_rule_has_three_answers(rule: str, koda: str, kdb: str, nothing: str) -> None:
    """Each operator answers yes, no, or unknown where the focus is; what is unknown stays so under `!`."""
    assert [applies(rule, focus) for focus in (KODA, KDB, NOTHING)] == [koda, kdb, nothing]
    assert fault(rule) is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("component", "has at column 1 text where a test must stand"),
        ("!component", "has at column 2 text where a test must stand"),
        ("component ==", "has at column 13 the end where component, repo, branch, agent, paths or a text in quotes"),
        ("component == koda", "has at column 14 koda where component, repo"),
        ("component == 'koda", "has at column 14 a quote that is never closed"),
        ("component == 'a' == 'b'", "has at column 18 == where && or || or the end must stand"),
        ("paths == 'a'", "has at column 1 a list where text must stand"),
        ("component in 'koda'", "has at column 14 text where a list must stand"),
        ("component in ['a' 'b']", "has at column 19 'b' where , must stand"),
        ("component in ['a',]", "has at column 19 ] where"),
        ("component in [['a']]", "has at column 15 a list where text must stand"),
        ("component in ['a'", "has at column 18 the end where , must stand"),
        ("(component == 'a'", "has at column 18 the end where ) must stand"),
        ("component == 'a')", "has at column 17 ) where && or || or the end must stand"),
        ("component == 'a' and repo == 'b'", "has at column 18 and where"),
        ("component == 'a' & repo == 'b'", 'has at column 18 "&", which means nothing here'),
        ("component == 'a' && repo", "has at column 21 text where a test must stand"),
        ("'a' && component == 'a'", "has at column 1 text where a test must stand"),
        ("(component == 'a') matches 'b'", "has at column 1 a test where text must stand"),
        ("__import__('os').system('true')", 'has at column 17 ".", which means nothing here'),
        ("component == 5", "has at column 14 5 where"),
        ("(" * (DEPTH + 1), f"is nested more than {DEPTH} levels deep"),
        ("!" * 900 + "(repo == 'a')", f"is nested more than {DEPTH} levels deep"),
        ("(" * 999, f"is nested more than {DEPTH} levels deep"),
        ("component == '" + "x" * LENGTH + "'", "has 1,015 characters and at most 1,000 are read"),
    ],
)
def test_a_broken_rule_is_told_and_unknown(rule: str, words: str) -> None:
    """What cannot be understood hides a notice from nobody, and a sentence says where and what is wrong."""
    assert words in str(fault(rule))
    assert {applies(rule, focus) for focus in (KODA, KDB, NOTHING)} == {Truth.UNKNOWN}


def test_a_long_chain_is_no_depth() -> None:
    """A rule may have as many alternatives as fit into its length."""
    assert applies(" || ".join(["repo == 'x'"] * 60), KODA) is Truth.NO


_PIECES = [
    "component",
    "paths",
    "'koda'",
    "==",
    "!=",
    "in",
    "matches",
    "&&",
    "||",
    "!",
    "(",
    ")",
    "[",
    "]",
    ",",
    " ",
    '"',
]


@given(st.text(max_size=60) | st.lists(st.sampled_from(_PIECES), max_size=25).map(" ".join))
def test_any_text_is_a_rule_or_a_fault(rule: str) -> None:
    """Any text at all is judged, and where nothing is known it is never judged to hide a notice it was not made to."""
    assert applies(rule, KODA) in Truth
    if fault(rule):
        assert applies(rule, KODA) is applies(rule, NOTHING) is Truth.UNKNOWN


@given(st.lists(st.sampled_from(_PIECES), max_size=15).map(" ".join))
def test_to_know_more_never_turns_an_answer_round(rule: str) -> None:
    """What is yes or no with a focus of which nothing is known stays so with any focus."""
    answer = applies(rule, NOTHING)
    if answer is not Truth.UNKNOWN:
        assert applies(rule, KODA) is applies(rule, KDB) is answer
