from __future__ import annotations

from datetime import date, datetime

import pytest

from brief.core.notices.notice import Recurring
from brief.reminder_import.written_dates import find_date, find_rhythm, find_unknown_rhythm, is_like_a_date

DAY = date(2026, 10, 11)


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-11",
        "2026/10/11",
        "due 2026.10.11.",
        "11.10.2026",
        "11. 10. 2026",
        "do 11. října 2026",
        "11 October 2026",
        "11th Oct 2026",
        "OCTOBER 11, 2026",
        "Oct. 11th 2026",
        "(2026-10-11)",
        "by:2026-10-11, or 2027-01-01",
    ],
)
def test_common_spellings_of_a_day_are_read(text: str) -> None:
    """Day, month and year in any common order and language; the first one counts."""
    found = find_date(text)
    assert found is not None
    assert (found.when, found.fault) == (DAY, None)


@pytest.mark.parametrize("text", ["2026-10-11 09:30", "2026-10-11T09:30", "11.10.2026 v 9:30", "Oct 11, 2026 at 9:30"])
def test_a_time_of_day_is_read(text: str) -> None:
    """The moment is a local one, since nobody names a zone in a list."""
    found = find_date(text)
    assert found is not None
    assert found.when == datetime.fromisoformat("2026-10-11 09:30")
    assert text[slice(*found.span)] == text


@pytest.mark.parametrize(
    "text",
    ["", "11.10.", "October", "v1.2.2026.3", "notes-2026-10-11.md", "/2026/10/11/", "12026-10-11", "2026-10-111"],
)
def test_what_is_no_date_is_none(text: str) -> None:
    """A day without its year, a version, a path and the name of a file name no day."""
    assert find_date(text) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("2026-02-30", "2026-02-30 does not exist; correct the date"),
        ("2026-13-01 x", "2026-13-01 does not exist; correct the date"),
        ("0. října 2026", "0. října 2026 does not exist; correct the date"),
        ("on 03/04/2026", "03/04/2026 is ambiguous; write it as YYYY-MM-DD"),
    ],
)
def test_a_doubtful_date_is_refused(text: str, fault: str) -> None:
    """A day that does not exist, or may be two, is never guessed."""
    found = find_date(text)
    assert found is not None
    assert (found.when, found.fault) == (None, fault)


@pytest.mark.parametrize("text", ["25/10/2026", "10/25/2026", "25-10-2026"])
def test_only_one_order_may_fit(text: str) -> None:
    """If one number cannot be a month, the order is clear."""
    found = find_date(text)
    assert found is not None
    assert found.when == date(2026, 10, 25)


@pytest.mark.parametrize(
    ("text", "rhythm"),
    [
        ("every day, drink", Recurring.DAILY),
        ("Daily", Recurring.DAILY),
        ("daily: look at the queue", Recurring.DAILY),
        ("look at the queue (daily)", Recurring.DAILY),
        ("look at the queue daily.", Recurring.DAILY),
        ("zalít květiny denně", Recurring.DAILY),
        ("Každý pracovní den", Recurring.WEEKDAYS),
        ("on weekdays", Recurring.WEEKDAYS),
        ("každý týden", Recurring.WEEKLY),
        ("pay the rent, monthly", Recurring.MONTHLY),
        ("every year", Recurring.YEARLY),
        ("send the daily report", None),
        ("daily report", None),
        ("everyday things", None),
        ("birthday", None),
        ("", None),
    ],
)
def test_a_rhythm_is_what_the_text_says(text: str, rhythm: Recurring | None) -> None:
    """An adverb says how often; the same word before a noun does not."""
    assert find_rhythm(text) is rhythm


@pytest.mark.parametrize(
    "text",
    [
        "every other week: x",
        "pay rent (quarterly)",
        "every 2 weeks call",
        "every Monday",
        "bins on Mondays",
        "twice a week run",
        "once a month",
        "first Monday of the month",
        "každý druhý týden",
        "2x týdně",
        "biweekly",
    ],
)
def test_rhythms_that_are_not_known_are_seen(text: str) -> None:
    """A reminder that recurs in an unsupported way is never imported as one of a single day."""
    assert find_unknown_rhythm(text) is not None


@pytest.mark.parametrize(
    "text",
    ["daily", "every week: x", "každý den", "send the quarterly report", "check every file", "the last day of school"],
)
def test_known_rhythms_and_plain_words_are_not_taken_for_unknown_ones(text: str) -> None:
    """A word that only describes something is not a rhythm."""
    assert find_unknown_rhythm(text) is None


@pytest.mark.parametrize(
    "text", ["12 October", "12 Octobr 2026", "October 2026", "Next Tuesday", "3/4", "12.10.", "Q3"]
)
def test_a_text_that_means_a_day(text: str) -> None:
    """Without a year, misspelt, or no day at all."""
    assert is_like_a_date(text)


@pytest.mark.parametrize("text", ["Work", "March to the office", "May plans", "3 things", "Home 2026", ""])
def test_a_text_that_means_no_day(text: str) -> None:
    """A name of a group may hold a number or a month."""
    assert not is_like_a_date(text)
