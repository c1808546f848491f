"""A cache of the notices in some folders: each file is parsed once, and parsed again only after it has changed."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from brief.core.model.errors import DocumentError
from brief.core.notices.notice import Notice, parse
from brief.core.text.sanitize import to_wire
from brief.notices.folder import MOST_FILES, Folder, NoticeFile, list_folder
from brief.support.files import UnreadableFileError, any_young
from brief.support.stat_cache import StatCache

_Outcome: TypeAlias = Notice | str
"""A notice, or why a file is not one."""


class NoticeSnapshot(Struct, frozen=True):
    """The content of the folders: notices by slug, and with reasons the files that are not notices and the unread folders.

    `folders_unread` includes folders of which only a part was read. Names are spelled as on the wire.
    """

    notices: tuple[Notice, ...]
    unparsable: tuple[tuple[str, str], ...]
    folders_unread: tuple[tuple[str, str], ...]


class NoticeStore:
    """The notices in `active/` of some folders, as `list_folder` finds them. Thread safe. An unchanged file costs one stat."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(folders)
        self._lock = threading.Lock()
        self._folders: dict[str, Folder] = {}
        self._parsed: StatCache[str, _Outcome] = StatCache(MOST_FILES * max(1, len(self.folders)))
        self._last: tuple[Hashable, NoticeSnapshot] | None = None

    def read(self) -> NoticeSnapshot:
        """All notices as the files are now. If two folders have the same slug, both notices are kept."""
        return self.read_signed()[1]

    def read_signed(self) -> tuple[Hashable, NoticeSnapshot]:
        """All notices, preceded by a signature that stays equal while no file is added, changed or removed.

        With an equal signature the same snapshot object is returned, unless a file is too young for its stamp to be proof.
        """
        with self._lock:
            folders = tuple(list_folder(folder, self._folders.get(folder)) for folder in self.folders)
            if self._last is not None and self._last[0] == folders:
                return self._last
            files = [file for folder in folders for file in folder.files]
            self._folders = {folder.path: folder for folder in folders}
            found, is_lasting = self._read_outcomes(files)
            snapshot = _make_snapshot(folders, found)
            self._last = (folders, snapshot) if is_lasting else None
        return folders, snapshot

    def _read_outcomes(self, files: list[NoticeFile]) -> tuple[list[tuple[str, _Outcome]], bool]:
        """The outcome of each file that still exists, and whether all outcomes may be cached. Changed files are parsed."""
        outcomes: list[tuple[str, _Outcome]] = []
        is_lasting = not any_young(file.stamp for file in files)
        for file in files:
            try:
                outcomes.append(
                    (file.path, file.fault or self._parsed.get(file.path, file.stamp, partial(_parse, file)))
                )
            except FileNotFoundError:
                continue  # it was removed meanwhile
            except UnreadableFileError as fault:  # it may be readable next time, with the same stamp
                outcomes.append((file.path, str(fault)))
                is_lasting = False
        self._parsed.keep_only({file.path for file in files})
        return outcomes, is_lasting


class NoticeStores:
    """The stores of one repository, one for each set of folders, with the latest snapshot of each. Thread safe."""

    def __init__(self) -> None:
        self._stores: dict[tuple[str, ...], NoticeStore] = {}
        self._latest: dict[tuple[str, ...], NoticeSnapshot] = {}

    def read(self, folders: tuple[str, ...]) -> NoticeSnapshot:
        """All notices of the folders, as the files are now."""
        return self.read_signed(folders)[1]

    def read_signed(self, folders: tuple[str, ...]) -> tuple[Hashable, NoticeSnapshot]:
        """All notices of the folders, preceded by a signature; see `NoticeStore.read_signed`."""
        signature, snapshot = self._stores.setdefault(folders, NoticeStore(folders)).read_signed()
        self._latest[folders] = snapshot
        return signature, snapshot

    def latest(self, folders: tuple[str, ...]) -> NoticeSnapshot | None:
        """The latest snapshot of the folders. None before the first reading."""
        return self._latest.get(folders)


def _parse(file: NoticeFile) -> _Outcome:
    """The notice in a file, or why it is not one. Raises FileNotFoundError and UnreadableFileError."""
    try:
        return parse(file.read(), file.slug)
    except DocumentError as error:
        return str(error)


def _make_snapshot(folders: Sequence[Folder], outcomes: Sequence[tuple[str, _Outcome]]) -> NoticeSnapshot:
    notices = [outcome for _, outcome in outcomes if isinstance(outcome, Notice)]
    return NoticeSnapshot(
        notices=tuple(sorted(notices, key=lambda notice: notice.slug)),
        unparsable=tuple((to_wire(path), outcome) for path, outcome in outcomes if isinstance(outcome, str)),
        folders_unread=tuple((to_wire(folder.path), folder.reason) for folder in folders if folder.reason),
    )
