from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.notices.relevance import DEPTH, LENGTH, Focus, Truth, evaluate_rule, find_fault

KODA = Focus(component="koda", repo="shop", branch="fix/login", paths=("src/a.py", "docs"), agent="claude-code")
KDB = Focus(component="kdb", repo="shop", branch="main", paths=(), agent="other")
NOTHING = Focus()


def test_t11_a_rule_is_for_its_component() -> None:
    """T11: focus koda is shown, kdb is not, and where there is no focus or the rule is broken nobody knows."""
    rule = 'component == "koda"'
    assert evaluate_rule(rule, KODA) is Truth.YES
    assert evaluate_rule(rule, KDB) is Truth.NO
    assert evaluate_rule(rule, NOTHING) is Truth.UNKNOWN
    assert evaluate_rule("component === (", KDB) is Truth.UNKNOWN
    assert find_fault(rule) is None
    assert find_fault("component === (") == 'the rule has an unexpected "=" at column 13'


@pytest.mark.parametrize("rule", [None, "", " \n"])
def test_no_rule_is_for_all(rule: str | None) -> None:
    """A notice without a rule concerns every session."""
    assert evaluate_rule(rule, NOTHING) is Truth.YES
    assert find_fault(rule) is None


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
    assert [evaluate_rule(rule, focus) for focus in (KODA, KDB, NOTHING)] == [koda, kdb, nothing]
    assert find_fault(rule) is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("component", "has text at column 1, where a test is expected"),
        ("!component", "has text at column 2, where a test is expected"),
        ("component ==", "has the end at column 13, where component, repo, branch, agent, paths or a text in quotes"),
        ("component == koda", "has koda at column 14, where component, repo"),
        ("component == 'koda", "has a quote that is never closed at column 14"),
        ("component == 'a' == 'b'", "has == at column 18, where && or || or the end is expected"),
        ("paths == 'a'", "has a list at column 1, where text is expected"),
        ("component in 'koda'", "has text at column 14, where a list is expected"),
        ("component in ['a' 'b']", "has 'b' at column 19, where , is expected"),
        ("component in ['a',]", "has ] at column 19, where"),
        ("component in [['a']]", "has a list at column 15, where text is expected"),
        ("component in ['a'", "has the end at column 18, where , is expected"),
        ("(component == 'a'", "has the end at column 18, where ) is expected"),
        ("component == 'a')", "has ) at column 17, where && or || or the end is expected"),
        ("component == 'a' and repo == 'b'", "has and at column 18, where"),
        ("component == 'a' & repo == 'b'", 'has an unexpected "&" at column 18'),
        ("component == 'a' && repo", "has text at column 21, where a test is expected"),
        ("'a' && component == 'a'", "has text at column 1, where a test is expected"),
        ("(component == 'a') matches 'b'", "has a test at column 1, where text is expected"),
        ("__import__('os').system('true')", 'has an unexpected "." at column 17'),
        ("component == 5", "has 5 at column 14, where"),
        ("(" * (DEPTH + 1), f"is nested more than {DEPTH} levels deep"),
        ("!" * 900 + "(repo == 'a')", f"is nested more than {DEPTH} levels deep"),
        ("(" * 999, f"is nested more than {DEPTH} levels deep"),
        ("component == '" + "x" * LENGTH + "'", "has 1,015 characters; at most 1,000 are allowed"),
    ],
)
def test_a_broken_rule_is_told_and_unknown(rule: str, words: str) -> None:
    """What cannot be understood hides a notice from nobody, and a sentence says where and what is wrong."""
    assert words in str(find_fault(rule))
    assert {evaluate_rule(rule, focus) for focus in (KODA, KDB, NOTHING)} == {Truth.UNKNOWN}


def test_a_long_chain_is_no_depth() -> None:
    """A rule may have as many alternatives as fit into its length."""
    assert evaluate_rule(" || ".join(["repo == 'x'"] * 60), KODA) is Truth.NO


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
    assert evaluate_rule(rule, KODA) in Truth
    if find_fault(rule):
        assert evaluate_rule(rule, KODA) is evaluate_rule(rule, NOTHING) is Truth.UNKNOWN


@given(st.lists(st.sampled_from(_PIECES), max_size=15).map(" ".join))
def test_to_know_more_never_turns_an_answer_round(rule: str) -> None:
    """What is yes or no with a focus of which nothing is known stays so with any focus."""
    answer = evaluate_rule(rule, NOTHING)
    if answer is not Truth.UNKNOWN:
        assert evaluate_rule(rule, KODA) is evaluate_rule(rule, KDB) is answer
