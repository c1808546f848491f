"""Real servers for tests, in their own processes: some have one thing changed, and all end with their lab."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from brief.capabilities.capability import Capability
from brief.core.model.fields import fields_of
from brief.fastpath import ask as fast
from brief.install.hooks import make_snippet
from brief.install.mods import Scope
from brief.server.holder import Holder
from brief.server.lease import DATABASE, Lease
from brief.server.owned_file import OwnedFile
from brief.sessions.database import Database
from sandbox import Lab

FAST_LOOKS = "import brief.server.holder as holder; holder.TICK_SECONDS = 0.05"
"""A patch for a server that checks its lease twenty times a second."""

SIGNAL_BEFORE = """
import importlib, os, signal
module, _, path = {place!r}.partition(":")
*outer, name = path.split(".")
owner = importlib.import_module(module)
for part in outer:
    owner = getattr(owner, part)
real = getattr(owner, name)

def signalled(*args, **named):
    os.kill(os.getpid(), {number})
    return real(*args, **named)

setattr(owner, name, signalled)
"""
"""A patch for a server that gets a signal right before it calls `module:name`."""


def install_for_project(lab: Lab, root: Path | None = None) -> None:
    """The channels of the project: the mod in a checkout, and the hooks in its settings."""
    folder = (root or lab.repo) / ".claude"
    (folder / "skills/majordomus-brief/.claude-plugin").mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(make_snippet(("majordomus",), Scope.PROJECT))


_started: list[subprocess.Popen[str]] = []


def python(lab: Lab, code: str, *words: str) -> subprocess.Popen[str]:
    """A process that runs `code` in the environment of the lab, with piped output."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys\n" + code, *words],
        cwd=lab.repo,
        env=lab.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _started.append(process)
    return process


def end_all() -> None:
    """End every process that `python` started, and close its pipes."""
    while _started:
        with _started.pop() as process:
            process.kill()


def launch(lab: Lab, patch: str = "", *, spawn: bool = False) -> subprocess.Popen[str]:
    """Start a server with `Lab.launch_server` that runs `patch` first, without waiting for it."""
    process = lab.launch_server(patch, spawn=spawn)
    _started.append(process)
    return process


def serve(lab: Lab, patch: str = "", *, spawn: bool = False) -> subprocess.Popen[str]:
    """Start a server that runs `patch` first, and wait until it answers."""
    process = lab.start_server(patch, spawn=spawn)
    _started.append(process)
    return process


def finish(process: subprocess.Popen[str], seconds: float = 20.0) -> tuple[int, str, str]:
    """Wait for a process. Returns its exit code, output and errors, and closes the pipes."""
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def answers(lab: Lab) -> bool:
    """Whether the server answers that the lease names."""
    return lab.is_served()


def ask(lab: Lab, method: str, path: str, body: dict[str, Any] | None = None, **params: str) -> fast.Answer:
    """The answer of the lease holder about the lab's primary checkout."""
    root = {"root": str(lab.repo)}
    if method == "POST":
        return fast.ask(lab.common_dir, method, path, list(params.items()), root | (body or {}), seconds=15.0)
    return fast.ask(lab.common_dir, method, path, list((root | params).items()), seconds=15.0)


def given(capability: Capability) -> dict[str, Any]:
    """The parameters of a query besides the checkout: an open episode, an existing notice."""
    known = {"session": "here", "slug": "lock"}
    return {name: value for name, value in known.items() if name in fields_of(capability.input)}


def leave_notice(lab: Lab, name: str = "lock", text: str = "---\nkind: lock\n---\n# lock on koda\n") -> None:
    """Leave a notice in the repository."""
    folder = lab.state / "notices/active"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text)


def touched(path: Path) -> OwnedFile:
    """A file made here in place of the server's socket."""
    path.touch()
    return OwnedFile.at(path)


def holder_of(lease: Lease, root: Path, socket: Path) -> Holder:
    """The holder of a lease that is taken in this process, with its database."""
    return Holder(lease, str(root), touched(socket), None, Database(lease.state_dir / DATABASE, lease.epoch))


def lease(lab: Lab) -> dict[str, Any]:
    """Return the content of the lease file."""
    record: dict[str, Any] = json.loads((lab.state / "lease.json").read_text())
    return record


def left_behind(lab: Lab) -> list[str]:
    """Return the existing files that announce a server."""
    runtime = lab.runtime / "majordomus"
    made = [lab.state / "lease.json", *runtime.glob("*.sock"), *runtime.glob("servers/*")]
    return [str(path) for path in made if path.exists()]


def exchange(address: str | tuple[str, int], request: bytes) -> bytes:
    """Everything that comes back over one connection, to a socket's path or to a host and port, until it is closed."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(15.0)
        connection.connect(address)
        connection.sendall(request)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    return received


def write_policy(lab: Lab, text: str) -> None:
    """Write a policy into the primary checkout."""
    path = lab.repo / ".ai/repo/policy.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or is a zombie that its parent has not yet reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True


def unprivileged() -> list[str]:
    """The command prefix under which the modes of files apply, even if the tests run as root."""
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
