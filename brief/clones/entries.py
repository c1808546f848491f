"""The servers of this machine: each has an entry, a small JSON file in the folder `servers/` beside the sockets.

The folder is the user's alone, but what lies in it need not be an entry, nor an entry that is still true.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, ValidationError

from brief.core.model.errors import SupersededError
from brief.core.model.first_fault import first_fault
from brief.core.model.wire import Moment, Wire
from brief.core.text.sanitize import wire
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
"""An entry that is empty for longer is one whose server was killed while it made it."""

_NAME = re.compile(r"(?:[0-9a-f]{12}-)?[0-9]{1,16}\.json")
"""The names that servers give their entries: nothing else in the folder is opened or removed."""

_SPELLED_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
"""A byte of a path that is no UTF-8, as `wire` spells it."""

CommitName = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
Path = Annotated[str, Field(pattern=r"^/[^\x00]*$", max_length=4_096)]


class Entry(Wire):
    """A server, as it says itself. Names are spelled as on the wire; `root` is a checkout that it can be asked about.

    `root_commits` is null while they are not known, and empty before the first commit. `folder` tells the git folder
    from every other on this machine, also after it was moved; null where that could not be looked at.
    """

    model_config = ConfigDict(strict=True, populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["majordomus.server/v1"] = Field(default=ENTRY_SCHEMA, alias="schema")
    epoch: int = Field(ge=0)
    pid: int = Field(ge=1)
    process_start: int | None
    boot_id: str | None
    process_table: str | None = None
    common_dir: Path
    folder: str | None = Field(default=None, max_length=50)
    root: Path | None = None
    root_commits: tuple[CommitName, ...] | None = None
    socket: Path
    version: str = Field(max_length=100)
    since: Moment


@dataclass(frozen=True, slots=True)
class Listed:
    """The entries of servers that may answer, the oldest first, and a sentence for each file that is no entry."""

    entries: tuple[Entry, ...]
    faults: tuple[str, ...]


def folder_id(common_dir: str) -> str | None:
    """What tells a git folder from every other on this machine, wherever it is moved; None where it cannot be told."""
    try:
        found = os.stat(common_dir)
    except OSError:
        return None
    return f"{found.st_dev}:{found.st_ino}"


def read_entries(folder: str) -> Listed:
    """Every entry in `folder`; the ones whose server is gone are removed. Blocks on files alone, raises nothing.

    Folder and entries must be the user's own; no link is followed, at the folder or in it.
    """
    try:
        descriptor = open_folder(folder)
    except FileNotFoundError:
        return Listed((), ())
    except UnprovenError as fault:
        return Listed((), (f"other servers cannot be found: {fault}",))
    except OSError as fault:
        return Listed((), (_unlisted(folder, fault),))
    try:
        return _listed(folder, descriptor)
    except OSError as fault:
        return Listed((), (_unlisted(folder, fault),))
    finally:
        os.close(descriptor)


def _unlisted(folder: str, fault: OSError) -> str:
    return f"{folder} cannot be listed ({reason_of(fault)}), so other servers cannot be found"


def _listed(folder: str, descriptor: int) -> Listed:
    sockets = os.path.dirname(folder)
    names = sorted(name for name in os.listdir(descriptor) if name.endswith(".json") and not name.startswith("."))
    entries, faults = [], []
    if len(names) > MOST_ENTRIES:
        faults.append(
            f"{folder} holds {len(names):,} entries, and only {MOST_ENTRIES} are read; remove what is no server"
        )
    for name in names[:MOST_ENTRIES]:
        try:
            entry = _live(name, descriptor, sockets)
        except (UnreadableFileError, UnprovenError) as fault:
            faults.append(f"{folder}/{name} is no entry of a server ({fault}); remove it")
        else:
            entries += [entry] if entry is not None else []
    return Listed(tuple(sorted(entries, key=lambda entry: entry.epoch)), tuple(faults))


def _live(name: str, folder: int, sockets: str) -> Entry | None:
    """The entry of this name; None where it is just being made, or its server is gone and it was removed.

    It may name no socket but its own, in the folder `sockets`: nothing is asked at any other, nor looked for there.
    """
    if not _NAME.fullmatch(name):
        raise UnreadableFileError("no server gives its entry such a name")
    try:
        found, content = _read(name, folder)
    except FileNotFoundError:
        return None
    if not content:
        if abs(time.time() - found.st_mtime) > MAKING_SECONDS:  # one from the future is not just being made
            _remove(name, folder, stamp_of(found))
        return None
    try:
        entry = Entry.model_validate_json(content)
    except ValidationError as fault:
        raise UnreadableFileError(str(first_fault(fault))) from None
    if not _names_own_socket(entry, sockets):
        raise UnreadableFileError("socket: it is not that of its own repository and epoch")
    if is_gone(entry):
        _remove(name, folder, stamp_of(found))
        return None
    return entry


def _names_own_socket(entry: Entry, sockets: str) -> bool:
    bytes_of = _SPELLED_BYTE.sub(lambda found: os.fsdecode(bytes([int(found[1], 16)])), entry.common_dir)
    names = (socket_name(common_dir, entry.epoch) for common_dir in (entry.common_dir, bytes_of))
    return entry.socket in [wire(os.path.join(sockets, name)) for name in names]


def _read(name: str, folder: int) -> tuple[os.stat_result, bytes]:
    """What was looked at and its content; raises FileNotFoundError, UnprovenError, UnreadableFileError."""
    try:
        descriptor = open_file(name, folder)
    except (FileNotFoundError, UnprovenError):
        raise
    except OSError as fault:
        raise UnreadableFileError(f"cannot be looked at: {reason_of(fault)}") from fault
    try:
        return os.fstat(descriptor), read_descriptor(descriptor, MOST_BYTES)
    finally:
        os.close(descriptor)


def is_gone(entry: Entry) -> bool:
    """Whether the server has ended: its process is proven gone, and nobody listens at its socket.

    One alone proves nothing: a server may be of a container that names no process table, and one that ends still runs.
    """
    process = entry.model_dump(include={"pid", "process_start", "boot_id", "process_table"})
    return recorded_process(process) is ABSENT and not is_listening(entry.socket)


def is_listening(path: str) -> bool:
    """Whether somebody takes calls at a socket, or may: only a refusal and a missing file say no."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(0)
            probe.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except OSError:  # a full backlog, or a socket that is not ours to open: somebody is there
        return True
    return True


def _remove(name: str, folder: int, seen: Stamp) -> None:
    with contextlib.suppress(OSError, SupersededError):
        refuse_if_superseded()
        if stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False)) == seen:
            os.unlink(name, dir_fd=folder)
