"""The server process. It takes the lease before it loads anything slow, so that a loser ends at once."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from datetime import UTC, datetime

from brief.core.model.errors import MajordomusError
from brief.fastpath.lease import STOP_MARK
from brief.fastpath.output import printable_text
from brief.fastpath.proof import UnprovenError, check_git_folder
from brief.server import HELD
from brief.server.lease import HeldError, Lease
from brief.server.shutdown import StopRequest


def main(common_dir: str, root: str, *, detached: bool) -> int:
    """Serve the repository of `common_dir` until ended. Returns the exit code."""
    os.umask(0o077)  # everything that a server creates is the user's alone
    stop_request = StopRequest()
    stop_request.listen()
    _accept_foreign(common_dir, root)
    try:
        lease = Lease.take(common_dir, datetime.now(UTC))
    except HeldError:
        return HELD
    except MajordomusError as fault:
        sys.stderr.write(f"{printable_text(fault.sentence)}\n")
        return fault.exit_code
    with contextlib.suppress(OSError):
        (lease.state_dir / STOP_MARK).unlink()
    gc.disable()  # until all is loaded
    from brief.server.app import ignore_hangups, serve  # noqa: PLC0415 - slow, and only the winner needs it
    from brief.server.log import log_to  # noqa: PLC0415 - likewise

    try:
        log_to(lease.state_dir / "server.log" if detached else None)
        if detached:
            ignore_hangups()
            os.chdir("/")
        serve(lease, root, stop_request)
    except Exception as fault:  # noqa: BLE001 - the process that started the server prints one sentence
        sys.stderr.write(f"no server can run: {printable_text(_describe(fault))}\n")
        return 1
    return 0


def _describe(fault: Exception) -> str:
    """Why the server could not run, as a sentence."""
    if isinstance(fault, MajordomusError):
        return fault.sentence
    if isinstance(fault, OSError) and fault.filename is not None:
        path = fault.filename2 or fault.filename
        if isinstance(fault, FileExistsError | NotADirectoryError | IsADirectoryError):
            return f"{path} is in the way; move it elsewhere"
        return f"{path} cannot be used: {fault.strerror}; fix that, then run majordomus serve ensure"
    return f"unexpected {type(fault).__name__}: {fault}"


def _accept_foreign(common_dir: str, root: str) -> None:
    """If the git folder belongs to another user, ask git whether the person accepts it."""
    try:
        check_git_folder(common_dir)
    except UnprovenError:
        from brief.git.ownership import accept_by_git  # noqa: PLC0415 - slow, and rarely needed

        accept_by_git(common_dir, root)
    except OSError:
        return  # taking the lease reports it


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], detached=True))
