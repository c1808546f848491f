"""Run git so that it cannot change the repository, start a helper, hang the caller or flood it with output."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from brief.core.model.errors import GitError
from brief.fastpath.known import Known, Unknown
from brief.support.programs import environment_for, find_program

OLDEST = (2, 36)
"""The oldest git that is supported: the first with `worktree list -z`."""

_GIT = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    # We enter a git folder only after a checkout has named it, which is what this guard is for.
    "-c",
    "safe.bareRepository=all",
)
_SET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_MOST = 64 * 1024 * 1024
_MOST_MESSAGES = 65_536
_USAGE = 129
_running: set[subprocess.Popen[bytes]] = set()


IGNORED = re.compile(r"warning: ignoring (?:broken ref|dangling symref|ref with broken name) (refs/.+)", re.DOTALL)
"""The warning with which git leaves a ref out of a listing, and the ref."""


class GitTimeoutError(GitError):
    """Git did not answer before the deadline."""


def git_cwd(common_dir: str) -> str:
    """The folder to run git in, so that git finds the repository and checks its owner as it does for a person.

    Naming the repository by GIT_DIR instead would skip git's check of the owner.
    """
    parent, name = os.path.split(common_dir)
    return parent if name == ".git" else common_dir


def run(
    args: Sequence[str], cwd: str, *, deadline_s: float = 5.0, env: Mapping[str, str] | None = None, most: int = _MOST
) -> bytes:
    """Run `git ARGS` in `cwd` for at most `deadline_s` seconds. Returns what it prints, at most `most` bytes.

    `env` overrides the environment, as a quarantine needs. Raises GitTimeoutError at the deadline, else GitError.
    """
    return run_with_warnings(args, cwd, deadline_s=deadline_s, env=env, most=most)[0]


def run_with_warnings(
    args: Sequence[str], cwd: str, *, deadline_s: float = 5.0, env: Mapping[str, str] | None = None, most: int = _MOST
) -> tuple[bytes, tuple[str, ...]]:
    """Like `run`, but also returns the warnings and errors that git printed although it succeeded, line by line.

    If git leaves out of a listing what it cannot read, only these lines say so. They are as git wrote them, at most
    64 KiB in all; if there was more, a last line says so.
    """
    process = _start(args, cwd, env or {})
    _running.add(process)
    try:
        printed, messages = _drain(process, time.monotonic() + deadline_s, most)
    except TimeoutError as error:
        raise GitTimeoutError(f"git {args[0]} in {_clean(cwd)} gave no answer within {deadline_s:.3g} s") from error
    except OverflowError as error:
        raise GitError(f"git {args[0]} in {_clean(cwd)} printed more than {most:,} bytes") from error
    finally:
        _end(process)
        _running.discard(process)
    if process.returncode != 0:
        raise _make_error(args, cwd, process.returncode, messages)
    return printed, _read_warnings(messages)


def find_git(cwd: str) -> str:
    """The absolute path of the git to use for the repository around `cwd`, outside of it. Raises GitError."""
    found = find_program("git", cwd)
    if isinstance(found, Known):
        return found.value
    if isinstance(found, Unknown):
        raise GitError(f"git was not found on PATH: {_clean(found.reason)}; install git, or put it on PATH")
    raise GitError("no git on PATH outside the repository; install git, or put it on PATH")


def end_all() -> None:
    """Kill every git that this process started: one that hangs must not outlive the command that gave up on it."""
    for process in tuple(_running):
        if process.returncode is not None:  # its process id may have been reused
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _start(args: Sequence[str], cwd: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [find_git(cwd), *_GIT, *args],
            cwd=cwd,
            env={**environment_for(cwd), **_SET, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except ValueError as error:
        raise GitError(f"git {args[0]} cannot be given a name that contains NUL") from error
    except OSError as error:
        if not os.path.isdir(cwd):
            raise GitError(f"{_clean(cwd)} does not exist, so git cannot run in it") from error
        raise GitError(f"git cannot be started ({error.strerror}); install git, or put it on PATH") from error


def _drain(process: subprocess.Popen[bytes], end: float, most: int) -> tuple[bytes, bytes]:
    """Read both streams to their ends. Raises TimeoutError after `end`, OverflowError past `most` bytes of output."""
    printed, messages = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        for pipe, buffer in ((process.stdout, printed), (process.stderr, messages)):
            if pipe:
                selector.register(pipe, selectors.EVENT_READ, buffer)
        while selector.get_map():
            ready = selector.select(max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                chunk = os.read(key.fd, 65_536)
                if not chunk:
                    selector.unregister(key.fileobj)
                key.data.extend(chunk)
            del messages[_MOST_MESSAGES:]
            if len(printed) > most:
                raise OverflowError
    try:
        process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    return bytes(printed), bytes(messages)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group if it still runs, and close the pipes."""
    if process.returncode is None:  # not waited for yet, so its process id cannot have been reused
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses a group that has just ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def _read_warnings(messages: bytes) -> tuple[str, ...]:
    lines = (line for line in os.fsdecode(messages).split("\n") if line.startswith(("warning: ", "error: ")))
    return (*lines, *(["warning: further messages were cut off"] if len(messages) >= _MOST_MESSAGES else []))


def _make_error(args: Sequence[str], cwd: str, code: int, messages: bytes) -> GitError:
    text = messages.decode("utf-8", "replace")
    if "safe.directory" in text:
        return _make_refusal(cwd, text)
    if code == _USAGE and (old := _too_old(cwd)):
        return old
    if code < 0:
        return GitError(f"git {args[0]} in {_clean(cwd)} was ended by signal {-code}")
    first = next((line for line in text.splitlines() if not line.startswith("warning:")), "") or f"exit code {code}"
    return GitError(f"git {args[0]} failed in {_clean(cwd)}: {_clean(first.removeprefix('fatal: '))}")


def _make_refusal(cwd: str, text: str) -> GitError:
    named = re.search(r"--add safe\.directory (.+)", text)
    folder = named[1].strip() if named else shlex.quote(cwd)
    return GitError(
        f"git refuses {_clean(cwd)}, which belongs to another user; if you trust it, run "
        f"git config --global --add safe.directory {_clean(folder)}"
    )


def _too_old(cwd: str) -> GitError | None:
    """An error if the git on PATH is too old, else None. Called after git has refused its arguments."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        argv, env = [find_git(cwd), "--version"], environment_for(cwd)
        printed = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, timeout=5, check=False).stdout
        version = re.search(rb"(\d+)\.(\d+)[.\w]*", printed)
        if version and (int(version[1]), int(version[2])) < OLDEST:
            needed = ".".join(map(str, OLDEST))
            return GitError(f"git {version[0].decode()} is too old: install git {needed} or newer")
    return None


def _clean(text: str) -> str:
    """Foreign text for a sentence of ours: one line, no control characters, at most 300 characters."""
    return "".join(c if c.isprintable() else "?" for c in text)[:300]
