"""What runs at every prompt and every refresh: reach the server, print what it says, and be gone."""

from __future__ import annotations

import os
import sys

from brief import __version__
from brief.fastpath.locate import NotLocatedError, current_folder, locate
from brief.fastpath.output import put, tell

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from collections.abc import Callable

    from brief.fastpath.arguments import Arguments
    from brief.fastpath.ask import Answer
    from brief.fastpath.locate import Located

ANSWERED = 0
FAILED = 1

unanswered: dict[str, str] = {}
"""Why no server answered this process, by git folder: the whole command waits for none of them a second time."""

_UNFIT = (400, 413, 414, 431)
"""The server refused the input and did nothing; the whole command has the better sentence."""


def run(
    words: list[str], meanwhile: Callable[[], object] | None = None, accept: Callable[[str, str], bool] | None = None
) -> int | None:
    """The exit code of a call this path could answer; None where the whole command must.

    Where a server is silent, `meanwhile` is done while it is waited for. `accept` asks git about a git folder of another
    user, by the folder and a root; without it none is accepted.
    """
    unanswered.clear()
    if words == ["statusline"]:
        from brief.fastpath.statusline import statusline  # noqa: PLC0415 - a brief needs none of it

        return statusline(accept)
    from brief.fastpath.arguments import read_arguments  # noqa: PLC0415 - a status line needs none of it

    call = read_arguments(words)
    return _answer(call, meanwhile) if call is not None else None


def _answer(call: Arguments, meanwhile: Callable[[], object] | None) -> int | None:
    from brief.fastpath.ask import ask, why_declined  # noqa: PLC0415 - read_arguments decides first whether anybody is asked
    from brief.fastpath.lease import NoServerError, read_lease  # noqa: PLC0415 - likewise

    try:
        here = locate(call.root if call.root is not None else current_folder())
    except NotLocatedError:
        return None
    method, path, kind, *_ = call.entry
    params, body = _request(call, here)
    is_query = kind == "query"
    try:
        if not is_query and read_lease(here.common_dir).get("version") != __version__:
            return None  # the whole command replaces a server of another version before it writes
        answer = ask(here.common_dir, method, path, params, body, meanwhile=meanwhile if is_query else None)
    except NoServerError as absence:
        if not is_query and absence.is_sent:
            tell(f"whether this was done is not known: {absence}")
            return FAILED
        if is_query:
            unanswered[here.common_dir] = str(absence)
        return None
    if answer.status != 200:
        if not is_query:
            return None if answer.status in _UNFIT else _tell_problem(answer)
        declined = why_declined(answer)
        if declined is not None:
            unanswered[here.common_dir] = declined
        return None
    strict = answer.headers.get("majordomus-strict")
    if strict is None and is_query and (call.strict or call.command != "brief"):
        return None  # a server of an older version, which renders no text
    put(answer.body if answer.body.endswith(b"\n") else answer.body + b"\n")
    return int(strict) if call.strict and strict is not None else ANSWERED


def _request(call: Arguments, here: Located) -> tuple[list[tuple[str, str]], dict[str, object] | None]:
    """The query and the body of a call: the form is always in the query, the fields where the method takes them."""
    from brief.fastpath.arguments import is_models_shell  # noqa: PLC0415 - it is loaded already

    fields = call.fields
    options = call.entry[6]
    if "--session" in options and not fields.get("session"):
        fields["session"] = os.environ.get("CLAUDE_CODE_SESSION_ID") or None
    for field, kind, _ in options.values():
        if kind == "person" and not is_models_shell():
            fields[field] = True
    width = terminal_columns() if call.format == "text" and "width" not in fields else None
    form = [("format", call.format), *([] if width is None else [("width", str(width))])]
    given = {"root": here.name, **{name: value for name, value in fields.items() if value is not None}}
    if call.entry[0] == "POST":
        return form, given
    return [(name, _text(one)) for name, value in given.items() for one in _each(value)] + form, None


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tell_problem(answer: Answer) -> int | None:
    """Print the sentence with which the server refused a command, and give its exit code."""
    try:
        problem = answer.json()
        sentence, code = problem["error"], problem["exit_code"]
    except (ValueError, TypeError, KeyError):
        return None
    for line in str(sentence).splitlines():
        tell(line)
    return int(code)


def terminal_columns() -> int | None:
    """How wide the terminal is that is printed to; None where it is none, or one that does not say."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None
