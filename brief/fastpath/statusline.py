"""Print a client's status line: the server's line, or else the last known line with its age. The exit code is always 0.

Nothing is printed outside git, or in a repository that has no policy and never had a server.
"""

from __future__ import annotations

import os
import time

from brief.fastpath.ask import LINE_SECONDS, ask
from brief.fastpath.client import MOST_SESSION, folder_of, read_stdin, session_of, text_of
from brief.fastpath.lease import ForeignFolderError, NoServerError, is_stopped, state_dir
from brief.fastpath.locate import Located, NotLocatedError, has_policy, locate
from brief.fastpath.output import printable_text, write_output
from brief.fastpath.proof import check_git_folder, open_folder, open_in

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from collections.abc import Callable

MOST_INPUT = 1_048_576
MOST_COLUMNS = 10_000
PADDING = 4
"""How many of the reported columns Claude Code leaves free, two on each side. Its settings may increase that."""
_MOST_LINE = 65_536
SEPARATOR = " · "
NOBODY = f"brief ?{SEPARATOR}no server has answered here yet"
"""The line if no server has ever composed one."""

STOPPED_LINE = f"brief ?{SEPARATOR}stopped{SEPARATOR}majordomus serve ensure starts it"
"""The line while the server is stopped by a person's word."""


def run_statusline(accept: Callable[[str, str], bool] | None = None) -> int:
    """Read the client's status JSON from standard input and print one line. For `accept` see main.py."""
    given = read_stdin(MOST_INPUT)
    try:
        here = locate(folder_of(_find_folder(given)))
    except NotLocatedError:
        return 0
    session, columns = session_of(given.get("session_id")), _read_columns()
    try:
        line = _ask_line(here, session)
    except ForeignFolderError:
        is_accepted = accept is not None and accept(here.common_dir, here.root)
        line = _ask_line(here, session) if is_accepted else None
    line = line or last_known(here, session, time.time(), columns)
    if line or has_policy(here) or os.path.lexists(state_dir(here.common_dir)):
        _say(line or fit(STOPPED_LINE if is_stopped(here.common_dir) else NOBODY, columns))
    return 0


def _find_folder(given: dict[str, object]) -> object:
    workspace = given.get("workspace")
    named = workspace.get("current_dir") if isinstance(workspace, dict) else None
    return text_of(named) or given.get("cwd")


def _read_columns() -> int | None:
    """The width in which the client draws the line. None if it reports none, or 0 because it does not know."""
    named = os.environ.get("COLUMNS", "")
    if not (named.isascii() and named.isdigit() and len(named) <= len(str(MOST_COLUMNS))):
        return None
    columns = min(int(named), MOST_COLUMNS)
    return max(columns - PADDING, 1) if columns else None


def _ask_line(here: Located, session: str | None) -> str | None:
    params = [("root", here.name), ("format", "line")]
    columns = _read_columns()
    if columns is not None:
        params.append(("width", str(columns)))
    if session is not None:
        params.append(("session", session))
    try:
        answer = ask(here.common_dir, "GET", "/brief", params, seconds=LINE_SECONDS)
    except ForeignFolderError:
        raise
    except NoServerError:
        return None
    return answer.body.decode("utf-8", "replace").strip() if answer.status == 200 else None


def line_file(here: Located, session: str | None) -> str:
    """The file in which a server keeps the last line of a checkout or session. Its name is git's own and unique."""
    linked = here.git_dir != here.common_dir
    checkout = "worktree-" + os.path.basename(here.git_dir) if linked else "primary"
    return f"{state_dir(here.common_dir)}/lines/{checkout}{'~' + session if session else ''}"


def last_known(here: Located, session: str | None, now: float, columns: int | None) -> str | None:
    """The last line composed, after why it is not newer and its age. None if there is none. `now` is in seconds since 1970."""
    from brief.fastpath.age import ago  # noqa: PLC0415 - a fresh line needs no age

    named = [line_file(here, session)] if session is not None and is_plain(session) else []
    for path in (*named, line_file(here, None)):
        try:
            line, composed = _read_stored(here.common_dir, path)
        except OSError:
            continue
        if line:
            why = "stopped" if is_stopped(here.common_dir) else "no answer"
            return fit(f"{why}, as of {ago(now - composed)}{SEPARATOR}{line}", columns)
    return None


def _read_stored(common_dir: str, path: str) -> tuple[str, float]:
    """The line in a file and when it was written. Raises OSError if there is no file that is proven to be ours."""
    check_git_folder(common_dir)
    os.close(open_folder(state_dir(common_dir)))
    folder, _, name = path.rpartition("/")
    descriptor = open_in(folder, name)
    try:
        text = os.fsdecode(os.read(descriptor, _MOST_LINE))
        return printable_text(text.strip().partition("\n")[0]), os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)


def is_plain(session: str) -> bool:
    """Whether a session id can be part of a file name."""
    return "/" not in session and "\0" not in session and len(session) <= MOST_SESSION


def fit(line: str, columns: int | None) -> str:
    """Drop parts from the end of the line until it fits. The first part always stays whole."""
    parts = line.split(SEPARATOR)
    while columns is not None and len(parts) > 1 and _count_cells(SEPARATOR.join(parts)) > columns:
        parts.pop()
    return SEPARATOR.join(parts)


def _count_cells(text: str) -> int:
    import unicodedata  # noqa: PLC0415 - only an old line is measured here; the server measures its own

    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def _say(line: str) -> None:
    write_output(line.encode("utf-8", "replace") + b"\n")
