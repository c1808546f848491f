"""Cases for the readers of a lease's lock and of the place where its holder runs."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath import reach
from brief.fastpath.known import Known
from brief.server.lock_holder import open_holder
from reader_case import ReaderCase

SERVER = """
import fcntl, json, sys, time
from brief.server.lease import own_process
with open(sys.argv[2] + "/majordomus/lease.lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.write(json.dumps(own_process()))
    lock.flush()
    print("held", flush=True)
    time.sleep(600)
"""
"""A process with the command line and the lock of a server; its second argument is the git folder."""


def _namespace(answer: str | OSError) -> Any:
    def call(_: Path, patch: pytest.MonkeyPatch) -> Any:
        def readlink(path: str) -> str:
            if isinstance(answer, OSError):
                raise answer
            return answer

        patch.setattr(os, "readlink", readlink)
        return reach.mount_namespace()

    return call


def _lock(folder: Path) -> Path:
    (folder / "majordomus").mkdir()
    return folder / "majordomus/lease.lock"


def _held(folder: Path, _: pytest.MonkeyPatch) -> Any:
    with open(_lock(folder), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return reach.held_lock(str(folder))


def _free(folder: Path, _: pytest.MonkeyPatch) -> Any:
    _lock(folder).touch()
    return reach.held_lock(str(folder))


def _link(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A link in place of the lock is not followed."""
    _lock(folder).symlink_to("elsewhere")
    return reach.held_lock(str(folder))


def _server(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """The kernel and the process's command line agree that it is our server."""
    _lock(folder)
    argv = [sys.executable, "-c", SERVER, "brief.server", str(folder), str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        found = open_holder(str(folder))
        if isinstance(found, Known):
            os.close(found.value)
        process.kill()
    return found


def _nobody(folder: Path, _: pytest.MonkeyPatch) -> Any:
    _lock(folder).touch()
    return open_holder(str(folder))


def _nameless(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """The process that holds the lock did not write its name into it."""
    with open(_lock(folder), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return open_holder(str(folder))


CASES = {
    "fastpath.reach.mount_namespace": ReaderCase(
        present=_namespace("mnt:[1]"),
        absent=_namespace(FileNotFoundError(2, "No such file or directory")),
        unreadable=_namespace(PermissionError(13, "Permission denied")),
    ),
    "fastpath.reach.held_lock": ReaderCase(present=_held, absent=_free, unreadable=_link),
    "server.lock_holder.open_holder": ReaderCase(present=_server, absent=_nobody, unreadable=_nameless),
}
