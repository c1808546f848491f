"""Days and rhythms as people write them into a list, in English and Czech; what is ambiguous is refused, not guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time

from brief.core.notices.notice import Recurring, When

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan ledna leden",
            "february feb února únor",
            "march mar března březen",
            "april apr dubna duben",
            "may května květen",
            "june jun června červen",
            "july jul července červenec",
            "august aug srpna srpen",
            "september sept sep září",
            "october oct října říjen",
            "november nov listopadu listopad",
            "december dec prosince prosinec",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = f"(?P<name>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_CLOCK = r"(?:(?:[ T]|, ?| at | v )(?P<clock>(?:[01]?\d|2[0-3]):[0-5]\d)(?![\d:]))?"
_FORMS = tuple(
    re.compile(rf"(?<![\w./-]){form}(?!(?!T\d\d:)[\w/-]|\.\d){_CLOCK}", re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{4})",
        r"(?P<either>\d{1,2})(?P<mark>[/-])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4})",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)? {_MONTH}\.?,? (?P<year>\d{{4}})",
        rf"{_MONTH}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
    )
)

_RHYTHMS = (
    (Recurring.WEEKDAYS, "(?:every|each) (?:weekday|working day|workday)|každý (?:pracovní|všední) den", "weekdays"),
    (Recurring.DAILY, "(?:every|each) day|denně|každý den|každodenně", "daily"),
    (Recurring.WEEKLY, "(?:every|each) week|týdně|každý týden", "weekly"),
    (Recurring.MONTHLY, "(?:every|each) month|měsíčně|každý měsíc", "monthly"),
    (Recurring.YEARLY, "(?:every|each) year|ročně|každý rok|každoročně", "yearly|annually"),
)
# "daily" is a rhythm where it stands by itself, and an adjective in "send the daily report".
_SET_OFF = r"(?=$|[])]|\s*[:,\u2013\u2014]|\s+-)"
_SAYS = tuple(
    (rhythm, re.compile(rf"\b(?:{clear})\b|(?:^|[(\[])(?:{alone}){_SET_OFF}|\b(?:{alone})\W*$", re.IGNORECASE))
    for rhythm, clear, alone in _RHYTHMS
)


@dataclass(frozen=True, slots=True)
class Found:
    """The first date in a text: `when` it names, or `fault` why it names none, and the span where it stands."""

    when: When | None
    fault: str | None
    span: tuple[int, int]


def find_date(text: str) -> Found | None:
    """The first date with a year, and the time of day behind it; None where there is none."""
    matches = [found for form in _FORMS if (found := form.search(text))]
    return _read(min(matches, key=lambda found: found.start())) if matches else None


def find_rhythm(text: str) -> Recurring | None:
    """How often the text says that it comes back; None where it does not say."""
    return next((rhythm for rhythm, says in _SAYS if says.search(text)), None)


def _read(found: re.Match[str]) -> Found:
    parts = found.groupdict()
    day, month = parts.get("day"), parts.get("month") or _MONTHS.get((parts.get("name") or "").lower())
    spelled = found.group().strip()
    if parts.get("either"):
        day, month = _ordered(int(parts["either"]), int(parts["other"]))
    if day is None or month is None:
        return Found(None, f"{spelled} may be two days; write it as YYYY-MM-DD", found.span())
    try:
        when: When = date(int(parts["year"]), int(month), int(day))
    except ValueError:
        return Found(None, f"{spelled} is no day that exists; mend the date", found.span())
    if parts["clock"]:
        hour, minute = map(int, parts["clock"].split(":"))
        when = datetime.combine(when, time(hour, minute))
    return Found(when, None, found.span())


def _ordered(one: int, other: int) -> tuple[int | None, int | None]:
    """Day and month of two numbers that Europe and America put in different orders; None where both orders fit."""
    if one == other or one > 12:
        return one, other
    return (other, one) if other > 12 else (None, None)
