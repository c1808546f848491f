"""What runs at every prompt and every refresh: reach the server, print what it says, and be gone."""

from __future__ import annotations

import os
import sys

from brief.fastpath.locate import NotLocatedError, current_folder, locate
from brief.fastpath.output import put
from brief.fastpath.words import Call, read_call

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from collections.abc import Callable

ANSWERED = 0
NOT_ALL_READ = 10

unanswered: dict[str, str] = {}
"""Why no server answered this process, by git folder: the whole command waits for none of them a second time."""


def run(words: list[str], meanwhile: Callable[[], object] | None = None) -> int | None:
    """The exit code of a call this path could answer; None where the whole command must.

    Where a server is silent, `meanwhile` is done while it is waited for.
    """
    unanswered.clear()
    if words[:1] == ["brief"]:
        call = read_call(words[1:])
        return _brief(call, meanwhile) if call is not None else None
    if words == ["statusline"]:
        from brief.fastpath.statusline import statusline  # noqa: PLC0415 - a brief needs none of it

        return statusline()
    return None


def _brief(call: Call, meanwhile: Callable[[], object] | None) -> int | None:
    from brief.fastpath.ask import ask  # noqa: PLC0415 - read_call decides first whether anybody is asked
    from brief.fastpath.lease import NoServerError  # noqa: PLC0415 - likewise

    call.session = call.session or os.environ.get("CLAUDE_CODE_SESSION_ID") or None
    call.format = call.format or "text"
    if call.width is None and call.format == "text":
        columns = terminal_columns()
        call.width = None if columns is None else str(columns)
    try:
        here = locate(call.root if call.root is not None else current_folder())
    except NotLocatedError:
        return None
    try:
        answer = ask(here.common_dir, "GET", "/brief", call.params(here.name), meanwhile=meanwhile)
    except NoServerError as absence:
        unanswered[here.common_dir] = str(absence)
        return None
    if answer.status != 200:
        return None
    put(answer.body if answer.body.endswith(b"\n") else answer.body + b"\n")
    unsatisfied = call.strict and answer.headers.get("majordomus-read") != "in-full"
    return NOT_ALL_READ if unsatisfied else ANSWERED


def terminal_columns() -> int | None:
    """How wide the terminal is that is printed to; None where it is none, or one that does not say."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None
