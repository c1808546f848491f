"""`hook wake`: a process that sleeps beside an idle session until its brief is due, and then wakes it.

A client that runs a hook with `asyncRewake` goes on meanwhile; once the hook exits with 2, what it wrote to standard error
is read to the model, also of a session that is idle. Whether and when that is due, the server says.
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
from brief.fastpath.locate import Located, NotLocatedError, has_policy, spelled
from brief.fastpath.output import printable, tell
from brief.fastpath.process import process_start
from brief.fastpath.program import isolated
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
"""How long it sleeps where no server has yet said how long."""

LEAST_SECONDS = 0.05
MOST_SECONDS = 3_600.0
"""How long it sleeps between two questions, whatever a server says."""

MOST_PROMPT = 16_384
"""Bytes that are taken for a prompt; what is longer was not written to wake a session."""

FAILURES_A_START = 3
"""How many questions without an answer come between two attempts to start a server."""


class Answer:
    """What a server said: a `prompt` to wake with, or after how many `seconds` to ask again, None for never.

    Raises ValueError, TypeError, KeyError or RecursionError where an answer says nothing of the kind.
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
    """The exit code: WOKEN once the prompt stands on standard error, OVER where this process is not to wait (any more).

    `accept` asks git about a git folder of another user, by the folder and a root.
    """
    try:
        return _waited(scope, accept)
    except KeyboardInterrupt:
        return OVER
    except Exception as fault:  # noqa: BLE001 - whatever happened, the session goes on
        tell(f"nobody is woken by this hook: {fault!r}")
        return OVER


def _waited(scope: str, accept: Callable[[str, str], bool]) -> int:
    since = time.monotonic()
    given = read_stdin(MOST_INPUT)
    try:
        call = read_call("stop", given, os.environ, until=0.0)
    except NotLocatedError:
        return OVER
    if not is_attended(call, os.environ) or not _is_accepted(call.here, accept):
        return OVER
    ends_turn = given.get("hook_event_name") == "Stop"
    given.clear()  # it holds what the model said, and this process sleeps for long
    return Waiter(call, since, {"scope": scope, **folders_of(os.environ)}, ends_turn=ends_turn).wait()


def _is_accepted(here: Located, accept: Callable[[str, str], bool]) -> bool:
    """Whether the git folder is the user's own, or git accepts it."""
    try:
        check_git_folder(here.common_dir)
    except UnprovenError:
        return accept(here.common_dir, here.root)
    except OSError:  # which each question tells anew
        return True
    return True


def is_attended(call: Call, env: Mapping[str, str]) -> bool:
    """Whether a session with a person before it asks: to any other its client would wait for this process to end."""
    is_interactive = (env.get("CLAUDE_CODE_SESSION_ATTENDED"), env.get("CLAUDE_CODE_ENTRYPOINT")) == ("1", "cli")
    return is_interactive and call.session is not None and call.pid is not None


def scope_of(words: list[str]) -> str | None:
    """For whom the words behind `hook wake` say that it was declared: without any, for the user; None for other words."""
    if not words:
        return USER
    return words[1] if words[:1] == ["--scope"] and words[1:] in ([USER], [PROJECT]) else None


def folders_of(env: Mapping[str, str]) -> dict[str, str]:
    """The client's folders, by which the server judges whose hook this is: the project's, and the person's own."""
    named = {"project": env.get("CLAUDE_PROJECT_DIR", ""), "config": env.get("CLAUDE_CONFIG_DIR", "")}
    return {name: spelled(folder) for name, folder in named.items() if os.path.isabs(folder)}


class Waiter:
    """One process that waits beside one session; of several, the server lets the one wait on that began last.

    `ends_turn` is whether it was started by the end of a turn, which it tells until it was heard: the session would stay
    busy, and not be woken. `channel` tells the server whose hook it is.
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
        """Ask and sleep in turns, for as long as the client lives and the repository has a policy."""
        while self._goes_on():
            answer = self._asked()
            if answer is not None and answer.prompt is not None:
                return self._woken(answer.prompt)
            if answer is not None and answer.seconds is None:
                return OVER
            time.sleep(self._seconds)
        return OVER

    def _goes_on(self) -> bool:
        return has_policy(self._call.here) and _is_alive(self._call.pid, self._began)

    def _asked(self) -> Answer | None:
        """What the server says; None where none does, which is seen to."""
        try:
            if self._owes_stop:
                self._owes_stop = self._post("/hooks", self._call.body()).status != ANSWERED
            answer = Answer(self._post("/episodes/wait", self._body))
        except (NoServerError, ValueError, TypeError, KeyError, RecursionError):
            self._unanswered()
            return None
        self._failures, self._ensures = 0, answer.ensures
        self._seconds = SLEEP_SECONDS if answer.seconds is None else max(LEAST_SECONDS, answer.seconds)
        return answer

    def _post(self, path: str, body: dict[str, object]) -> asking.Answer:
        return ask(self._call.here.common_dir, "POST", path, [], body, seconds=ASK_SECONDS)

    def _unanswered(self) -> None:
        """Start a server now and then, one start at a time, where the last one said that the policy wants one.

        It is asked ever less often: the last one may have said to ask in a second, and nobody may come for days.
        """
        self._seconds = min(2 * self._seconds, SLEEP_SECONDS)
        if self._start is not None and _has_ended(self._start):
            self._start = None
        if self._ensures and self._start is None and self._failures % FAILURES_A_START == 0:
            self._start = begin(self._call.here.name)
        self._failures += 1

    def _woken(self, prompt: bytes) -> int:
        sys.stderr.buffer.write(printable(prompt))
        sys.stderr.buffer.flush()
        return WOKEN


def begin(root: str) -> int | None:
    """Run `serve ensure` for a checkout and do not wait for it; its process, None where it could not be started."""
    argv = isolated("brief", "serve", "ensure", "--root", root)
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        return os.posix_spawn(sys.executable, argv, os.environ, file_actions=silence, setsid=True)
    except OSError:
        return None


def _has_ended(child: int) -> bool:
    """Whether a process of our own has; from then on its number may be another's."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True


def _is_alive(pid: int | None, began: int | None) -> bool:
    """Whether a client that may have told its process runs: it ended only where that is proven."""
    found = ABSENT if pid is None else process_start(pid)
    if isinstance(found, Known):
        return began is None or found.value == began
    return pid is None or found is not ABSENT
