"""The measured repositories: real ones with worktrees, notices, sessions and a server each."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from brief.core.policy.names import POLICY_FILE
from brief.fastpath.ask import ask
from brief.fastpath.lease import NoServerError
from brief.fastpath.locate import locate
from brief.fastpath.program import isolated_command
from sandbox import Lab

COMMAND = str(Path(sys.executable).with_name("majordomus"))
SESSION = "6f1d2c84-8f1e-4b1e-9a53-0d5e7c1f9b10"
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
_FILES = 500


class Scene(Lab):
    """A repository of 500 files with `worktrees` linked work trees and `notices` notices; no server runs at first.

    A `policy` is committed, so that every checkout has it.
    """

    def __init__(self, worktrees: int = 0, notices: int = 0, files: int = _FILES, policy: str = "") -> None:
        super().__init__()
        # The command is run as installed, so that it finds its package by itself.
        del self.env["PYTHONPATH"]
        for number in range(files):
            (self.repo / f"file-{number}.txt").write_text(f"{number}\n")
        if policy:
            write_policy(self.repo, policy)
        self.commit("begin")
        for number in range(worktrees):
            self.worktree(f"tree-{number}")
        self.active = self.state / "notices/active"
        self.active.mkdir(parents=True)
        for number in range(notices):
            (self.active / f"notice-{number}.md").write_text(_notice(number))

    def serve(self) -> None:
        """Start the server unless it is running."""
        done = self.majordomus("serve", "ensure")
        if done.returncode != 0:
            raise RuntimeError(f"serve ensure: {done.stderr}")

    @contextlib.contextmanager
    def patched(self, patch: str) -> Iterator[None]:
        """Run a server that executes `patch` first, for the duration of the block."""
        run = "import sys\nfrom brief.server.__main__ import main\nsys.exit(main(sys.argv[1], sys.argv[2], detached=True))"
        argv = [sys.executable, "-P", "-c", f"{patch}\n{run}", self.common_dir, str(self.repo)]
        with subprocess.Popen(argv, env=self.env, cwd="/", start_new_session=True) as process:
            try:
                wait_for_answer(self.common_dir)
                yield
            finally:
                process.terminate()

    def stop(self) -> None:
        """Stop the server."""
        self.majordomus("serve", "stop")

    def ask(self, path: str, **params: str) -> Any:
        """Ask the server over a new connection."""
        return ask(self.common_dir, "GET", path, [("root", str(self.repo)), *params.items()], seconds=10).json()

    @property
    def roots(self) -> list[Path]:
        """Return every checkout, the primary one first."""
        return [self.repo, *sorted(self.base.glob("tree-*"))]

    def open_sessions(self, count: int) -> list[str]:
        """Open this many episodes, spread over the checkouts, and return their ids."""
        roots, ids = self.roots, [session_id(number) for number in range(count)]
        for number, session in enumerate(ids):
            body = {"root": str(roots[number % len(roots)]), "session": session, "provider": "claude-code"}
            answer = ask(self.common_dir, "POST", "/episodes", [], body)
            if answer.status != 200:
                raise RuntimeError(answer.body.decode())
        return ids

    @property
    def lease(self) -> dict[str, Any]:
        """Return the content of the server's lease."""
        told: dict[str, Any] = json.loads((self.state / "lease.json").read_text())
        return told

    @property
    def server(self) -> Server:
        """The process of the server."""
        return Server(self.lease["pid"])

    def touch_notice(self) -> None:
        """Outdate the cached brief by touching a notice."""
        os.utime(self.active / "notice-0.md")

    def recompose(self) -> None:
        """Make the server compose a brief anew."""
        self.touch_notice()
        self.ask("/brief")

    def status_json(self) -> Path:
        """Return a file with the JSON that Claude Code gives to a status line command."""
        path = self.base / "status.json"
        path.write_text(json.dumps(_status(str(self.repo))))
        return path


class Server:
    """A server as the kernel sees it from outside."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def cpu_ms(self) -> float:
        """CPU time since the server began, in steps of the kernel's tick (10 ms)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * _TICK_MS

    def rss_mb(self) -> float:
        """Resident memory, in units of 10^6 bytes."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        kibibytes = next(int(text.split()[1]) for text in lines if text.startswith("VmRSS:"))
        return kibibytes * 1024 / 1e6


def session_id(number: int) -> str:
    """Return the id of the session with this number."""
    return str(uuid.UUID(int=number + 1, version=4))


def write_policy(root: Path, text: str) -> None:
    """Write this policy into a checkout."""
    path = root / POLICY_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def wait_for_answer(common_dir: str, seconds: float = 20.0) -> None:
    """Wait until a server answers for the repository."""
    here = locate(os.path.dirname(common_dir))
    end = time.monotonic() + seconds
    while True:
        try:
            ask(common_dir, "GET", "/server", [("root", here.name)])
        except NoServerError:
            if time.monotonic() > end:
                raise
            time.sleep(0.002)
        else:
            return


def server_argv(scene: Scene) -> Sequence[str]:
    """The command line with which `serve ensure` starts a server."""
    return isolated_command("brief.server", scene.common_dir, str(scene.repo))


def _notice(number: int) -> str:
    kind = ("courtesy", "reminder", "alert", "bug-dep", "lock")[number % 5]
    body = "\n".join(f"Line {each} of what a session wanted the others to know." for each in range(6))
    return (
        f"---\nkind: {kind}\ntitle: Notice {number} of a session to the others\npriority: {number % 11}\n"
        f"severity: high\ncomponent: part-{number % 7}\nsession_id: {SESSION}\n---\n{body}\n"
    )


def _status(root: str) -> dict[str, object]:
    return {
        "hook_event_name": "Status",
        "session_id": SESSION,
        "transcript_path": f"{root}/no-transcript.jsonl",
        "cwd": root,
        "model": {"id": "claude-opus-4-1", "display_name": "Opus"},
        "workspace": {"current_dir": root, "project_dir": root},
        "version": "2.0.0",
        "output_style": {"name": "default"},
        "cost": {
            "total_cost_usd": 0.01,
            "total_duration_ms": 45_000,
            "total_api_duration_ms": 2_300,
            "total_lines_added": 156,
            "total_lines_removed": 23,
        },
    }
