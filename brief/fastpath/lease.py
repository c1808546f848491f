"""Read the lease of a repository, and explain why its holder does not answer."""

from __future__ import annotations

import os

from brief.fastpath.jsontext import read_json
from brief.fastpath.proof import UnprovenError, check_git_folder, open_folder, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from hashlib import sha256
    from typing import Any
else:
    try:
        # The module hashlib also loads OpenSSL, which takes 3 ms more.
        from _sha2 import sha256
    except ImportError:  # it is not a public module, and had another name before Python 3.12
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

STATE = "majordomus"
RUNTIME = "majordomus"
"""The folder for all sockets, below a runtime folder."""
LEASE_SCHEMA = "majordomus.lease/v1"
ENSURE = "start one with majordomus serve ensure"
_MOST_BYTES = 65_536
MOST_EPOCH = 2**53
"""An epoch counts milliseconds. A larger number is damage, and not one that JSON and SQLite both represent."""


class NoServerError(Exception):
    """No server answers; the message says why. `is_sent` is whether a server may have received the call."""

    def __init__(self, sentence: str, *, is_sent: bool = False) -> None:
        super().__init__(sentence)
        self.is_sent = is_sent


class ForeignFolderError(NoServerError):
    """The git folder belongs to another user. Git may still accept it, which the whole command finds out."""


STOP_MARK = "stopped"
"""The file in the state folder that keeps commands from starting a server after `serve stop`. It names the boot of the machine in which it was made."""

STOPPED = "the server was stopped by majordomus serve stop; majordomus serve ensure starts it again"
_MOST_MARK = 200


def state_dir(common_dir: str) -> str:
    """The folder for everything that is stored for a repository."""
    return common_dir + "/" + STATE


def socket_name(common_dir: str, epoch: int) -> str:
    """The name of the socket of a repository's server in one epoch."""
    return f"{repository_digest(common_dir)}-{epoch}.sock"


def repository_digest(common_dir: str) -> str:
    """The digest that identifies a repository in the name of a socket."""
    return sha256(os.fsencode(common_dir)).hexdigest()[:12]


def read_lease(common_dir: str) -> dict[str, Any]:
    """Read the lease of `common_dir`. Raises NoServerError if there is none, or if it is damaged or another's.

    A copied repository contains the lease of the original, whose server must not answer for the copy. A lease from an
    archive may name any socket of the user, so only a socket named after this repository and epoch is asked, whatever its
    runtime folder.
    """
    path = state_dir(common_dir) + "/lease.json"
    try:
        check_git_folder(common_dir)
    except UnprovenError as fault:
        raise ForeignFolderError(f"no server is asked: {fault}") from None
    except OSError:
        raise NoServerError(_why_absent(common_dir, path)) from None
    try:
        text = os.fsdecode(read_file(state_dir(common_dir), "lease.json", _MOST_BYTES))
    except UnprovenError as fault:
        raise NoServerError(f"no server is asked: {fault}") from None
    except OSError:
        raise NoServerError(_why_absent(common_dir, path)) from None
    try:
        record = read_json(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not _is_whole(record):
        raise NoServerError(f"{path} is damaged, so no server can be found by it; {ENSURE}")
    if record["common_dir"] != common_dir:
        raise NoServerError(
            f"{path} was written for {_show_path(record['common_dir'])}: this repository was moved or copied; "
            "start a server of its own with majordomus serve ensure"
        )
    if not record["socket"].endswith(f"/{RUNTIME}/{socket_name(common_dir, record['epoch'])}"):
        raise NoServerError(
            f"{path} names {_show_path(record['socket'])}, which is not the socket of a server of this repository, "
            f"so nobody is asked there; {ENSURE}"
        )
    return record


def _is_whole(record: dict[str, Any]) -> bool:
    return (
        _is_path(record.get("socket")) and _is_epoch(record.get("epoch")) and isinstance(record.get("common_dir"), str)
    )


def _show_path(path: str) -> str:
    return path[:400].encode("utf-8", "backslashreplace").decode()


def may_be_outdated(record: dict[str, Any], version: str) -> bool:
    """Whether the server of a lease has another version, or the files that it runs were replaced by the same version.

    The record names each file with inode, time of change and size (`server/version_check.py`). The server itself decides.
    """
    if record.get("version") != version:
        return True
    try:
        return any(_is_replaced(*one) for one in record.get("installed", ()))
    except (TypeError, ValueError):
        return True


def _is_replaced(path: str, inode: int, changed_ns: int, size: int) -> bool:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # this proves nothing
        return False
    return (found.st_ino, found.st_mtime_ns, found.st_size) != (inode, changed_ns, size)


def _is_path(value: object) -> bool:
    try:
        return isinstance(value, str) and value.startswith("/") and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def _is_epoch(value: object) -> bool:
    return type(value) is int and 0 < value <= MOST_EPOCH


def _why_absent(common_dir: str, path: str) -> str:
    if os.path.lexists(path):
        return f"{path} cannot be read; check its owner and mode"
    folder = state_dir(common_dir)
    if not os.access(folder if os.path.isdir(folder) else common_dir, os.W_OK):
        return f"no server can run: {common_dir} is read-only"
    return STOPPED if is_stopped(common_dir) else f"no server holds this repository; {ENSURE}"


def is_stopped(common_dir: str) -> bool:
    """Whether a person stopped the server (`serve stop`) since the machine's last start. Nothing starts it by itself then.

    A mark that cannot be read counts, since it is unknown whether a server may be started. In a state folder that is not
    proven to be ours none counts.
    """
    folder = state_dir(common_dir)
    try:
        os.close(open_folder(folder))
    except (OSError, UnprovenError):
        return False
    try:
        marked = read_file(folder, STOP_MARK, _MOST_MARK)
    except FileNotFoundError:
        return False
    except (OSError, UnprovenError):
        return True
    from brief.fastpath.known import Known  # noqa: PLC0415 - only a stopped server needs it
    from brief.fastpath.process import boot_id  # noqa: PLC0415 - likewise

    boot = boot_id()
    return not (isinstance(boot, Known) and marked.strip() and marked.strip() != boot.value.encode())


def why_busy(record: dict[str, Any], seconds: float) -> str:
    """Why a server that is alive gave no answer: the question needs git or a disk, and these are slow."""
    named = f"the server of epoch {record.get('epoch')} (pid {record.get('pid')})"
    return f"{named} is there and has not answered within {seconds:g} s: it waits for git or a disk; ask again"


def why_silent(common_dir: str, record: dict[str, Any], fault: OSError) -> str:
    """Why the server named in the lease of `common_dir` did not answer, as precisely as the kernel can say."""
    from brief.fastpath.known import ABSENT, Known  # noqa: PLC0415 - a server that answers needs none of it
    from brief.fastpath.process import boot_id, recorded_process  # noqa: PLC0415 - likewise
    from brief.fastpath.reach import held_lock, why_elsewhere, why_out_of_reach  # noqa: PLC0415 - likewise

    named = f"the server of epoch {record.get('epoch')} (pid {record.get('pid')})"
    held = held_lock(common_dir)
    where = why_elsewhere(held.value) if isinstance(held, Known) else None
    if isinstance(fault, (TimeoutError, BlockingIOError)):  # a full backlog refuses at once: nobody accepts
        end = (
            "majordomus serve ensure replaces it" if where is None else f"it runs {where}, and can be ended there alone"
        )
        return f"{named} holds and is silent; {end}"
    unreachable = why_out_of_reach(common_dir, held.value) if isinstance(held, Known) else None
    if unreachable is not None:
        return unreachable
    has_ended = where is None and recorded_process(record) is ABSENT
    if has_ended and isinstance(held, Known):
        return f"{named} is gone, and the one that has taken its place does not answer yet; ask again"
    boot = boot_id()
    if has_ended and isinstance(boot, Known) and record.get("boot_id") not in (None, boot.value):
        return f"{named} ended with the machine's last run; {ENSURE}"
    if has_ended:
        return f"{named} is gone and left its lease behind; {ENSURE}"
    if isinstance(fault, PermissionError):
        return f"{named} refuses this user: {record['socket']} is not ours to open"
    return f"{named} does not answer at {record['socket']} ({fault.strerror or fault}); {ENSURE}"
