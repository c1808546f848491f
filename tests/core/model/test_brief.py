"""The wire format: a section that was not read cannot look read, and what is written can be checked by any reader."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as SchemaFault
from msgspec import ValidationError

from brief.core.model.brief import SECTIONS, Brief, DishonestSectionError, Row, Status
from brief.core.model.level import Level
from brief.core.model.wire import Moment, from_plain, to_json
from brief.core.model.wire_time import wire_time
from brief.support.package_data import schema_file
from samples import DATA, NOW, brief, section

ASKED = [Status.READ, Status.PARTIAL]
NOT_ASKED = [Status.UNREAD, Status.UNDECLARED]
EVERY = [(name, status) for name in SECTIONS for status in Status]

LIES: list[tuple[Status, dict[str, Any], str]] = [
    *((status, {"data": DATA["state"]}, "cannot carry data") for status in NOT_ASKED),
    *((status, {"as_of": NOW}, "was never read") for status in NOT_ASKED),
    *((status, {"as_of": None}, "must have as_of") for status in ASKED),
    *((status, {"reason": None}, "must say why") for status in Status if status is not Status.READ),
    *((status, {"reason": ""}, "must say why") for status in Status if status is not Status.READ),
]


def validator() -> Draft202012Validator:
    """The published schema, ready to check."""
    schema = json.loads(schema_file("brief-v1.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def written(some: Brief) -> dict[str, Any]:
    """A brief as its reader gets it."""
    read: dict[str, Any] = json.loads(to_json(some))
    return read


@pytest.mark.parametrize(("status", "fields", "told"), LIES)
def test_a_section_cannot_lie(status: Status, fields: dict[str, Any], told: str) -> None:
    """Data or an age without a reading, a reading without its age, and a gap without a reason are refused by name."""
    with pytest.raises(DishonestSectionError, match=f"section state is {status} and .*{told}"):
        section("state", status, **fields)


@pytest.mark.parametrize(("status", "fields", "told"), LIES)
def test_the_published_schema_refuses_the_same_lies(status: Status, fields: dict[str, Any], told: str) -> None:
    """What the model refuses to build, a reader who has only the schema refuses as well."""
    document = written(brief(section("state", status)))
    spelled = {name: NOW.isoformat() if value is NOW else value for name, value in fields.items()}
    document["sections"][0].update(
        spelled | ({"data": {"episode": None, "open": 0, "task": None}} if "data" in fields else {})
    )
    with pytest.raises(SchemaFault):
        validator().validate(document)


@pytest.mark.parametrize(("name", "status"), EVERY)
def test_every_section_in_every_status_fits_the_schema(name: str, status: Status) -> None:
    """Each of the six sections can take each of the four statuses, and the published schema knows it."""
    validator().validate(written(brief(section(name, status))))


@pytest.mark.parametrize(
    ("status", "fully"), [("read", True), ("undeclared", True), ("partial", False), ("unread", False)]
)
def test_strict_is_satisfied_by_what_was_read_or_is_not_set_up(status: str, fully: bool) -> None:
    """A section that is not set up leaves no gap, one that was read in part does; one gap is enough for the brief."""
    made = section("mesh", Status(status))
    assert (made.fully_read, brief(made).fully_read) == (fully, fully)


def test_a_brief_comes_back_as_it_went() -> None:
    """A brief read from its own JSON is the same brief, under the name `schema` and with six sections in order."""
    sent = brief(section("peers", Status.UNREAD), notes=("a note",))
    document = written(sent)
    assert from_plain(Brief, document) == sent
    assert document["schema"] == "majordomus.brief/v1"
    assert [each["name"] for each in document["sections"]] == list(SECTIONS)


def test_a_newer_brief_is_understood() -> None:
    """Fields that a newer version added, anywhere, are passed over by the model and by the schema."""
    document = written(brief())
    document["more"] = document["sections"][0]["more"] = {"x": 1}
    validator().validate(document)
    assert from_plain(Brief, document) == brief()


@pytest.mark.parametrize("count", [5, 7])
def test_there_are_always_six_sections(count: int) -> None:
    """A brief with one section too few or too many is none, for the model and for the schema."""
    document = written(brief())
    document["sections"] = (document["sections"] * 2)[:count]
    with pytest.raises(SchemaFault):
        validator().validate(document)
    with pytest.raises(ValidationError):
        from_plain(Brief, document)


def test_a_section_in_anothers_place_is_refused() -> None:
    """The order of the sections is part of the format."""
    document = written(brief())
    document["sections"].reverse()
    with pytest.raises(SchemaFault):
        validator().validate(document)
    with pytest.raises(ValidationError):
        from_plain(Brief, document)


def test_what_travels_is_frozen() -> None:
    """Nobody changes an answer after it was given."""
    with pytest.raises(AttributeError, match="immutable"):
        Row(text="a").level = Level.HIGH  # type: ignore[misc]  # what is frozen is what is tried


def test_moments_travel_in_utc() -> None:
    """A moment in UTC is written with a Z, and one of any zone is read as the same moment."""
    prague = datetime(2026, 3, 5, 13, 0, tzinfo=timezone(timedelta(hours=1)))
    assert wire_time(prague) == "2026-03-05T12:00:00Z"
    assert msgspec.json.encode(prague.astimezone(UTC)) == b'"2026-03-05T12:00:00Z"'
    assert msgspec.json.decode(b'"2026-03-05T13:00:00+01:00"', type=Moment) == prague


def test_a_moment_without_a_zone_is_refused() -> None:
    """A wall clock reading that does not say where it was read is no moment."""
    with pytest.raises(ValidationError, match="timezone"):
        msgspec.json.decode(b'"2026-03-05T13:00:00"', type=Moment)
