"""Parse a Markdown list of reminders. Every line that cannot be understood is reported."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from brief.core.notices.notice import Recurring, When
from brief.core.notices.slug import digest, make_slug
from brief.reminder_import.written_dates import Found, find_date, find_rhythm, find_unknown_rhythm, is_like_a_date

_LINE_END = re.compile(r"\r\n|\n|\r")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_ITEM = re.compile(r"^([ \t]*)(?:[-*+]|\d{1,9}[.)])(?!\S)[ \t]*(?:\[([ xX])\](?:[ \t]+|$))?(.*)$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_RULE = re.compile(r"^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_DONE_GROUP = re.compile(r"(?:done|completed|archived?|hotovo|splněno)", re.IGNORECASE)
_EDGES = " \t:;,\u2013\u2014-"
_SLUG_WORDS = 40


class Reminder(Struct, frozen=True):
    """One reminder. Without `fires_on` it recurs from the day on which it is imported. `line` counts from 1."""

    line: int
    slug: str
    title: str
    fires_on: When | None
    recurring: Recurring | None
    group: str | None
    body: str


class Unread(Struct, frozen=True):
    """A line that could not be understood, and `why`. `line` counts from 1."""

    line: int
    text: str
    why: str


class Reminders(Struct, frozen=True):
    """The content of a list. `done` counts the items that are ticked off and are no longer reminders."""

    found: tuple[Reminder, ...]
    unread: tuple[Unread, ...]
    done: int


def read_reminders(text: str) -> Reminders:
    """Read a list of items under headings, with or without checkboxes, each dated by itself or by its heading.

    An item that says `every day`, `daily` or the like recurs and needs no date. Lines indented below an item belong to it,
    unless they are dated items themselves. Reading the list again yields the same slugs.
    """
    reader = _Reader()
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        reader.take(number, line)
    return reader.end()


class _Heading(Struct):
    """A heading that applies to the items below it, and that inherits what it does not say from the headings above."""

    level: int
    text: str
    date: Found | None
    recurring: Recurring | None
    fault: str | None

    @property
    def is_done(self) -> bool:
        return _DONE_GROUP.fullmatch(self.text) is not None


class _Item(Struct):
    """An item, with the lines that belong to it."""

    line: int
    indent: int
    text: str
    is_done: bool
    headings: tuple[_Heading, ...]
    more: list[tuple[int, str]] = field(default_factory=list)


class _Reader(Struct):
    """Collects headings and items line by line. Blank lines and rules hold nothing."""

    headings: list[_Heading] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    faulty: list[tuple[Unread, _Heading]] = field(default_factory=list)
    fence: str = ""
    open: _Item | None = None

    def take(self, number: int, line: str) -> None:
        """Read the next line."""
        if self._in_code(line):
            self._add_line(number, line, "is in a block of code")
        elif not line.strip():
            return
        elif found := _HEADING.match(line):
            self._read_heading(number, len(found[1]), _CLOSING_HASHES.sub("", found[2]))
        elif _RULE.match(line):
            self.open = None
        elif item := self._read_item(number, line):
            self.open = item
            self.items.append(item)
        else:
            self._add_line(number, line, "is not an item of the list; begin it with - [ ] and a date")

    def end(self) -> Reminders:
        """The reminders in all lines read."""
        found: list[Reminder] = []
        self.unread.extend(self._headings_needed())
        for item in self.items:
            if item.is_done:
                continue
            made = _make_reminder(item)
            if isinstance(made, str):
                self._refuse(item, made)
            else:
                found.append(made)
        return Reminders(
            found=tuple(_number_repeated(found)),
            unread=tuple(sorted(self.unread, key=lambda each: each.line)),
            done=sum(item.is_done for item in self.items),
        )

    def _in_code(self, line: str) -> bool:
        """Whether the line belongs to a fenced code block, including its fences."""
        found = _FENCE.match(line)
        if self.fence:
            if found and found[1] == self.fence:
                self.fence = ""
            return True
        self.fence = found[1] if found else ""
        return bool(self.fence)

    def _read_heading(self, number: int, level: int, text: str) -> None:
        found = find_date(text)
        rest = _without(text, found)
        heading = _Heading(level, rest, found, find_rhythm(rest), _heading_fault(found, rest))
        if heading.fault:
            self.faulty.append((Unread(number, text.strip(), heading.fault), heading))
        self.headings = [*(each for each in self.headings if each.level < level), heading]
        self.open = None

    def _read_item(self, number: int, line: str) -> _Item | None:
        """The item that begins on this line: with a bullet, or a bare line that starts with a date."""
        indent = _count_indent(line)
        bullet = _ITEM.match(line)
        text = (bullet[3] if bullet else line).strip()
        found = find_date(text)
        if self._is_inside(indent) and (bullet is None or found is None):
            return None
        if bullet is None and (found is None or found.span[0] > 0):
            return None
        box = bullet[2] if bullet else None
        in_done = box is None and any(heading.is_done for heading in self.headings)
        return _Item(number, indent, text, box in ("x", "X") or in_done, tuple(self.headings))

    def _is_inside(self, indent: int) -> bool:
        return self.open is not None and indent > self.open.indent

    def _add_line(self, number: int, line: str, otherwise: str) -> None:
        """Add a line to the open item, or report it as unread."""
        if self.open and self._is_inside(_count_indent(line)):
            self.open.more.append((number, line))
        else:
            self.open = None
            self.unread.append(Unread(number, line.strip(), otherwise))

    def _headings_needed(self) -> Iterator[Unread]:
        """The headings that are not understood, except those that no item below depends on."""
        above = {id(heading) for item in self.items for heading in item.headings}
        needed = {id(_heading_not_understood(item)) for item in self.items if not item.is_done}
        return (unread for unread, heading in self.faulty if id(heading) in needed or id(heading) not in above)

    def _refuse(self, item: _Item, why: str) -> None:
        self.unread.append(Unread(item.line, item.text, why))
        belongs = f"belongs to line {item.line}, which could not be read"
        self.unread.extend(Unread(number, line.strip(), belongs) for number, line in item.more)


def _heading_fault(found: Found | None, rest: str) -> str | None:
    """Why a heading's day or rhythm is not understood. None if it is understood, or if the heading gives neither."""
    if found is not None and found.fault:
        return found.fault
    if found is None and is_like_a_date(rest):
        return "names no day with a year; write it as YYYY-MM-DD"
    return _rhythm_fault(rest)


def _rhythm_fault(text: str) -> str | None:
    unknown = find_unknown_rhythm(text)
    return f"says {unknown}, which reminders do not support; write {', '.join(Recurring)}" if unknown else None


def _make_reminder(item: _Item) -> Reminder | str:
    """The reminder of an item, or why it has none."""
    own = find_date(item.text)
    text = _without(item.text, own)
    if fault := _rhythm_fault(text):
        return fault
    if heading := _heading_not_understood(item):
        return f"is below {heading.text or 'a heading'}, which {heading.fault}"
    dated = own or next((heading.date for heading in reversed(item.headings) if heading.date), None)
    said = (find_rhythm(_without(item.text, own)), *(heading.recurring for heading in reversed(item.headings)))
    recurring = next((rhythm for rhythm in said if rhythm), None)
    title = _without(item.text, own)
    if dated and dated.fault:
        return dated.fault
    if dated is None and recurring is None:
        return "names no day with a year; write it as YYYY-MM-DD"
    if not title:
        return "names a day but not what is due; write it after the date"
    group = next((heading.text for heading in reversed(item.headings) if heading.text), None)
    when = dated.when if dated else None
    name = f"{make_slug(title, _SLUG_WORDS) or 'reminder'}-{digest(str(when), str(recurring), title, str(group))}"
    return Reminder(item.line, name, title, when, recurring, group, _dedent_body(item))


def _heading_not_understood(item: _Item) -> _Heading | None:
    """The heading above the item that is not understood, unless the item itself says what that heading should."""
    if not any(heading.fault for heading in item.headings):
        return None
    own = find_date(item.text)
    has_date, has_rhythm = own is not None, find_rhythm(_without(item.text, own)) is not None
    for heading in reversed(item.headings):
        is_rhythm = heading.fault is not None and _rhythm_fault(heading.text) is not None
        if heading.fault and not (has_rhythm if is_rhythm else has_date):
            return heading
        has_date, has_rhythm = has_date or heading.date is not None, has_rhythm or heading.recurring is not None
    return None


def _number_repeated(found: list[Reminder]) -> Iterator[Reminder]:
    """The reminders, with a number added to the slugs of word-for-word repetitions."""
    times: dict[str, int] = {}
    for reminder in found:
        times[reminder.slug] = count = times.get(reminder.slug, 0) + 1
        yield reminder if count == 1 else replace(reminder, slug=f"{reminder.slug}-{count}")


def _dedent_body(item: _Item) -> str:
    """The lines that belong to an item, without their common indentation."""
    margin = min((_count_indent(line) for _, line in item.more), default=0)
    return "".join(f"{line.expandtabs(4)[margin:].rstrip()}\n" for _, line in item.more)


def _without(text: str, found: Found | None) -> str:
    """The text without its date, and without the punctuation and emphasis around that."""
    if found is None:
        return text.strip()
    before, after = text[: found.span[0]], text[found.span[1] :]
    for left, right in (("**", "**"), ("__", "__"), ("*", "*"), ("`", "`"), ("(", ")"), ("[", "]")):
        if before.endswith(left) and after.startswith((right, ":" + right)):
            before, after = before.removesuffix(left), after.removeprefix(":").removeprefix(right)
    return f"{before.rstrip(_EDGES)} {after.strip(_EDGES)}".strip()


def _count_indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
