"""The courtesies that a session has seen and the notices that it acknowledged, as marks in one small file per session."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from brief.core.notices.slug import digest
from brief.core.text.sanitize import to_wire
from brief.fastpath.proof import open_folder, open_in
from brief.notices.folder_lock import NoticeError, as_notice_error, hold
from brief.support.fence import refuse_if_superseded
from brief.support.files import UnreadableFileError, read_descriptor
from brief.support.state_folder import UnprovenStateError, refuse_unproven

KEPT = timedelta(days=30)
"""How long the file of a session is kept after its last mark."""

_MOST = 262_144
_NAME = re.compile(r"[0-9a-f]{32}")
"""The names of our files in the folder. No other file is ever removed from it."""


def find_seen(state_dir: str, session_id: str | None, slugs: Collection[str]) -> frozenset[str] | None:
    """The slugs among these that the session has seen. None if that is unknown, so that all are shown."""
    if not _is_known(session_id):
        return None
    try:
        refuse_unproven(state_dir)
        marks = _split_marks(_read(receipts_path(state_dir, session_id)))
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnreadableFileError, UnprovenStateError):
        return None
    return frozenset(slug for slug in slugs if _mark(slug) in marks)


def mark_seen(state_dir: str, session_id: str | None, slugs: Collection[str]) -> frozenset[str]:
    """Mark slugs as seen by the session, and return those that were not marked yet. Each is returned to one caller only.

    Without a session id nothing is marked. Needs no lease. Raises NoticeError, GaveUpError, SupersededError and
    UnprovenStateError.
    """
    if not _is_known(session_id) or not slugs:
        return frozenset()
    slug_of = {_mark(slug): slug for slug in slugs}
    return frozenset(slug_of[mark] for mark in _add(state_dir, session_id, slug_of.keys()))


def _add(state_dir: str, session_id: str | None, marks: Collection[bytes]) -> frozenset[bytes]:
    refuse_if_superseded()
    refuse_unproven(state_dir)
    path = receipts_path(state_dir, session_id)
    with as_notice_error(path):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = open_in(
            os.path.dirname(path), os.path.basename(path), flags=os.O_RDWR | os.O_APPEND | os.O_CREAT, tighten=True
        )
    try:
        hold(descriptor, path)
        with as_notice_error(path):
            return _add_marks(descriptor, path, marks)
    finally:
        os.close(descriptor)


def find_acknowledged(state_dir: str, session_id: str | None, slugs: Collection[str]) -> frozenset[str]:
    """The slugs among these that the session acknowledged. If that cannot be read there are none, and all are shown again."""
    if not slugs or not _is_known(session_id):
        return frozenset()
    try:
        refuse_unproven(state_dir)
        marks = _split_marks(_read(receipts_path(state_dir, session_id)))
    except (OSError, UnreadableFileError, UnprovenStateError):
        return frozenset()
    return frozenset(slug for slug in slugs if _acknowledgement_mark(slug) in marks)


def mark_acknowledged(state_dir: str, session_id: str, slug: str) -> bool:
    """Mark a notice as acknowledged and seen by the session. False if it was acknowledged before. Raises like `mark_seen`."""
    return _acknowledgement_mark(slug) in _add(state_dir, session_id, {_mark(slug), _acknowledgement_mark(slug)})


def prune_seen(state_dir: str, now: datetime) -> int:
    """Remove the files of sessions that marked nothing for 30 days, and return how many were removed.

    Files that cannot be removed stay. Raises SupersededError.
    """
    refuse_unproven(state_dir)
    removed = 0
    try:
        folder = open_folder(f"{state_dir}/seen")
    except OSError:
        return 0
    try:
        for name in _list_older(folder, (now - KEPT).timestamp()):
            refuse_if_superseded()
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
                removed += 1
    finally:
        os.close(folder)
    return removed


def _list_older(folder: int, oldest: float) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if (
                _NAME.fullmatch(entry.name)
                and entry.is_file(follow_symlinks=False)
                and entry.stat(follow_symlinks=False).st_mtime < oldest
            ):
                yield entry.name


def _is_known(session_id: str | None) -> bool:
    return bool(session_id and session_id.strip())


def receipts_path(state_dir: str, session_id: str | None) -> str:
    """The file of a session's marks. It is named by a digest, since a session id is other people's text."""
    return f"{state_dir}/seen/{digest((session_id or '').strip(), characters=32)}"


def _read(path: str) -> bytes:
    descriptor = open_in(os.path.dirname(path), os.path.basename(path))
    try:
        return read_descriptor(descriptor, _MOST)
    finally:
        os.close(descriptor)


def _mark(slug: str) -> bytes:
    return digest(slug, characters=32).encode()


def _acknowledgement_mark(slug: str) -> bytes:
    return digest("acknowledged", slug, characters=32).encode()


def _split_marks(content: bytes) -> frozenset[bytes]:
    return frozenset(content.split(b"\n"))


def _add_marks(descriptor: int, path: str, wanted: Collection[bytes]) -> frozenset[bytes]:
    """Add marks to the locked file, and return those that were not in it before."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST - 64 * len(wanted):
        raise NoticeError(f"{to_wire(path)} cannot hold what the session has seen; remove it")
    before = os.pread(descriptor, _MOST, 0)
    marks = _split_marks(before)
    new = frozenset(wanted) - marks
    # A crash may have cut the last mark short, and the next one must not be appended to it.
    torn = b"\n" if before and not before.endswith(b"\n") else b""
    if new:
        refuse_if_superseded()
        os.write(descriptor, torn + b"".join(mark + b"\n" for mark in sorted(new)))
    return new
