"""Answer a command at every prompt and refresh: ask the server, print its answer and exit."""

from __future__ import annotations

import os
import sys

from brief import __version__
from brief.fastpath.locate import NotLocatedError, current_folder, locate
from brief.fastpath.output import print_error_line, write_output

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from collections.abc import Callable

    from brief.fastpath.arguments import Arguments
    from brief.fastpath.ask import Answer
    from brief.fastpath.locate import Located

ANSWERED = 0
FAILED = 1

unanswered: dict[str, str] = {}
"""Why no server answered, by git folder. The whole command does not wait for these servers a second time."""

_UNDONE = (400, 413, 414, 431, 503)
"""Statuses with which a server did nothing, because the input is unusable or the server is ending.

The whole command explains such a fault, or finds another server.
"""


DEFAULT_ACTIONS = {
    "peers": "list",
    "episode": "list",
    "task": "show",
    "queue": "show",
    "derive": "status",
    "lock": "status",
    "alerts": "list",
    "wake": "list",
}
"""What a group does without an action: it shows what there is."""


def expand(words: list[str]) -> list[str]:
    """The words of a command in full: `lock` is `lock status`, `help lock` is `lock --help`, `mesh` is its section."""
    if not words:
        return words
    first, *rest = words
    if first == "help":
        return [*rest, "--help"]
    is_bare = not rest or (rest[0].startswith("-") and rest[0] not in ("-h", "--help"))
    if first == "mesh" and is_bare:
        return ["brief", "--section", "mesh", *rest]
    return [first, DEFAULT_ACTIONS[first], *rest] if first in DEFAULT_ACTIONS and is_bare else words


def run(
    words: list[str], meanwhile: Callable[[], object] | None = None, accept: Callable[[str, str], bool] | None = None
) -> int | None:
    """Run a command on this path and return its exit code. None if the whole command must run it.

    While a slow server is waited for, `meanwhile` runs. `accept` takes another user's git folder and a root, and asks git
    whether it accepts them; without `accept`, such a folder is refused.
    """
    unanswered.clear()
    if words == ["statusline"]:
        from brief.fastpath.statusline import run_statusline  # noqa: PLC0415 - only a status line needs it

        return run_statusline(accept)
    from brief.fastpath.arguments import read_arguments  # noqa: PLC0415 - a status line does not need it

    call = read_arguments(words)
    return _answer(call, meanwhile) if call is not None else None


def _answer(call: Arguments, meanwhile: Callable[[], object] | None) -> int | None:
    from brief.fastpath.ask import ask, why_declined  # noqa: PLC0415 - only once the arguments are read
    from brief.fastpath.lease import NoServerError, may_be_outdated, read_lease  # noqa: PLC0415 - likewise

    try:
        here = locate(call.root if call.root is not None else current_folder())
    except NotLocatedError:
        return None
    method, path, kind, *_ = call.entry
    params, body = _request(call, here)
    is_query = kind == "query"
    try:
        if not is_query and may_be_outdated(read_lease(here.common_dir), __version__):
            return None  # the whole command replaces an outdated server before it writes
        answer = ask(here.common_dir, method, path, params, body, meanwhile=meanwhile if is_query else None)
    except NoServerError as absence:
        if not is_query and absence.is_sent:
            print_error_line(f"it is unknown whether this was done: {absence}")
            return FAILED
        if is_query:
            unanswered[here.common_dir] = str(absence)
        return None
    if answer.status != 200:
        if not is_query:
            return None if answer.status in _UNDONE else _tell_problem(answer)
        declined = why_declined(answer)
        if declined is not None:
            unanswered[here.common_dir] = declined
        return None
    strict = answer.headers.get("majordomus-strict")
    if strict is None and is_query and (call.strict or call.command != "brief"):
        return None  # a server of an older version, which does not render text
    write_output(answer.body if answer.body.endswith(b"\n") else answer.body + b"\n")
    return int(strict) if call.strict and strict is not None else ANSWERED


def _request(call: Arguments, here: Located) -> tuple[list[tuple[str, str]], dict[str, object] | None]:
    """The query and body of a call. The format always goes into the query; the fields go where the method takes them."""
    from brief.fastpath.arguments import is_models_shell  # noqa: PLC0415 - it is loaded already

    fields = call.fields
    options = call.entry[6]
    if "--session" in options and not fields.get("session"):
        fields["session"] = os.environ.get("CLAUDE_CODE_SESSION_ID", "").strip() or None
    for field, kind, _ in options.values():
        if kind == "person" and not is_models_shell():
            fields[field] = True
    width = terminal_columns() if call.format == "text" and "width" not in fields else None
    form = [("format", call.format), *([] if width is None else [("width", str(width))])]
    given = {"root": here.name, **{name: value for name, value in fields.items() if value is not None}}
    if call.entry[0] == "POST":
        return form, given
    return [(name, _as_text(one)) for name, value in given.items() for one in _as_list(value)] + form, None


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tell_problem(answer: Answer) -> int | None:
    """Print the sentence with which the server refused a command, and return the exit code."""
    try:
        problem = answer.json()
        sentence, code = problem["error"], problem["exit_code"]
    except (ValueError, TypeError, KeyError):
        return None
    for line in str(sentence).splitlines():
        print_error_line(line)
    return int(code)


def terminal_columns() -> int | None:
    """The width of the terminal on standard output. None if it is not a terminal or its width is unknown."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None
