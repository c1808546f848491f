"""Render a brief as a page for a person. The page never says more than the JSON."""

from __future__ import annotations

from collections.abc import Collection

from brief.core.model.brief import AnsweredBy, Brief, Row, Section, Status
from brief.core.model.level import Level
from brief.core.model.section_data import StateData
from brief.core.policy.names import PolicySource
from brief.core.text.sanitize import clean, every
from brief.core.text.wrap import wrap_text

_STATUS_CELLS = len(Status.UNDECLARED)
_INDENT = " " * (len("integration") + 2)


def render_page(
    brief: Brief, columns: int | None = None, *, sections: Collection[str] = (), verbose: bool = False
) -> str:
    """The whole brief, section by section, or only the named `sections`. With `columns`, lines are wrapped at that many cells.

    `verbose` adds the process, epoch and version of whoever composed it.
    """
    chosen = [section for section in brief.sections if not sections or section.name in sections]
    body = [line for section in chosen for line in section_lines(section)]
    if sections:
        return _wrap_lines(body, columns)
    notes = [*(f"note: {note}" for note in brief.notes), *_closing(brief)]
    return _wrap_lines(
        [brief.line, "", *_head(brief, verbose=verbose), "", *body, *([""] if notes else []), *notes], columns
    )


def section_page(section: Section, columns: int | None = None) -> str:
    """One section alone, with all its rows."""
    lines = section_lines(section)
    return _wrap_lines(lines, columns)


def _wrap_lines(lines: list[str], columns: int | None) -> str:
    text = "\n".join(lines) + "\n"
    return text if columns is None else wrap_text(text, columns)


def section_lines(section: Section) -> list[str]:
    """The lines of one section: name, status and headline, then the reason, the rows, and how many were left out."""
    lines = [f"{section.name:<11}  {section.status:<{_STATUS_CELLS}}  {section.headline}"]
    if section.reason:
        lines.append(f"{_INDENT}why: {clean(section.reason, 600)}")
    lines += [f"{_INDENT}{_mark(row.level)}{row.text}" for row in rows_beside_reason(section)]
    if section.omitted:
        lines.append(f"{_INDENT}{omitted_line(section)}")
    return lines


def omitted_line(section: Section) -> str:
    """The line that counts the omitted rows of a section and names the command that shows them."""
    urgent = f", {section.omitted_urgent} of them urgent" if section.omitted_urgent else ""
    return f"and {section.omitted} more{urgent}: {section.see}"


def rows_beside_reason(section: Section) -> tuple[Row, ...]:
    """The rows of a section, without those that repeat a sentence of its reason."""
    said = f"; {section.reason}; "
    return tuple(row for row in section.rows if f"; {row.text}; " not in said)


def _mark(level: Level) -> str:
    return "- " if level is Level.NORMAL else f"▲ {level} "


def _head(brief: Brief, *, verbose: bool) -> list[str]:
    return [
        f"{clean(brief.repository.root, 400)}  {describe_head(brief)}",
        *_composer(brief.answered_by, verbose=verbose),
        *_policy(brief),
        _rhythm(brief),
    ]


def _policy(brief: Brief) -> list[str]:
    """The line that names the policy in force. No line without a policy."""
    policy = brief.policy
    if policy is None or policy.path is None:
        return []
    whose = {
        PolicySource.CHECKOUT: "",
        PolicySource.PRIMARY: " (the primary checkout's, since this one has none)",
        PolicySource.CLONE: " (this clone's own)",
    }
    path = policy.path.removeprefix(f"{brief.repository.root}/")
    return [f"policy {clean(path, 400)}{whose.get(policy.source, '')}"]


def _rhythm(brief: Brief) -> str:
    """How often the session that asks is woken, or if it is not, what the policy says."""
    if brief.on_interval_reason:
        return f"Not briefed on an interval: {clean(brief.on_interval_reason, 400)}"
    if any(isinstance(section.data, StateData) and section.data.woken for section in brief.sections):
        return f"a brief {every(brief.interval_minutes)}"
    return f"The policy asks for a brief {every(brief.interval_minutes)}; majordomus wake list shows which sessions get it."


def _composer(by: AnsweredBy, *, verbose: bool) -> list[str]:
    """Who composed the brief, if that is not simply the server."""
    which = f" (pid {by.pid}, epoch {by.epoch}, version {by.version})" if verbose else ""
    if by.kind == "lease-holder":
        return [f"composed by the server of this repository{which}"] if verbose else []
    who = f"a superseded server{which}" if by.kind == "superseded" else "this command alone"
    return [f"composed by {who}: {clean(by.reason or '', 400)}"]


def describe_head(brief: Brief) -> str:
    """The branch and commit of the checkout, in words."""
    repository = brief.repository
    if repository.head_unread is not None:
        return f"at a commit that could not be read: {clean(repository.head_unread, 400)}"
    commit = f"at {repository.head[:9]}" if repository.head else "with no commit yet"
    if repository.detached:
        return f"detached {commit}"
    return f"on {clean(repository.branch or '?', 80)} {commit}"


def _closing(brief: Brief) -> list[str]:
    gaps = ["head (unread)"] if brief.repository.head_unread is not None else []
    gaps += [f"{section.name} ({section.status})" for section in brief.sections if not section.fully_read]
    if not gaps:
        return []
    return [f"Not read in full: {', '.join(gaps)}. Unread does not mean empty: nobody was asked."]
