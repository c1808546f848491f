"""Helpers for tests about processes: when a process began, and commands without a usable /proc."""

from __future__ import annotations

import subprocess

from brief.fastpath.known import Known
from brief.fastpath.process import process_start


def start_of(pid: int) -> int:
    """Return when a running process started, in clock ticks since boot."""
    found = process_start(pid)
    assert isinstance(found, Known), found
    return found.value


def mount_namespace_refusal() -> str | None:
    """Why no command can run with a different /proc here. None if one can."""
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc"], capture_output=True, text=True, check=False
    )
    return None if tried.returncode == 0 else f"needs root and mount namespaces: {tried.stderr.strip()}"


WITHOUT_PROC = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
"""A command prefix that replaces /proc by an empty folder."""

IN_ANOTHER_PID_NAMESPACE = ("unshare", "-p", "-f")
"""A command prefix that numbers processes anew while /proc still shows ours."""
