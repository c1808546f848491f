"""Sifting a policy: one sentence a fault, and no fault resets another key."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brief.core.model.wire import from_plain
from brief.core.policy.names import SWITCH
from brief.core.policy.settings import Settings, keys, sections
from brief.core.policy.validate import MOST_UNKNOWN, Validated, validate

INTERVAL = "session.brief_interval_minutes"
MINUTES = "write a whole number of minutes from 1 to 1440; the default 20 applies"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0 (whole number)"),
        (-1, "-1 (whole number)"),
        (1.5, "1.5 (number)"),
        ("20", '"20" (text)'),
        (1441, "1441 (whole number)"),
        (1e9, "1000000000.0 (number)"),
        (True, "true (true/false)"),
        (float("nan"), "NaN (number)"),
        (None, "null"),
        ([], "[] (list)"),
        ([1, 2], "[2 entries] (list)"),
        ({"a": 1}, "{1 key} (mapping)"),
    ],
)
def test_a_wrong_value_is_told_with_its_type_and_what_to_write(value: object, told: str) -> None:
    """The sentence has file, key, value, type, what to write and what holds."""
    validated = validate({"session": {"brief_interval_minutes": value, "wake_limit": 3}})
    (fault,) = validated.faults
    assert fault.sentence == f".ai/repo/policy.yaml: {INTERVAL} is {told}; {MINUTES}"
    assert (fault.key, fault.file) == (INTERVAL, ".ai/repo/policy.yaml")
    assert _settings(validated).session.brief_interval_minutes == 20
    assert _settings(validated).session.wake_limit == 3


def test_a_value_is_told_as_the_file_spells_it() -> None:
    """Where the spelling is known the sentence shows it, not what Python made of it."""
    (fault,) = validate({"session": {"brief_interval_minutes": 1e9}}, spelled={INTERVAL: "1e9"}).faults
    assert fault.value == "1e9"
    assert f"{INTERVAL} is 1e9 (number)" in fault.sentence


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (
            {"session": {"breif_on_interval": True}},
            "session.breif_on_interval is not a key of the policy; did you mean session.brief_on_interval",
        ),
        ({"sesion": {}}, "sesion is not a key of the policy; did you mean session"),
        ({"brief_on_interval": True}, "did you mean session.brief_on_interval"),
        ({"session": {"freshness": {"fresh_minuets": 1}}}, "did you mean session.freshness.fresh_minutes"),
        ({"session.brief_on_interval": True}, "since keys have no dots; write brief_on_interval under session"),
        ({"qqqq": 1}, "qqqq is not a key of the policy, and no key is like it"),
    ],
)
def test_an_unknown_key_is_refused_by_name_with_the_nearest(document: dict[str, Any], says: str) -> None:
    """A misspelt key, at any depth, is named beside the one that was probably meant, and sets nothing."""
    validated = validate(document)
    (fault,) = validated.faults
    assert says in fault.sentence
    assert _settings(validated) == Settings()


def test_very_many_unknown_keys_are_counted() -> None:
    """A policy of foreign keys costs a bounded number of sentences."""
    validated = validate({f"key{number}": 1 for number in range(5_000)})
    assert len(validated.faults) == MOST_UNKNOWN + 1
    assert (
        f"{5_000 - MOST_UNKNOWN} more are not keys of the policy, from key{MOST_UNKNOWN} on"
        in validated.faults[-1].sentence
    )


def test_a_key_from_elsewhere_is_cleaned() -> None:
    """Neither a key nor a value can bring an escape character into a sentence."""
    validated = validate({"a\x1b[2Jb": 1, "timezone": "\x1b]0;x\x07" + "y" * 500})
    for fault in validated.faults:
        assert "\x1b" not in fault.sentence
        assert len(fault.sentence) < 400


def test_a_section_that_is_no_mapping_resets_only_its_keys() -> None:
    """A value in the place of a section costs that section alone."""
    validated = validate({"session": 5, "server": {"idle_minutes": 3}})
    (fault,) = validated.faults
    assert "session is 5 (whole number); write keys such as brief_interval_minutes under it" in fault.sentence
    assert _settings(validated).server.idle_minutes == 3


def test_freshness_in_the_wrong_order_is_told_with_both_values() -> None:
    """The rule over two keys is one fault that shows both and what holds instead."""
    validated = validate({"session": {"freshness": {"fresh_minutes": 300}, "wake_limit": 1}})
    (fault,) = validated.faults
    assert "session.freshness.fresh_minutes is 300 and session.freshness.stale_minutes is 240" in fault.sentence
    assert "no greater than stale_minutes; 30 and 240 apply" in fault.sentence
    assert fault.key == "session.freshness.fresh_minutes"
    assert _settings(validated).session.wake_limit == 1


def test_one_wrong_folder_is_named_by_its_place() -> None:
    """In a list the sentence tells which entry is wrong."""
    (fault,) = validate({"alerts": {"folders": ["a", 5, 6]}}).faults
    assert "alerts.folders[1] is 5 (whole number)" in fault.sentence
    assert fault.key == "alerts.folders"


def test_the_last_good_value_of_a_faulty_key_holds() -> None:
    """While running, a key that becomes faulty keeps its last good value, and the sentence says so."""
    validated = validate({"session": {"brief_interval_minutes": "8"}}, last={INTERVAL: 7})
    assert "the last good value 7 applies" in validated.faults[0].sentence
    assert _settings(validated).session.brief_interval_minutes == 7


def test_a_list_that_holds_is_spelled_as_one() -> None:
    """Where the last good value is a list, the fault shows its entries as a policy has them."""
    (fault,) = validate({"alerts": {"folders": "x"}}, last={"alerts.folders": ["meta/notices", "b"]}).faults
    assert fault.sentence.endswith("the last good value [meta/notices, b] applies")


def test_the_last_good_values_of_a_broken_section_hold() -> None:
    """A section that stops being a mapping keeps the last good values of its keys, the switch excepted."""
    validated = validate({"session": []}, last={INTERVAL: 7, SWITCH: True})
    assert "the last good values of its keys apply" in validated.faults[0].sentence
    assert _settings(validated).session.brief_interval_minutes == 7
    assert not _settings(validated).session.brief_on_interval
    assert validated.declared == frozenset()


def test_an_old_consent_is_none() -> None:
    """The switch that wakes sessions is off as soon as the file no longer spells a plain true."""
    validated = validate({"session": {"brief_on_interval": "off"}}, last={SWITCH: True})
    assert "the default false applies" in validated.faults[0].sentence
    assert not _settings(validated).session.brief_on_interval


def test_a_last_good_value_that_no_longer_fits_gives_way() -> None:
    """A kept value that breaks a rule with a new one takes the whole last good pair back."""
    fresh, stale = "session.freshness.fresh_minutes", "session.freshness.stale_minutes"
    validated = validate(
        {"session": {"freshness": {"fresh_minutes": "x", "stale_minutes": 100}}}, last={fresh: 200, stale: 300}
    )
    freshness = _settings(validated).session.freshness
    assert freshness.fresh_minutes <= freshness.stale_minutes
    assert len(validated.faults) == 2


def test_a_key_that_the_machine_refused_is_a_fault() -> None:
    """What only the machine can judge is told like any other fault."""
    validated = validate({"timezone": "Europe/Prag"}, refused=("timezone",))
    assert 'timezone is "Europe/Prag" (text); write the IANA name of a zone' in validated.faults[0].sentence
    assert _settings(validated).timezone is None


def test_declared_names_what_the_file_sets() -> None:
    """The keys declared are those written in the file, faulty or not, unknown ones excepted."""
    validated = validate({"version": 1, "session": {"brief_interval_minutes": "x", "novel": 1}})
    assert validated.declared == {"version", INTERVAL}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
_NAMES = st.sampled_from(sorted({part for key in [*keys(), *sections()] for part in key.split(".")})) | st.text(
    max_size=5
)
_DOCUMENTS = st.dictionaries(_NAMES, st.dictionaries(_NAMES, _VALUES, max_size=4) | _VALUES, max_size=5)


@settings(max_examples=60)
@given(_DOCUMENTS, _DOCUMENTS)
def test_whatever_is_read_something_good_holds(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Any document, on top of any earlier one, leaves settings that hold, and no fault where nothing is wrong."""
    last = validate(before)
    validated = validate(now, last=last.values)
    _settings(validated)
    again = validate(validated.document)
    assert again.faults == ()
    assert again.values == validated.values


def _settings(validated: Validated) -> Settings:
    return from_plain(Settings, validated.document)
