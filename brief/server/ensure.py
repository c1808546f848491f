"""Make sure that a repository has a server: find it or start it, even if many processes do so at once."""

from __future__ import annotations

import os
import subprocess
import time
from typing import Any, NamedTuple

from brief.core.model.errors import MajordomusError, NoServerError
from brief.core.text.sanitize import clean
from brief.fastpath import ask as fast
from brief.fastpath import lease as leases
from brief.fastpath.known import ABSENT, Known
from brief.fastpath.lease import state_dir
from brief.fastpath.locate import Located
from brief.fastpath.process import boot_id, describe_process, recorded_process
from brief.fastpath.program import isolated_command
from brief.fastpath.reach import LOCK, held_lock, why_out_of_reach
from brief.server import HELD
from brief.server.lock_holder import end_holder
from brief.support.files import reason_of, replace
from brief.support.programs import environment_for
from brief.support.state_folder import prove_state

START_SECONDS = 20.0
SILENT_SECONDS = 10.0
REACH_SECONDS = 1.2
"""How long the socket of a holder in another namespace may take to appear here."""

STEP_SECONDS = 0.05
RETRY_SECONDS = 0.3
PING_SECONDS = 1.0
STOP_SECONDS = 10.0


class StartError(MajordomusError):
    """A server was started and ended at once. The message says why."""


class StoppedError(NoServerError):
    """A person stopped the server, and this call may not start it again."""


class Ensured(NamedTuple):
    """A server that answers: its status, whether this call started it, and why an outdated one was not replaced."""

    status: dict[str, Any]
    started: bool
    stays: str | None = None


def ensure(here: Located) -> Ensured:
    """Find the server of the repository, or start one. If several processes start one, one wins and all find it.

    A holder that is silent for 10 s is killed once it is proven to be our server of this repository. An outdated holder is
    replaced unless it is still needed, and one that is ending is waited for. Raises StartError with what the started
    process printed, and NoServerError if the holder is out of reach or must not be killed, or if none answered in time.
    """
    begun = time.monotonic()
    silent_until = begun + SILENT_SECONDS
    start: subprocess.Popen[bytes] | None = None
    while True:
        status, why, is_silent = _ask_lasting_holder(here)
        if status is not None:
            if start is not None or not status.get("outdated"):
                return Ensured(status, started=start is not None and start.pid == status["pid"])
            stays = _end_outdated(here)
            if stays is not None:
                return Ensured(status, started=False, stays=stays)
            continue
        now = time.monotonic()
        if now > begun + START_SECONDS + SILENT_SECONDS:
            raise NoServerError(f"no server answered within {now - begun:.0f} s: {why}")
        if start is None:
            _refuse_out_of_reach(here, waited=now > begun + REACH_SECONDS)
            start = _start(here)
        elif start.poll() is not None:
            _refuse_failed(start)
            if not is_silent:
                silent_until = now + SILENT_SECONDS
            elif now > silent_until:
                _end_silent(here, why)
                silent_until = now + SILENT_SECONDS
            time.sleep(RETRY_SECONDS)
            start = None
        time.sleep(STEP_SECONDS)


def ping(here: Located) -> tuple[dict[str, Any] | None, str]:
    """The status of the lease holder, or None and why none answers."""
    status, why, _ = _ask_holder(here)
    return status, why


def _ask_lasting_holder(here: Located) -> tuple[dict[str, Any] | None, str, bool]:
    """Like `_ask_holder`, but wait for the end of a holder that is ending; then there is none."""
    status, why, is_silent = _ask_holder(here)
    if status is None or not status.get("ends_because"):
        return status, why, is_silent
    _await_end(status, STOP_SECONDS)
    return None, clean(str(status["ends_because"]), 400), False


def _ask_holder(here: Located) -> tuple[dict[str, Any] | None, str, bool]:
    """The status of the lease holder, or None and why none answers, and whether the holder was silent."""
    try:
        answer = fast.ask(here.common_dir, "GET", "/server", [("root", here.name)], seconds=PING_SECONDS)
        status = answer.json()
    except leases.NoServerError as fault:
        return None, str(fault), True
    except ValueError:
        return None, "the answer is not JSON", True
    declined = fast.why_declined(answer)
    if declined is not None:
        return None, clean(declined, 400), False
    if answer.status != 200 or not isinstance(status, dict):
        return None, f"the answer is {answer.status}: {clean(str(status))}", True
    if status.get("lease") != "holds":
        return None, f"epoch {status.get('epoch')} is {clean(str(status.get('lease')))}", True
    return status, "", False


def _start(here: Located) -> subprocess.Popen[bytes]:
    prove_state(leases.state_dir(here.common_dir))
    return subprocess.Popen(
        isolated_command("brief.server", here.common_dir, here.root),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        env=_environment(here.root),
    )


def _environment(root: str) -> dict[str, str]:
    """The caller's environment without variables that steer Python or git, belong to its session, or lead into the repository.

    A server answers for all sessions and may outlive the folder it was started in. A config folder inside the repository is
    passed on, because the server must recognize it and trust nothing in it, as a command does. git does not receive it.
    """
    kept = ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME")
    named = environment_for(root) | {name: os.environ[name] for name in kept if name in os.environ}
    return {name: value for name, value in named.items() if name in kept or not name.startswith("CLAUDE")}


def _refuse_failed(start: subprocess.Popen[bytes]) -> None:
    """Raise StartError with the output of a start that ended, unless it only found the lease taken."""
    if start.returncode in (0, HELD):
        return
    said = start.stderr.read().decode("utf-8", "replace") if start.stderr else ""
    raise StartError(clean(said, 1_000) or f"the server ended at once with code {start.returncode}")


def _refuse_out_of_reach(here: Located, *, waited: bool) -> None:
    """Raise NoServerError if the holder runs elsewhere, such as in another container, and cannot be reached from here."""
    held = held_lock(here.common_dir)
    unreachable = why_out_of_reach(here.common_dir, held.value, waited=waited) if isinstance(held, Known) else None
    if unreachable is not None:
        raise NoServerError(unreachable)


def _end_silent(here: Located, silence: str) -> None:
    """Kill the silent holder. Raises NoServerError if it is not proven to be our server."""
    doubt = end_holder(here.common_dir)
    if doubt is not None:  # it may be ending right now
        time.sleep(RETRY_SECONDS)
        doubt = end_holder(here.common_dir)
    if doubt is not None:
        raise NoServerError(
            f"{silence}. The process that holds {state_dir(here.common_dir)}/{LOCK} was not killed, because {doubt}; "
            "lslocks names it, so that you can end it"
        )


def _end_outdated(here: Located) -> str | None:
    """Ask the holder to end if it is outdated and idle. Returns why it stays, or None if it ended or was replaced."""
    inputs = {"root": here.name, "if_outdated": True}
    try:
        answer = fast.ask(here.common_dir, "POST", "/server/stop", [], inputs, seconds=PING_SECONDS)
        status = answer.json()
    except (leases.NoServerError, ValueError):
        return None  # it is ending, or hangs, which the next round finds out
    if answer.status != 200:
        return clean(str(status.get("error")), 400)
    if status["outdated"]:
        _await_end(status, STOP_SECONDS)
    return None


def refuse_stopped(here: Located) -> None:
    """Raise StoppedError if a person stopped the server."""
    if leases.is_stopped(here.common_dir):
        raise StoppedError(leases.STOPPED)


def mark_stopped(common_dir: str) -> None:
    """Let no command but `serve ensure`, `serve run` and a person's writing commands start a server until the next boot.

    Nothing is marked where there is no state folder. Raises UnprovenStateError, and NoServerError if nothing can be marked.
    """
    folder = state_dir(common_dir)
    if not os.path.isdir(folder):
        return
    prove_state(folder)
    boot, mark = boot_id(), f"{folder}/{leases.STOP_MARK}"
    try:
        replace(mark, boot.value.encode() if isinstance(boot, Known) else b"")
    except OSError as fault:
        raise NoServerError(
            f"the server was stopped, but a hook may start it again, since {mark} cannot be written ({reason_of(fault)}); "
            "move it away and stop it again"
        ) from None


def stop(here: Located, seconds: float = STOP_SECONDS) -> dict[str, Any] | None:
    """End the server and wait until it has ended. Returns its last status, or None if there is no server.

    Raises NoServerError if it answers but does not end, or holds the lease but does not answer.
    """
    try:
        answer = fast.ask(here.common_dir, "POST", "/server/stop", [], {"root": here.name})
    except leases.NoServerError as silence:
        if held_lock(here.common_dir) is not ABSENT:
            raise NoServerError(f"not stopped: {silence}") from None
        return None
    if answer.status != 200:
        raise NoServerError(f"not stopped: {clean(str(answer.json()), 400)}")
    status: dict[str, Any] = answer.json()
    _await_end(status, seconds)
    return status


def _await_end(status: dict[str, Any], seconds: float) -> None:
    record = describe_process(status["pid"])
    deadline = time.monotonic() + seconds
    while recorded_process(record) is not ABSENT:
        if time.monotonic() > deadline:
            raise NoServerError(f"pid {status['pid']} was asked to end and still runs after {seconds:.0f} s")
        time.sleep(STEP_SECONDS)
