from __future__ import annotations

from datetime import date, datetime

from hypothesis import given
from hypothesis import strategies as st

from brief.core.notices.notice import Recurring, When
from brief.reminder_import.reminder_list import Reminders, read_reminders

DAY = date(2026, 10, 11)


def told(text: str) -> list[tuple[str, When | None]]:
    """Title and day of each reminder, of a list that is read in full."""
    read = read_reminders(text)
    assert read.unread == ()
    return [(reminder.title, reminder.fires_on) for reminder in read.found]


def why(read: Reminders) -> list[tuple[int, str]]:
    """The lines that were not read, and why."""
    return [(unread.line, unread.why) for unread in read.unread]


def test_bullets_and_boxes_of_every_kind_are_items() -> None:
    """A box is not needed, and a bare line that begins with a date is an item too."""
    text = "- [ ] 2026-10-11 a\n* 2026-10-11: b\n+ [ ]  2026-10-11 \u2013 c\n1. 2026-10-11 d\n2) e (2026-10-11)\n2026-10-11 f\n"
    assert told(text) == [(title, DAY) for title in "abcdef"]


def test_marks_around_a_date_go_with_it() -> None:
    """Emphasis, brackets and code around a date do not belong to the title; those elsewhere stay."""
    text = "- **2026-10-11**: a\n- **2026-10-11:** b\n- `2026-10-11` c\n- [2026-10-11] d\n- say *hello* 2026-10-11 to Bob\n"
    assert [title for title, _ in told(text)] == ["a", "b", "c", "d", "say *hello* to Bob"]


def test_a_heading_dates_what_stands_under_it() -> None:
    """A date of a heading holds until the next heading of its level; a date of the item itself comes first."""
    text = "# 2026-10-11\n- a\n## Deeper\n- b\n- 2026-10-12 c\n# Other ##\n- 2026-10-13 d\n"
    assert told(text) == [("a", DAY), ("b", DAY), ("c", date(2026, 10, 12)), ("d", date(2026, 10, 13))]
    assert [reminder.group for reminder in read_reminders(text).found] == [None, "Deeper", "Deeper", "Other"]


def test_what_is_ticked_off_is_counted_and_left() -> None:
    """A ticked box is done, with all that belongs to it, and so is what stands under a heading that says so."""
    read = read_reminders(
        "- [x] 2026-10-11 a\n  more\n- [X] b\n# Done\n- 2026-10-11 c\n## Later\n- d\n- [ ] 2026-10-11 e\n"
    )
    assert ([reminder.title for reminder in read.found], read.done, read.unread) == (["e"], 4, ())


def test_a_rhythm_needs_no_date() -> None:
    """`every day`, `daily`, `denně`, of the item or of its heading, recurs; the words stay in the title."""
    read = read_reminders(
        "- every day drink\n- zalít denně, od 11.10.2026\n# Daily\n- look\n# Weekly\n- review (daily)\n"
    )
    assert [(reminder.title, reminder.fires_on, reminder.recurring) for reminder in read.found] == [
        ("every day drink", None, Recurring.DAILY),
        ("zalít denně, od", DAY, Recurring.DAILY),
        ("look", None, Recurring.DAILY),
        ("review (daily)", None, Recurring.DAILY),
    ]


def test_lines_further_in_belong_to_their_item() -> None:
    """They become the body, at the margin; a dated item further in is one of its own."""
    text = "- 2026-10-11 09:30 a\n    note\n\n      - deep\n    # heading\n  - 2026-10-12 b\n- 2026-10-13 c\n"
    read = read_reminders(text)
    assert [(one.title, one.body) for one in read.found] == [("a", "note\n  - deep\n# heading\n"), ("b", ""), ("c", "")]
    assert read.found[0].fires_on == datetime.fromisoformat("2026-10-11 09:30")


def test_every_line_that_is_lost_is_named() -> None:
    """Prose, undated items with their lines, code, bad dates and bare dates each say why, in the order of the file."""
    text = (
        "prose\n- none\n  its line\n- 2026-02-30 x\n- 2026-10-11\n```\n- 2026-10-11 code\n```\n- 2026-10-11 read\n---\n"
    )
    read = read_reminders(text)
    assert [reminder.title for reminder in read.found] == ["read"]
    assert why(read) == [
        (1, "is not an item of the list; begin it with - [ ] and a date"),
        (2, "names no day with a year; write it as YYYY-MM-DD"),
        (3, "belongs to line 2, which could not be read"),
        (4, "2026-02-30 does not exist; correct the date"),
        (5, "names a day but not what is due; write it after the date"),
        (6, "is in a block of code"),
        (7, "is in a block of code"),
        (8, "is in a block of code"),
    ]


def test_slugs_stay_the_same() -> None:
    """Moved lines, other line ends and a byte order mark change no slug; twins get different slugs, and so do other days."""
    first = [one.slug for one in read_reminders("- 2026-10-11 Zaplatit nájem\n- 2026-10-11 Zaplatit nájem\n").found]
    again = read_reminders(
        "\ufeffprose\r\n\r\n- [ ] Zaplatit nájem (11. 10. 2026)\r\n- 2026-10-12 Zaplatit nájem\r\n"
    ).found
    assert first[0].startswith("zaplatit-najem-")
    assert first[1] == f"{first[0]}-2"
    assert again[0].slug == first[0] != again[1].slug
    assert read_reminders("- 2026-10-11 日本\n").found[0].slug.startswith("reminder-")


def test_a_heading_that_means_a_day_and_is_none_is_told() -> None:
    """The items below it do not fall back on an outer day, and one with a day of its own is read."""
    read = read_reminders("# 2026-10-12\n- a\n## 13 Octobr\n- b\n- daily: c\n- 2026-10-14 d\n## Garden\n- e\n")
    no_day = "names no day with a year; write it as YYYY-MM-DD"
    assert [(one.title, one.fires_on) for one in read.found] == [
        ("a", date(2026, 10, 12)),
        ("d", date(2026, 10, 14)),
        ("e", date(2026, 10, 12)),
    ]
    assert why(read) == [(3, no_day), *((line, f"is below 13 Octobr, which {no_day}") for line in (4, 5))]


def test_a_heading_of_which_all_items_say_the_day_themselves_is_none_to_tell() -> None:
    """A heading needs no day if all its items name one; a heading without items is reported."""
    assert told("# October 2026\n- 2026-10-11 a\n- [x] b\n") == [("a", DAY)]
    assert why(read_reminders("# October 2026\n")) == [(1, "names no day with a year; write it as YYYY-MM-DD")]


def test_a_rhythm_that_no_reminder_has_is_told() -> None:
    """In an item or in its heading; an item that says a known one itself is read."""
    read = read_reminders("- 2026-10-11 every other week: a\n# Quarterly\n- 2026-10-11 b\n- every week: c\n")
    assert [(one.title, one.recurring) for one in read.found] == [("every week: c", Recurring.WEEKLY)]
    known = "which reminders do not support; write daily, weekdays, weekly, monthly, yearly"
    assert why(read) == [
        (1, f"says every other week, {known}"),
        (2, f"says Quarterly, {known}"),
        (3, f"is below Quarterly, which says Quarterly, {known}"),
    ]


@given(st.text("-*# \t[]x0123456789.:`\n\rday", max_size=300))
def test_no_list_breaks_the_reading(text: str) -> None:
    """Any text is read, and every line that holds something is in one of the outcomes at most once."""
    read = read_reminders(text)
    lines = [*(one.line for one in read.found), *(one.line for one in read.unread)]
    assert len(lines) == len(set(lines))
    assert len({one.slug for one in read.found}) == len(read.found)


def test_a_huge_line_costs_no_more_than_its_length() -> None:
    """Lines made to make a pattern run long are read at once."""
    for line in (
        "# " + "# " * 100_000 + "x",
        "- " * 200_000,
        "-" + " -" * 200_000 + "x",
        "- daily" + "!" * 300_000 + "x",
        "- every " * 50_000,
        "# 1 " + " " * 300_000 + "x",
        "# jan" * 60_000,
    ):
        assert read_reminders(f"{line}\n").found == ()
