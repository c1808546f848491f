"""Parse days and rhythms as people write them, in English and Czech. Ambiguous dates are refused, not guessed."""

from __future__ import annotations

import re
from datetime import date, datetime, time

from msgspec import Struct

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
# "daily" is a rhythm when it stands by itself, but an adjective in "send the daily report".
_SET_OFF = r"(?=$|[])]|\s*[:,\u2013\u2014]|\s+-)"
_SAYS = tuple(
    (rhythm, re.compile(rf"\b(?:{clear})\b|(?:^|[(\[])(?:{alone}){_SET_OFF}|\b(?:{alone})\W*$", re.IGNORECASE))
    for rhythm, clear, alone in _RHYTHMS
)


_DAYS = "mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun"
_CZECH_DAYS = "pondělí|úterý|střed[ua]|čtvrtek|pátek|sobot[ua]|neděl[ie]"
_UNITS = "hours?|days?|weekdays?|weekends?|weeks?|fortnights?|months?|quarters?|years?|mornings?|evenings?|nights?"
_CZECH_UNITS = "hodin[uy]?|dn[íy]|den|týdn[ůy]|týden|měsíc[ůe]?|čtvrtletí|rok[yů]?|let|víkend"
_NUMBER = r"\d+|other|second|third|fourth|two|three|four|few|first|last|druh[ýéou]+|třetí|dv[aě]|tři|čtyři"
_UNKNOWN_RHYTHMS = re.compile(
    "|".join(
        (
            rf"\b(?:every|each)\s+(?:(?:{_NUMBER})\S{{0,2}}\s+)?(?:{_UNITS}|(?:{_DAYS})(?:day)?s?)\b",
            rf"\b(?:každ(?:ý|á|é|ou|ých|é))\s+(?:(?:{_NUMBER})\.?\s+)?(?:{_CZECH_UNITS}|{_CZECH_DAYS})\b",
            rf"\b(?:once|twice|\d+\s*(?:x|times)|jednou|dvakrát|třikrát)\s*(?:a|an|per|za|every)?\s*(?:{_UNITS}|{_CZECH_UNITS}|týdně|měsíčně|ročně|denně)\b",
            rf"\b(?:first|second|third|fourth|last|\d{{1,2}}(?:st|nd|rd|th))\s+(?:day|(?:{_DAYS})(?:day)?)\s+of\s+(?:the |each |every )?(?:week|month|quarter|year)s?\b",
            rf"(?:^|[(\[])(?:{_DAYS})days{_SET_OFF}|\b(?:on )?(?:{_DAYS})days\W*$",
            rf"(?:^|[(\[])(?:{{alone}}){_SET_OFF}|\b(?:{{alone}})\W*$".format(
                alone="bi-?weekly|fortnightly|bi-?monthly|quarterly|hourly|nightly|weekends|(?:semi-?|bi-?)annually|"
                "half-?yearly|obden|čtvrtletně|pololetně|hodinově|čtrnáctidenně"
            ),
        )
    ),
    re.IGNORECASE,
)
_COUNTED = re.compile(r"once|twice|\d|jednou|dvakrát|třikrát", re.IGNORECASE)
_MONTH_BEGINS = "|".join(sorted({name[:3] for name in _MONTHS}))
_DATE_ALONE = re.compile(
    "|".join(
        (
            rf"(?:(?:{_DAYS})(?:day)?\.?,?\s+)?\d{{1,2}}(?:st|nd|rd|th|\.)?\s*(?:of\s+)?(?:{_MONTH_BEGINS})\w*\.?,?(?:\s+\d{{2,4}})?",
            rf"(?:(?:{_DAYS})(?:day)?\.?,?\s+)?(?:{_MONTH_BEGINS})\w*\.?(?:\s+\d{{1,4}}(?:st|nd|rd|th)?){{1,2}}(?:,\s*\d{{2,4}})?",
            r"\d{1,2}(?:st|nd|rd|th|\.)?\s+\w+\.?,?\s+\d{4}",
            r"\d{1,4}[./-]\s?\d{1,2}(?:[./-]\s?(?:\d{1,4})?)?",
            rf"(?:next |this |příští |tento )?(?:(?:{_DAYS})(?:day)?|{_CZECH_DAYS})",
            r"(?:next|this|příští|tento|tuto) (?:week|month|quarter|year|týden|měsíc|rok)",
            r"today|tomorrow|dnes|zítra|pozítří|q[1-4](?:[ /-]?\d{2,4})?|(?:week|týden|cw|kw) ?\d{1,2}(?:[ /-]\d{2,4})?",
        )
    ),
    re.IGNORECASE,
)


class Found(Struct, frozen=True):
    """The first date in a text: `when`, or the `fault` that makes it unusable, and its span in the text."""

    when: When | None
    fault: str | None
    span: tuple[int, int]


def find_date(text: str) -> Found | None:
    """Find the first date with a year, and the time of day after it. None if there is no such date."""
    matches = [found for form in _FORMS if (found := form.search(text))]
    return _read(min(matches, key=lambda found: found.start())) if matches else None


def find_rhythm(text: str) -> Recurring | None:
    """Find the rhythm in which the text says that it recurs. None if it does not say."""
    return next((rhythm for rhythm, says in _SAYS if says.search(text)), None)


def find_unknown_rhythm(text: str) -> str | None:
    """Find words for a rhythm that notices do not support. None if the text has no rhythm, or a supported one."""
    found = _UNKNOWN_RHYTHMS.search(text)
    if found is None:
        return None
    is_known = find_rhythm(found.group()) is not None and not _COUNTED.match(found.group())
    return None if is_known else found.group().strip(" ([")


def is_like_a_date(text: str) -> bool:
    """Whether the whole text looks like a day in some spelling, although no day with a year was found in it."""
    return _DATE_ALONE.fullmatch(text.strip(" *_`:")) is not None


def _read(found: re.Match[str]) -> Found:
    parts = found.groupdict()
    day, month = parts.get("day"), parts.get("month") or _MONTHS.get((parts.get("name") or "").lower())
    spelled = found.group().strip()
    if parts.get("either"):
        day, month = _order_day_month(int(parts["either"]), int(parts["other"]))
    if day is None or month is None:
        return Found(None, f"{spelled} is ambiguous; write it as YYYY-MM-DD", found.span())
    try:
        when: When = date(int(parts["year"]), int(month), int(day))
    except ValueError:
        return Found(None, f"{spelled} does not exist; correct the date", found.span())
    if parts["clock"]:
        hour, minute = map(int, parts["clock"].split(":"))
        when = datetime.combine(when, time(hour, minute))
    return Found(when, None, found.span())


def _order_day_month(one: int, other: int) -> tuple[int | None, int | None]:
    """The day and month of two numbers, whose order differs between Europe and America. None if both orders are possible."""
    if one == other or one > 12:
        return one, other
    return (other, one) if other > 12 else (None, None)
