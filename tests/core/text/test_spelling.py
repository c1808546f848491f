"""How values are told."""

from __future__ import annotations

from brief.core.text.spelling import describe_value, name_type, spell, spellings


def test_each_type_has_a_name_of_its_own() -> None:
    """A person reads text, whole number, number, true/false, null, list and mapping."""
    values: list[object] = ["a", 1, 1.5, True, None, [], {}]
    assert [name_type(value) for value in values] == [
        "text", "whole number", "number", "true/false", "null", "list", "mapping",
    ]  # fmt: skip


def test_a_value_is_spelled_bounded_and_clean() -> None:
    """Text is quoted and cut, and what would steer a terminal is gone."""
    assert spell("20") == '"20"'
    assert len(spell("x" * 10_000)) <= 61
    assert "\u202e" not in spell("a\u202eb")
    assert describe_value(None) == "null"
    assert describe_value({"a": 1, "b": 2}) == "{2 keys} (mapping)"


def test_the_spelling_of_the_file_is_kept() -> None:
    """Numbers, words and quotes stand as the person wrote them."""
    text = "a: 1e9\nb:\n  c: yes\n  d: '20'\n  e: \"x\"\n  f: .nan\n  g:\n  h: |\n    long\n  i: [1]\n"
    assert spellings(text) == {"a": "1e9", "b.c": "yes", "b.d": "'20'", "b.e": '"x"', "b.f": ".nan"}


def test_a_text_that_is_no_mapping_spells_nothing() -> None:
    """A list or an empty text has no keys to spell."""
    assert spellings("- 1") == {}
    assert spellings("") == {}
