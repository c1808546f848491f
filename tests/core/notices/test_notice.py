from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.model.errors import DocumentError
from brief.core.notices.notice import (
    LIMIT,
    Audience,
    Kind,
    Notice,
    NoticeStatus,
    Recurring,
    Severity,
    front_matter,
    parse,
)

FULL = """\
---
kind: lock
status: active
priority: 8
severity: high
created: 2026-10-11
expires: 2026-10-12 09:30
fires_on: 2026-10-11T08:00:00+02:00
recurring: weekly
audience: owner
component: koda
applies_when: 'component == "koda"'
ticket: KODA-12
blocked_by: other
session_id: 22222222-2222-4222-8222-222222222222
title: Release train
mine: [1, 2]
---
# Heading

Body
"""


def with_field(key: str, spelled: str) -> Notice:
    """A notice whose front matter is one field."""
    return parse(f"---\n{key}: {spelled}\n---\n", "slug")


def refused(text: str | bytes) -> DocumentError:
    """The error that `text` is refused with."""
    with pytest.raises(DocumentError) as caught:
        parse(text, "slug")
    return caught.value


def test_every_field_is_read() -> None:
    """All known fields have their types, and the whole front matter is kept in its order."""
    notice = parse(FULL, "release")
    assert notice == Notice(
        slug="release",
        kind=Kind.LOCK,
        status=NoticeStatus.ACTIVE,
        priority=8,
        severity=Severity.HIGH,
        created=date(2026, 10, 11),
        expires=datetime(2026, 10, 12, 9, 30),  # noqa: DTZ001  # a local moment has no zone of its own
        fires_on=datetime(2026, 10, 11, 6, 0, tzinfo=UTC),
        recurring=Recurring.WEEKLY,
        audience=Audience.OWNER,
        component="koda",
        applies_when='component == "koda"',
        ticket="KODA-12",
        blocked_by="other",
        session_id="22222222-2222-4222-8222-222222222222",
        title="Release train",
        body="# Heading\n\nBody\n",
        heading=None,
        fields=notice.fields,
    )
    assert list(notice.fields)[-2:] == ["title", "mine"]
    assert notice.fields["mine"] == [1, 2]
    assert notice.body_without_title == notice.body


@pytest.mark.parametrize("empty", ["", "~", "null"])
def test_what_is_left_out_has_its_default(empty: str) -> None:
    """A field that is absent, or there without a value, counts as left out."""
    empties = "".join(f"{key}: {empty}\n" for key in parse(FULL, "slug").fields)
    for notice in (parse("---\nother: 1\n---", "slug"), parse(f"---\n{empties}---\n", "slug")):
        assert (notice.kind, notice.status, notice.priority) == ("alert", "active", 5)
        assert (notice.severity, notice.audience, notice.recurring) == ("normal", "all", None)
        assert notice.created is notice.expires is notice.fires_on is None
        assert notice.component is notice.applies_when is notice.ticket is notice.blocked_by is None
        assert (notice.session_id, notice.title, notice.body) == (None, "slug", "")


@pytest.mark.parametrize(
    ("spelled", "when"),
    [
        ("2026-10-11", date(2026, 10, 11)),
        ("'2026-10-11'", date(2026, 10, 11)),
        ("2026-10-11 09:05", datetime(2026, 10, 11, 9, 5)),  # noqa: DTZ001 - a moment with no zone is what is promised
        ("2026-10-11T09:05:06", datetime(2026, 10, 11, 9, 5, 6)),  # noqa: DTZ001 - a moment with no zone is what is promised
        ("2026-10-11 09:05:06.123456Z", datetime(2026, 10, 11, 9, 5, 6, 123456, tzinfo=UTC)),
        ("2026-10-11 09:05Z", datetime(2026, 10, 11, 9, 5, tzinfo=UTC)),
        ("2026-10-11 09:05 +02:00", datetime(2026, 10, 11, 9, 5, tzinfo=timezone(timedelta(hours=2)))),
        ("2026-10-11T09:05-0330", datetime(2026, 10, 11, 9, 5, tzinfo=timezone(-timedelta(hours=3, minutes=30)))),
    ],
)
@pytest.mark.parametrize("key", ["created", "expires", "fires_on"])
def test_a_date_keeps_what_it_says(key: str, spelled: str, when: date) -> None:
    """A day stays a day, a local moment stays without a zone, a moment with an offset keeps it."""
    read = getattr(with_field(key, spelled), key)
    assert read == when
    assert type(read) is type(when)
    assert isinstance(read, datetime) is isinstance(when, datetime)


@pytest.mark.parametrize(
    "spelled",
    [
        "2026-13-45",
        "2026-02-30",
        "0000-01-01",
        "2026-10-11 24:00:00",
        "2026-10-11 09:60",
        "2026-10-11 09:00 -25:00",
        "0001-01-01 00:00+10:00",
        "2026-10-11 9:00",
        "tomorrow",
        "20261011",
        "1.5",
        "true",
        "[2026-10-11]",
        "\uff12026-10-11",
    ],
)
def test_a_date_that_does_not_exist_is_one_sentence(spelled: str) -> None:
    """The sentence names the key and the value, whatever is wrong with it."""
    sentence = refused(f"---\nexpires: {spelled}\n---\n").sentence
    assert sentence.startswith("expires: ")
    assert spelled.strip("[]") in sentence
    assert sentence.endswith("correct the date")


@pytest.mark.parametrize(
    ("key", "spelled", "sentence"),
    [
        ("kind", "foo", 'kind: "foo" is not one of lock, courtesy, reminder, alert, bug-dep; write one of these'),
        ("kind", "[lock]", 'kind: ["lock"] is not one of lock'),
        ("status", "Active", 'status: "Active" is not one of active, done'),
        ("severity", "3", "severity: 3 is not one of high, normal, low"),
        ("recurring", "true", "recurring: true is not one of daily, weekdays, weekly, monthly, yearly"),
        ("priority", "11", "priority: 11 is not a whole number from 0 to 10"),
        ("priority", "-1", "priority: -1 is no"),
        ("priority", "true", "priority: true is no"),
        ("priority", "5.5", "priority: 5.5 is no"),
        ("priority", "5.0", "priority: 5.0 is no"),
        ("priority", '"5"', 'priority: "5" is no'),
        ("priority", ".nan", "priority: NaN is no"),
        ("component", "true", "component: true is not text; put quotes around it"),
        ("session_id", "1.5", "session_id: 1.5 is not text"),
        ("title", "{a: b}", 'title: {"a": "b"} is not text'),
        ("blocked_by", "[a]", 'blocked_by: ["a"] is not text'),
    ],
)
def test_a_value_that_cannot_be_is_refused(key: str, spelled: str, sentence: str) -> None:
    """The sentence names key, value and what would be right."""
    assert refused(f"---\n{key}: {spelled}\n---\n").sentence.startswith(sentence)


@pytest.mark.parametrize(("key", "spelled", "text"), [("ticket", "41", "41"), ("session_id", "724929", "724929")])
def test_a_whole_number_may_be_text(key: str, spelled: str, text: str) -> None:
    """Tickets and process ids need no quotes."""
    assert getattr(with_field(key, spelled), key) == text


@pytest.mark.parametrize("text", ["---\nkind: lock\n---\nbody\n", "---\r\nkind: lock\r\n---\r\nbody\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_are_no_matter(text: str, mark: str) -> None:
    """Text and bytes, with either line end, with or without a mark, are the same notice."""
    for given_text in (mark + text, (mark + text).encode()):
        notice = parse(given_text, "slug")
        assert (notice.kind, notice.body) == (Kind.LOCK, "body\n")


def test_the_closing_line_may_end_the_file() -> None:
    """The last line needs no line end."""
    assert parse("---\nkind: lock\n---", "slug").body == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no front matter"),
        ("body only\n", "begin the file with a line that is exactly ---"),
        ("----\nkind: lock\n---\n", "there is no front matter"),
        (" ---\nkind: lock\n---\n", "there is no front matter"),
        ("\n---\nkind: lock\n---\n", "there is no front matter"),
        ("---", "the front matter is never closed"),
        ("---\nkind: lock\n", "end it with a line that is exactly ---"),
        ("---\nkind: lock\n----\n", "the front matter is never closed"),
        ("---\nkind: lock\n...\nbody\n", "the front matter is never closed"),
        ("---\n---\n", "the front matter is null and must be keys with values"),
        ("---\n~\n---\n", "the front matter is null"),
        ("---\nhello\n---\n", 'the front matter is "hello"'),
        ("---\n- a\n---\n", 'the front matter is ["a"]'),
    ],
)
def test_a_file_without_front_matter_is_told(text: str, words: str) -> None:
    """A file that is no notice says what is missing, at its first line."""
    fault = refused(text)
    assert words in fault.sentence
    assert (fault.line, fault.column) == (1, 1)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("---\nkind: lock\ntitle: Lock: release train\n---\n", 3, 12),
        ("---\r\nkind: lock\r\ntitle: Lock: release train\r\n---\r\n", 3, 12),
        ("\ufeff---\nkind: [lock\n---\nbody\n", 2, 7),
        ("---\na: 1\na: 2\n---\n", 3, 1),
        (b"---\nkind: lock\n---\nbody\ncaf\xe9\n", 5, 4),
    ],
)
def test_a_fault_is_counted_in_the_file(text: str | bytes, line: int, column: int) -> None:
    """Line and column are those an editor shows for the file."""
    fault = refused(text)
    assert (fault.line, fault.column) == (line, column)


def test_a_file_is_bounded() -> None:
    """A file above the limit is refused, one at the limit is read with all of its body."""
    head = "---\nkind: lock\n---\n"
    body = "x" * (LIMIT - len(head))
    assert parse(head + body, "slug").body == body
    assert "at most 262,144 are read" in refused(head + body + "x").sentence
    assert "at most 262,144 are read" in refused("---\ntitle: " + "x" * 5_000_000 + "\n---\n").sentence


def test_a_title_is_one_bounded_line() -> None:
    """A long or hostile title comes out cleaned and cut."""
    assert with_field("title", "x" * 100_000).title == "x" * 199 + "…"
    assert with_field("title", r'"a\e[31mb\u202ec\nd"').title == "abc d"
    assert with_field("title", "2026").title == "2026"
    assert parse('---\ntitle: "\\u200b"\n---\n', "sl\u202eug").title == "slug"


@pytest.mark.parametrize(
    ("body", "title", "rest"),
    [
        ("# One\nbody\n", "One", "body\n"),
        ("intro\r\n\r\n## Two ##\r\nbody", "Two", "intro\r\n\r\nbody"),
        ("# About C#\n", "About C#", ""),
        ("# Last", "Last", ""),
        ("###\tTab", "Tab", ""),
        ("#\n# \n# ##\n# Real\n", "Real", "#\n# \n# ##\n"),
        ("#hash\n    # code\n####### seven\n", "slug", None),
        ("```sh\n# comment\n``\n```x\n~~~\n```\n# After\n", "After", "```sh\n# comment\n``\n```x\n~~~\n```\n"),
        ("~~~\n# in\n~~~~\n# out\n", "out", "~~~\n# in\n~~~~\n"),
        ("``` inline ``` text\n# Title\n", "Title", "``` inline ``` text\n"),
        ("```\n# never closed\n", "slug", None),
        ("# \u202e\u200b\n", "slug", None),
        ("", "slug", None),
    ],
)
def test_the_first_heading_is_the_title(body: str, title: str, rest: str | None) -> None:
    """Without a title field the first heading outside code is the title, and then no body line; else the file name."""
    notice = parse(f"---\nkind: lock\n---\n{body}", "slug")
    assert notice.title == title
    assert notice.body == body
    assert notice.body_without_title == (body if rest is None else rest)


def test_a_title_field_leaves_the_heading_in_the_body() -> None:
    """Where the field gives the title, the heading is a line of the body like any other."""
    notice = parse("---\ntitle: field\n---\n# heading\n", "slug")
    assert (notice.title, notice.body_without_title) == ("field", "# heading\n")


def test_a_long_line_costs_no_more_than_its_length() -> None:
    """A heading of blanks and hashes cannot make the search for its end explode."""
    filler = " # " * 40_000 + " " * 100_000 + "x"
    assert parse(f"---\nkind: lock\n---\n# {filler}", "slug").title.endswith("…")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_character_of_a_body_is_lost(body: str) -> None:
    """The body is everything after the closing line, byte for byte."""
    assert parse(f"---\nkind: lock\n---\n{body}".encode(), "slug").body == body


@given(st.text() | st.binary() | st.text().map("---\n{}\n---\n".format) | st.text().map("---\nkind: {}\n---\n".format))
def test_any_file_is_a_notice_or_a_sentence(text: str | bytes) -> None:
    """No file raises anything but the one error."""
    with suppress(DocumentError):
        parse(text, "slug")


def test_front_matter_is_shared_with_other_formats() -> None:
    """Fields and body come apart without any judgement of the fields."""
    fields: dict[str, Any] = {"kind": "decision"}
    assert front_matter("---\nkind: decision\n---\nbody") == (fields, "body")


@pytest.mark.parametrize(
    ("audience", "read"),
    [
        (None, Audience.ALL),
        ("all", Audience.ALL),
        ("team", Audience.ALL),
        (["team"], Audience.ALL),
        (["team", "Owner"], Audience.OWNER),
        (True, Audience.ALL),
        ("owner", Audience.OWNER),
        ("Owner ", Audience.OWNER),
    ],
)
def test_an_audience_that_is_not_known_is_everybody(audience: object, read: Audience) -> None:
    """Only the owner's own is kept from others, and no other word hides a notice."""
    assert parse(f"---\naudience: {json.dumps(audience)}\n---\n", "slug").audience is read
