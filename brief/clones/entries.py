"""The registry of this machine's servers: each has an entry, a small JSON file in `servers/` beside the sockets.

The folder belongs to the user alone, but a file in it may not be an entry, or may be out of date.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from typing import Annotated, Final, Literal

from msgspec import DecodeError, Meta, Struct, field

from brief.core.model.errors import SupersededError
from brief.core.model.first_fault import first_fault
from brief.core.model.wire import Moment, Wire, from_json
from brief.core.text.sanitize import to_wire
from brief.fastpath.known import ABSENT
from brief.fastpath.lease import socket_name
from brief.fastpath.process import recorded_process
from brief.fastpath.proof import UnprovenError, open_file, open_folder
from brief.support.fence import refuse_if_superseded
from brief.support.files import Stamp, UnreadableFileError, read_descriptor, reason_of, stamp_of

ENTRY_SCHEMA: Final = "majordomus.server/v1"
MOST_BYTES = 65_536
MOST_ENTRIES = 512
MAKING_SECONDS = 60.0
"""An entry that stays empty for longer was left by a server that was killed while it created it."""

_NAME = re.compile(r"(?:[0-9a-f]{12}-)?[0-9]{1,16}\.json")
"""The names that servers give their entries. No other file in the folder is opened or removed."""

_SPELLED_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
"""A byte of a path that is not UTF-8, as `to_wire` escapes it."""

CommitName = Annotated[str, Meta(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$(?!\n)")]
Path = Annotated[str, Meta(pattern=r"^/[^\x00]*$(?!\n)", max_length=4_096)]


class Entry(Wire, frozen=True, kw_only=True):
    """A server, as it describes itself. Names are spelled as on the wire; `root` is a checkout to ask it about.

    `root_commits` is null while they are unknown, and empty before the first commit. `folder` identifies the git folder
    on this machine, even after it was moved; null if it could not be read.
    """

    schema_: Literal["majordomus.server/v1"] = field(default=ENTRY_SCHEMA, name="schema")
    epoch: Annotated[int, Meta(ge=0)]
    pid: Annotated[int, Meta(ge=1)]
    process_start: int | None
    boot_id: str | None
    process_table: str | None = None
    common_dir: Path
    folder: Annotated[str, Meta(max_length=50)] | None = None
    root: Path | None = None
    root_commits: tuple[CommitName, ...] | None = None
    socket: Path
    version: Annotated[str, Meta(max_length=100)]
    since: Moment


class Listed(Struct, frozen=True):
    """The entries of servers that may answer, oldest first, and a sentence for each file that is not an entry."""

    entries: tuple[Entry, ...]
    faults: tuple[str, ...]


def folder_id(common_dir: str) -> str | None:
    """An id that a git folder keeps when it is moved on this machine: device and inode. None if it cannot be read."""
    try:
        found = os.stat(common_dir)
    except OSError:
        return None
    return f"{found.st_dev}:{found.st_ino}"


def read_entries(folder: str) -> Listed:
    """Read every entry in `folder`, and remove those whose server is gone. Blocks only on files; never raises.

    The folder and the entries must be the user's own. No link is followed, neither at the folder nor in it.
    """
    try:
        descriptor = open_folder(folder)
    except FileNotFoundError:
        return Listed((), ())
    except UnprovenError as fault:
        return Listed((), (f"other servers cannot be found: {fault}",))
    except OSError as fault:
        return Listed((), (_describe_unlisted(folder, fault),))
    try:
        return _list_entries(folder, descriptor)
    except OSError as fault:
        return Listed((), (_describe_unlisted(folder, fault),))
    finally:
        os.close(descriptor)


def _describe_unlisted(folder: str, fault: OSError) -> str:
    return f"{folder} cannot be listed ({reason_of(fault)}), so other servers cannot be found"


def _list_entries(folder: str, descriptor: int) -> Listed:
    sockets = os.path.dirname(folder)
    names = sorted(name for name in os.listdir(descriptor) if name.endswith(".json") and not name.startswith("."))
    entries, faults = [], []
    if len(names) > MOST_ENTRIES:
        faults.append(
            f"{folder} has {len(names):,} entries, of which {MOST_ENTRIES} were read; remove those without a server"
        )
    for name in names[:MOST_ENTRIES]:
        try:
            entry = _read_live(name, descriptor, sockets)
        except (UnreadableFileError, UnprovenError) as fault:
            faults.append(f"{folder}/{name} is not a server's entry ({fault}); remove it")
        else:
            entries += [entry] if entry is not None else []
    return Listed(tuple(sorted(entries, key=lambda entry: entry.epoch)), tuple(faults))


def _read_live(name: str, folder: int, sockets: str) -> Entry | None:
    """The entry in a file. None if it is still being written, or was removed because its server is gone.

    An entry must name its own socket, in the folder `sockets`: no other socket is asked or even looked up.
    """
    if not _NAME.fullmatch(name):
        raise UnreadableFileError("servers do not use such a name")
    try:
        found, content = _read(name, folder)
    except FileNotFoundError:
        return None
    if not content:
        if abs(time.time() - found.st_mtime) > MAKING_SECONDS:  # an entry from the future is not being written either
            _remove(name, folder, stamp_of(found))
        return None
    try:
        entry = from_json(Entry, content)
    except DecodeError as fault:
        raise UnreadableFileError(str(first_fault(fault))) from None
    if not _names_own_socket(entry, sockets):
        raise UnreadableFileError("its socket is not the one of its repository and epoch")
    if is_gone(entry):
        _remove(name, folder, stamp_of(found))
        return None
    return entry


def _names_own_socket(entry: Entry, sockets: str) -> bool:
    bytes_of = _SPELLED_BYTE.sub(lambda found: os.fsdecode(bytes([int(found[1], 16)])), entry.common_dir)
    names = (socket_name(common_dir, entry.epoch) for common_dir in (entry.common_dir, bytes_of))
    return entry.socket in [to_wire(os.path.join(sockets, name)) for name in names]


def _read(name: str, folder: int) -> tuple[os.stat_result, bytes]:
    """The stat result and content of a file. Raises FileNotFoundError, UnprovenError, UnreadableFileError."""
    try:
        descriptor = open_file(name, folder)
    except (FileNotFoundError, UnprovenError):
        raise
    except OSError as fault:
        raise UnreadableFileError(f"cannot be opened: {reason_of(fault)}") from fault
    try:
        return os.fstat(descriptor), read_descriptor(descriptor, MOST_BYTES)
    finally:
        os.close(descriptor)


def is_gone(entry: Entry) -> bool:
    """Whether the server has ended: its process is proven gone, and nobody listens on its socket.

    One alone proves nothing: a server in a container may name no process table, and a server that is shutting down
    still runs.
    """
    process = {name: getattr(entry, name) for name in ("pid", "process_start", "boot_id", "process_table")}
    return recorded_process(process) is ABSENT and not is_listening(entry.socket)


def is_listening(path: str) -> bool:
    """Whether somebody listens on a socket, or may. False only if the socket is missing or refuses."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(0)
            probe.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except OSError:  # a full backlog, or a socket that we may not open: somebody listens
        return True
    return True


def _remove(name: str, folder: int, seen: Stamp) -> None:
    with contextlib.suppress(OSError, SupersededError):
        refuse_if_superseded()
        if stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False)) == seen:
            os.unlink(name, dir_fd=folder)
