"""Run a client's hook: print one JSON document that its session must read, or nothing. It always exits 0, and in time.

The client waits for its hooks, and some exit codes discard the person's prompt. So no fault here may stop the session.
"""

from __future__ import annotations

import os
import sys
import time

from brief.fastpath.ask import ask
from brief.fastpath.client import folder_of, read_stdin, session_of, text_of
from brief.fastpath.jsontext import write_json
from brief.fastpath.lease import ForeignFolderError, NoServerError
from brief.fastpath.locate import Located, NotLocatedError, locate
from brief.fastpath.output import OutputError, print_error_line, stop_output, write_output

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    import signal
    from collections.abc import Callable, Mapping
    from types import FrameType

    Alone = Callable[["Call", str], tuple[str, Callable[[], object]]]
    """Compose without a server: from the call and why no server answered, to the text and a function that records that
    it was read."""
else:
    try:
        import _signal as signal  # the module signal wraps this one in enums, which takes 4 ms more
    except ImportError:  # it is not a public module
        import signal

ALL_SECONDS = 1.9
"""How long a hook may run. The interpreter needs the rest of 2 s to start and to end."""

LEAST_SECONDS = 0.05
"""The least time kept for recording that the document was read, if this process composed it."""

ASK_SECONDS = 0.5
MOST_INPUT = 32 * 1024 * 1024
MOST_WORD = 100

EVENTS = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "stop": "Stop",
    "session-end": "SessionEnd",
}
"""Every event, and its name in a client."""

WAKE_OPENS = "Majordomus, not the user:"
"""The beginning of every prompt that wakes a session."""

OF_THE_CLIENT = "<task-notification>"
"""The beginning of a prompt that the client itself wrote, as it does when a hook wakes a session."""

WAKE = "wake"
"""The event at which a client starts the process that waits to wake its session; see waiting.py."""

SPEAKING = ("session-start", "user-prompt-submit")
"""The events at which a session reads text from its hook."""


class UnknownEventError(Exception):
    """The command names no known event. The message lists the events."""


class Call:
    """What a hook reports: the `event`, the checkout, and the usable fields of the client's JSON.

    `until` is the time on the monotonic clock by which the hook must end.
    """

    __slots__ = ("event", "here", "pid", "provider", "reason", "session", "source", "speaker", "until")

    def __init__(self, event: str, here: Located, until: float) -> None:
        self.event = event
        self.here = here
        self.until = until
        self.pid: int | None = None
        self.provider = "unknown"
        self.reason: str | None = None
        self.session: str | None = None
        self.source: str | None = None
        self.speaker: str | None = None

    def body(self) -> dict[str, object]:
        """The request body for a server, without the fields that have no value."""
        named = {name: getattr(self, name) for name in ("session", "source", "provider", "pid", "reason", "speaker")}
        known = {name: value for name, value in named.items() if value is not None}
        return {"root": self.here.name, "event": self.event, **known}


def run_hook(words: list[str], alone: Alone, meanwhile: Callable[[], object] | None = None) -> int:
    """Read the client's JSON from standard input, report it to the server, and print what the session must read.

    While a slow server is waited for, `meanwhile` prepares what `alone` would need.
    """
    until = time.monotonic() + ALL_SECONDS
    _end_by_then()
    try:
        event = _find_event(words)
        context, note = _ask_context(event, until, alone, meanwhile)
    except UnknownEventError as fault:
        print_error_line(f"the hook did nothing: {fault}")
        return 0
    except Exception as fault:  # noqa: BLE001 - no fault may stop the session
        print_error_line(f"the hook did nothing: {fault!r}")
        return 0
    signal.setitimer(signal.ITIMER_REAL, 0)  # a document is never cut in half
    if context and _say(event, context):
        signal.setitimer(signal.ITIMER_REAL, max(LEAST_SECONDS, until - time.monotonic()))
        note()
    return 0


def _end_by_then() -> None:
    """Make this process exit 0 and silently in time, whatever hangs and whoever interrupts it."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - handlers receive both
        os._exit(0)

    signal.signal(signal.SIGALRM, end)
    signal.signal(signal.SIGINT, end)
    signal.setitimer(signal.ITIMER_REAL, ALL_SECONDS)


def _find_event(words: list[str]) -> str:
    """The event that the words name, in our spelling or in a client's. Raises UnknownEventError."""
    for event, name in EVENTS.items():
        if words in ([event], [name]):
            return event
    named = f"{' '.join(words)[:MOST_WORD]} is not an event" if words else "no event is named"
    raise UnknownEventError(f"{named}; name one of {', '.join((*EVENTS, WAKE))}")


def record_nothing() -> None:
    """Record nothing, because a server records by itself which of its answers was read."""


def _ask_context(
    event: str, until: float, alone: Alone, meanwhile: Callable[[], object] | None
) -> tuple[str, Callable[[], object]]:
    given = read_stdin(MOST_INPUT)
    try:
        call = read_call(event, given, os.environ, until)
    except NotLocatedError:
        return "", record_nothing
    try:
        return ask_server(call, meanwhile if event in SPEAKING else None), record_nothing
    except (NoServerError, ValueError) as absence:
        is_for_whole = event in SPEAKING or isinstance(absence, ForeignFolderError)
        return alone(call, str(absence)) if is_for_whole else ("", record_nothing)


def read_call(event: str, given: Mapping[str, object], env: Mapping[str, str], until: float) -> Call:
    """Build the call from a client's JSON and environment. Raises NotLocatedError outside a checkout."""
    call = Call(event, locate(folder_of(given.get("cwd"))), until)
    call.session = session_of(given.get("session_id")) or session_of(env.get("CLAUDE_CODE_SESSION_ID"))
    call.source = _read_word(given.get("source"))
    call.reason = _read_word(given.get("reason"))
    call.speaker = _find_speaker(given.get("prompt"))
    if "CLAUDECODE" in env and call.session == env.get("CLAUDE_CODE_SESSION_ID", call.session):
        # A client that was started from within another session inherits its environment, but has an id of its own.
        call.provider = "claude-code"
        call.pid = _parse_pid(env.get("CLAUDE_PID", ""))
    return call


def _find_speaker(prompt: object) -> str | None:
    """Who wrote a prompt: `client`, or `wake` if it is a wake of ours. None for a person."""
    text = prompt if isinstance(prompt, str) else ""
    is_of_client = text.startswith(OF_THE_CLIENT)
    if text.startswith(WAKE_OPENS) or (is_of_client and WAKE_OPENS in text):
        return "wake"
    return "client" if is_of_client else None


def _read_word(value: object) -> str | None:
    named = text_of(value)
    return named if named and named.isprintable() and len(named) <= MOST_WORD else None


def _parse_pid(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= 10
    return int(text) if is_number and 0 < int(text) < 2**31 else None


def ask_server(call: Call, meanwhile: Callable[[], object] | None = None) -> str:
    """The text that the server gives for a call. Raises NoServerError or ValueError if its answer is unusable."""
    answer = ask(call.here.common_dir, "POST", "/hooks", [], call.body(), seconds=ASK_SECONDS, meanwhile=meanwhile)
    said = answer.json() if answer.status == 200 else None
    if not isinstance(said, dict) or not isinstance(said.get("context"), str):
        raise NoServerError(f"the server did not accept the hook: it answered {answer.status}")
    context: str = said["context"]
    return context


def _say(event: str, context: str) -> bool:
    """Print the document. False if it could not be written."""
    document = {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": context}}
    if sys.stdout is None:
        return False
    try:
        write_output(write_json(document).encode() + b"\n")
    except OutputError as fault:
        stop_output(fault)
        return False
    return True
