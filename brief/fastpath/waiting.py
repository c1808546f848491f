"""`hook wake`: a process that sleeps beside an idle session and wakes it when its brief is due.

A client that runs a hook with `asyncRewake` does not wait for it. Once the hook exits with 2, the client gives its standard
error to the model, even if the session is idle. The server decides whether and when that is due.
"""

from __future__ import annotations

import os
import sys
import time

from brief.fastpath.ask import ask
from brief.fastpath.client import read_stdin
from brief.fastpath.hook import MOST_INPUT, Call, read_call
from brief.fastpath.known import ABSENT, Known
from brief.fastpath.lease import NoServerError
from brief.fastpath.locate import Located, NotLocatedError, has_policy, spell_path
from brief.fastpath.output import print_error_line, printable_bytes
from brief.fastpath.process import process_since, process_start
from brief.fastpath.program import isolated_command
from brief.fastpath.proof import UnprovenError, check_git_folder

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from collections.abc import Callable, Mapping

    from brief.fastpath import ask as asking

ANSWERED = 200

WOKEN = 2
OVER = 0

USER, PROJECT = "user", "project"

ASK_SECONDS = 2.0
SLEEP_SECONDS = 60.0
"""How long to sleep until a server has said how long."""

LEAST_SECONDS = 0.05
MOST_SECONDS = 3_600.0
"""The longest sleep between two questions, whatever a server says."""

MOST_PROMPT = 16_384
"""The most bytes a prompt may have. A longer one was not written to wake a session."""

FAILURES_A_START = 3
"""How many unanswered questions separate two attempts to start a server."""


class Answer:
    """A server's answer: a `prompt` to wake the session with, or after how many `seconds` to ask again (None: never).

    Raises ValueError, TypeError, KeyError or RecursionError if the answer is anything else.
    """

    __slots__ = ("ensures", "prompt", "seconds")

    def __init__(self, answer: asking.Answer) -> None:
        if answer.status != ANSWERED:
            raise ValueError(answer.status)
        document = answer.json()
        prompt, again = document["prompt"], document["again_seconds"]
        self.prompt: bytes | None = None if prompt is None else str.encode(prompt["text"])
        self.seconds: float | None = None if again is None else float(again)
        self.ensures: bool = document["ensures"] is True
        if self.seconds is not None and not 0 <= self.seconds <= MOST_SECONDS:
            raise ValueError(again)
        if self.prompt is not None and not 0 < len(self.prompt) <= MOST_PROMPT:
            raise ValueError(len(self.prompt))


def wait(scope: str, accept: Callable[[str, str], bool]) -> int:
    """Wait until the session must be woken. Returns WOKEN once the prompt is on standard error, OVER to stop waiting.

    `accept` takes another user's git folder and a root, and asks git whether it accepts them.
    """
    try:
        return _wait_for_wake(scope, accept)
    except KeyboardInterrupt:
        return OVER
    except Exception as fault:  # noqa: BLE001 - no fault may stop the session
        print_error_line(f"this hook wakes nobody: {fault!r}")
        return OVER


def _wait_for_wake(scope: str, accept: Callable[[str, str], bool]) -> int:
    since = time.monotonic()
    given = read_stdin(MOST_INPUT)
    try:
        call = read_call("stop", given, os.environ, until=0.0)
    except NotLocatedError:
        return OVER
    if not is_attended(call, os.environ) or not _is_accepted(call.here, accept):
        return OVER
    ends_turn = given.get("hook_event_name") == "Stop"
    given.clear()  # it holds what the model said, and this process sleeps for a long time
    return Waiter(call, since, {"scope": scope, **folders_of(os.environ)}, ends_turn=ends_turn).wait()


def _is_accepted(here: Located, accept: Callable[[str, str], bool]) -> bool:
    """Whether the git folder belongs to the user, or git accepts it."""
    try:
        check_git_folder(here.common_dir)
    except UnprovenError:
        return accept(here.common_dir, here.root)
    except OSError:  # every question to the server reports it again
        return True
    return True


def is_attended(call: Call, env: Mapping[str, str]) -> bool:
    """Whether a person attends the session. In any other session the client would wait for this process to end."""
    is_interactive = (env.get("CLAUDE_CODE_SESSION_ATTENDED"), env.get("CLAUDE_CODE_ENTRYPOINT")) == ("1", "cli")
    return is_interactive and call.session is not None and call.pid is not None


def scope_of(words: list[str]) -> str | None:
    """The scope in which the hook was declared, by the words after `hook wake`: the user's by default. None if invalid."""
    if not words:
        return USER
    return words[1] if words[:1] == ["--scope"] and words[1:] in ([USER], [PROJECT]) else None


def folders_of(env: Mapping[str, str]) -> dict[str, str]:
    """The client's project folder and configuration folder, from which the server decides whose hook this is."""
    named = {"project": env.get("CLAUDE_PROJECT_DIR", ""), "config": env.get("CLAUDE_CONFIG_DIR", "")}
    return {name: spell_path(folder) for name, folder in named.items() if os.path.isabs(folder)}


class Waiter:
    """A process that waits beside one session. If there are several, the server lets only the latest wait on.

    `ends_turn` is whether the end of a turn started it. It reports that until the server has heard it, since otherwise the
    session would count as busy and not be woken. `channel` says whose hook this is.
    """

    def __init__(self, call: Call, since: float, channel: Mapping[str, str], *, ends_turn: bool) -> None:
        self._call = call
        self._owes_stop = ends_turn
        began = ABSENT if call.pid is None else process_start(call.pid)
        self._began = began.value if isinstance(began, Known) else None
        self._body: dict[str, object] = {
            "root": call.here.name,
            "session": call.session,
            "provider": call.provider,
            "pid": call.pid,
            "process_start": self._began,
            "since": since,
            **channel,
        }
        self._seconds = SLEEP_SECONDS
        self._ensures = False
        self._failures = 0
        self._start: int | None = None

    def wait(self) -> int:
        """Ask and sleep in turn, for as long as the client lives and the repository has a policy."""
        while self._goes_on():
            answer = self._ask_server()
            if answer is not None and answer.prompt is not None:
                return self._wake_session(answer.prompt)
            if answer is not None and answer.seconds is None:
                return OVER
            time.sleep(self._seconds)
        return OVER

    def _goes_on(self) -> bool:
        return has_policy(self._call.here) and _is_alive(self._call.pid, self._began)

    def _ask_server(self) -> Answer | None:
        """Ask the server. None if there was no answer, which then counts as a failure."""
        try:
            if self._owes_stop:
                self._owes_stop = self._post("/hooks", self._call.body()).status != ANSWERED
            answer = Answer(self._post("/episodes/wait", self._body))
        except (NoServerError, ValueError, TypeError, KeyError, RecursionError):
            self._start_server_now_and_then()
            return None
        self._failures, self._ensures = 0, answer.ensures
        self._seconds = SLEEP_SECONDS if answer.seconds is None else max(LEAST_SECONDS, answer.seconds)
        return answer

    def _post(self, path: str, body: dict[str, object]) -> asking.Answer:
        return ask(self._call.here.common_dir, "POST", path, [], body, seconds=ASK_SECONDS)

    def _start_server_now_and_then(self) -> None:
        """Start a server now and then, one start at a time, if the last server said that the policy wants one.

        Back off exponentially: the last server may have said to ask within a second, and nobody may answer for days.
        """
        self._seconds = min(2 * self._seconds, SLEEP_SECONDS)
        if self._start is not None and _has_ended(self._start):
            self._start = None
        if self._ensures and self._start is None and self._failures % FAILURES_A_START == 0:
            self._start = start_server(self._call.here.name)
        self._failures += 1

    def _wake_session(self, prompt: bytes) -> int:
        sys.stderr.buffer.write(printable_bytes(prompt))
        sys.stderr.buffer.flush()
        return WOKEN


def start_server(root: str) -> int | None:
    """Start `serve ensure` for a checkout without waiting for it. Returns its process, None if it could not start."""
    argv = isolated_command("brief", "serve", "ensure", "--unless-stopped", "--root", root)
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        return os.posix_spawn(sys.executable, argv, os.environ, file_actions=silence, setsid=True)
    except OSError:
        return None


def _has_ended(child: int) -> bool:
    """Whether a child process has ended. From then on its number may belong to another process."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True


def _is_alive(pid: int | None, began: int | None) -> bool:
    """Whether the client runs. A client without a known process counts as alive, and so does one not proven gone."""
    return pid is None or process_since(pid, began) is not ABSENT
