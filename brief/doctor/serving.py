"""Checks of the server: the lease, the server that it names, its socket, and the folder of sockets."""

from __future__ import annotations

import os
from typing import Any

from brief import __version__
from brief.core.model.errors import RuntimeFolderError
from brief.core.model.health import Finding, fail, judge_lease, judge_server, judge_socket, ok
from brief.fastpath.known import ABSENT
from brief.fastpath.lease import NoServerError, read_lease, socket_name, state_dir
from brief.fastpath.locate import Located
from brief.fastpath.process import recorded_process
from brief.server.ensure import ping
from brief.server.runtime import runtime_folder

_ANY_EPOCH = 10**12


def check_lease(here: Located) -> Finding:
    """Check who holds the repository."""
    record, absence = _record(here)
    folder = state_dir(here.common_dir)
    damaged = os.path.lexists(f"{folder}/lease.json")
    writable = os.access(folder if os.path.isdir(folder) else here.common_dir, os.W_OK)
    running = record is not None and _may_run(record)
    return judge_lease(record, absence, running=running, startable=writable and not damaged)


def check_server(here: Located) -> Finding:
    """Check that the holder answers, and its version."""
    record, absence = _record(here)
    if record is None:
        damaged = os.path.lexists(f"{state_dir(here.common_dir)}/lease.json")
        return judge_server(None, absence, __version__, running=False if damaged else None)
    status, why = ping(here)
    return judge_server(status, why, __version__, running=_may_run(record))


def check_socket(here: Located) -> Finding:
    """Check that the socket exists and belongs to the user alone."""
    record, _ = _record(here)
    if record is None:
        return ok("socket", "there is none, because no lease names one")
    path = record["socket"]
    return judge_socket(
        path, _stat_path(path), _stat_path(os.path.dirname(path)), os.getuid(), running=_may_run(record)
    )


def check_runtime(here: Located | None) -> Finding:
    """Check the folder in which a server would create its socket. Creates the folder, as a server would."""
    try:
        folder = runtime_folder(os.environ, socket_name(here.common_dir if here else "/", _ANY_EPOCH))
    except RuntimeFolderError as fault:
        return fail("runtime", fault.sentence)
    return ok("runtime", f"{folder}, yours alone")


def _may_run(record: dict[str, Any]) -> bool:
    """Whether the process of the record may be running. False only if it is proven gone."""
    return recorded_process(record) is not ABSENT


def _record(here: Located) -> tuple[dict[str, Any] | None, str]:
    try:
        return read_lease(here.common_dir), ""
    except NoServerError as absence:
        return None, str(absence)


def _stat_path(path: str) -> tuple[int, int] | None:
    """Mode and owner of the file at the path. Links are not followed."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found.st_mode, found.st_uid
