"""A sandbox for tests: a home, a runtime folder, and a real git repository with real linked worktrees."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import pytest

from brief.fastpath.ask import ask
from brief.fastpath.lease import NoServerError
from forked import SOURCE as SOURCE  # noqa: PLC0414 - so that it is a name of this module too
from forked import Forked, is_forkable

MODULE = (sys.executable, "-m", "brief")
"""The arguments that start the command from this source."""

COMMAND = "from brief.__main__ import run_command; run_command()"
SERVER = "from brief.server.__main__ import main; sys.exit(main(sys.argv[1], sys.argv[2], detached=True))"

_GRACE_S = 10.0
_NOBODY = 65_534


class Lab:
    """Everything that majordomus and git can see, in a folder of its own. `close` ends what was started in it.

    The folder is short, since the path of a Unix socket holds 104 bytes at most.
    """

    def __init__(self, name: str = "repo") -> None:
        self.base = Path(tempfile.mkdtemp(prefix="mj", dir="/tmp")).resolve()
        self.home, self.runtime, self.repo = self.base / "home", self.base / "run", self.base / name
        for folder in (self.home, self.runtime):
            folder.mkdir(mode=0o700)
        self.env = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "PYTHONPATH": str(SOURCE),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }
        self._servers: list[subprocess.Popen[str]] = []
        self.repo.mkdir()
        self.git("init", "-q", "-b", "main")

    @property
    def common_dir(self) -> str:
        """The git folder of all checkouts of the repository."""
        return str(self.repo / ".git")

    @property
    def state(self) -> Path:
        """The state folder of the repository."""
        return self.repo / ".git/majordomus"

    def git(self, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
        """Run git and return its output without the final line break; raises CalledProcessError."""
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.repo, env={**self.env, **(env or {})}, capture_output=True, check=True
        )
        return os.fsdecode(done.stdout.removesuffix(b"\n"))

    def commit(self, message: str = "change", *, cwd: Path | None = None, at: int | None = None, **files: str) -> str:
        """Commit the files (`a_txt="text"` writes a.txt) or an empty change at Unix second `at`; return the object name."""
        where = cwd or self.repo
        for name, text in files.items():
            (where / name.replace("_", ".")).write_text(text)
        dated = {} if at is None else {"GIT_AUTHOR_DATE": f"@{at} +0000", "GIT_COMMITTER_DATE": f"@{at} +0000"}
        self.git("add", "-A", cwd=where)
        self.git("commit", "-q", "--allow-empty", "-m", message, cwd=where, env=dated)
        return self.git("rev-parse", "HEAD", cwd=where)

    def worktree(self, name: str, branch: str | None = None, start: str = "HEAD") -> Path:
        """Add a linked worktree beside the repository, on a new branch of the same name unless another is named."""
        folder = self.base / name
        self.git("worktree", "add", "-q", "-b", branch or name, str(folder), start)
        return folder

    def majordomus(
        self,
        *args: str,
        cwd: Path | None = None,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        seconds: float = 60.0,
        spawn: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run the command from this source in its own process. Raises TimeoutExpired after this many seconds.

        It is forked from a process that has imported everything. `spawn` starts a new interpreter, as a person does: for
        what depends on how that starts and on what it imports.
        """
        whole = {**self.env, **(env or {})}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        named: dict[str, Any] = {"cwd": cwd or self.repo, "env": whole, "text": True, **pipes}
        is_forked = is_forkable(whole) and not spawn
        process = Forked(COMMAND, *args, **named) if is_forked else subprocess.Popen([*MODULE, *args], **named)
        with process:
            try:
                out, err = process.communicate(stdin, timeout=seconds)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def launch_server(self, patch: str = "", *, spawn: bool = False, root: Path | None = None) -> subprocess.Popen[str]:
        """Start a server of this repository, or of the one at `root`, in a session of its own, without waiting for it.

        It is forked as a command is. One that runs a `patch` before it imports anything is a new interpreter, since what
        is imported already has bound the names that the patch replaces; `spawn` asks for one too.
        """
        code = f"import sys\n{patch}\n{SERVER}"
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        named: dict[str, Any] = {"cwd": self.repo, "env": self.env, "text": True, "start_new_session": True, **pipes}
        words = (f"{root or self.repo}/.git", str(root or self.repo))
        process: subprocess.Popen[str]
        if patch or spawn or not is_forkable(self.env):
            process = subprocess.Popen([sys.executable, "-c", code, *words], **named)
        else:
            process = Forked(code, *words, **named)
        self._servers.append(process)
        return process

    def start_server(self, patch: str = "", *, spawn: bool = False, root: Path | None = None) -> subprocess.Popen[str]:
        """Start a server as `launch_server` does, and wait until it answers."""
        process = self.launch_server(patch, spawn=spawn, root=root)
        until(lambda: self.is_served(root) or process.poll() is not None)
        assert process.poll() is None, process.communicate()[1]
        return process

    def is_served(self, root: Path | None = None) -> bool:
        """Whether the server answers that the lease of this repository, or of the one at `root`, names."""
        where = root or self.repo
        try:
            return ask(f"{where}/.git", "GET", "/server", [("root", str(where))]).status == 200
        except NoServerError:
            return False

    def processes(self) -> list[int]:
        """The running processes that were started or forked with this lab's environment."""
        marker = f"XDG_RUNTIME_DIR={self.runtime}".encode()
        forked = {process.pid for process in self._servers if process.poll() is None}
        return [pid for pid in _all_processes() if pid in forked or marker in _environment_of(pid)]

    def close(self) -> None:
        """End every process of this lab, including servers that no lease names any more, and remove the folder."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            with contextlib.suppress(AssertionError):
                until(lambda: not self.processes(), _GRACE_S)
        for process in self._servers:
            with process:  # closes its pipes
                process.wait()
        shutil.rmtree(self.base, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _environment_of(pid: int) -> list[bytes]:
    """Return the environment of a process. Empty if the process has ended or belongs to another user."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def until(holds: Callable[[], object], seconds: float = 15.0) -> None:
    """Wait for a condition. Raises AssertionError if it does not come true in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"still not so after {seconds} s")
        time.sleep(0.02)


def unprivileged(work: Callable[[], Any]) -> Any:
    """What `work` returns, which JSON can carry, in a process to which the modes of files apply: root becomes nobody."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), open(writing, "w", encoding="utf-8") as told:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(_NOBODY)
                os.setuid(_NOBODY)
            json.dump(work(), told)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as heard:
        answer = heard.read()
    os.waitpid(child, 0)
    return json.loads(answer)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A lab whose environment is also that of this process, so that code called in the test sees the same git."""
    with Lab() as made:
        for name in ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
            monkeypatch.setenv(name, made.env[name])
        yield made
