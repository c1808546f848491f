"""The notices of some folders: each file parsed once, and from then on only looked at."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from brief.core.model.errors import DocumentError
from brief.core.notices.notice import Notice, parse
from brief.core.text.sanitize import wire
from brief.notices.folder import MOST_FILES, Folder, NoticeFile, look
from brief.support.files import UnreadableFileError, any_young
from brief.support.stat_cache import StatCache

_Outcome: TypeAlias = Notice | str
"""A notice, or why a file is none."""


@dataclass(frozen=True, slots=True)
class NoticeSnapshot:
    """What lay in the folders: notices by slug, files that are none with reasons, folders not wholly read with reasons.

    Names of files and folders are spelled, so that every one of them can go on the wire.
    """

    notices: tuple[Notice, ...]
    unparsable: tuple[tuple[str, str], ...]
    folders_unread: tuple[tuple[str, str], ...]


class NoticeStore:
    """The notices in `active/` of each of the folders, by `look`. Thread safe; an unchanged file costs one stat."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(folders)
        self._lock = threading.Lock()
        self._folders: dict[str, Folder] = {}
        self._parsed: StatCache[str, _Outcome] = StatCache(MOST_FILES * max(1, len(self.folders)))
        self._last: tuple[Hashable, NoticeSnapshot] | None = None

    def read(self) -> NoticeSnapshot:
        """All notices as the files are now; notices of one slug in two folders are both kept."""
        return self.read_signed()[1]

    def read_signed(self) -> tuple[Hashable, NoticeSnapshot]:
        """The same after a signature, which is equal to an earlier one while no file was added, changed or removed.

        An equal signature brings the very snapshot of the earlier one, unless a file was too young to be sure of.
        """
        with self._lock:
            folders = tuple(look(folder, self._folders.get(folder)) for folder in self.folders)
            if self._last is not None and self._last[0] == folders:
                return self._last
            files = [file for folder in folders for file in folder.files]
            self._folders = {folder.path: folder for folder in folders}
            found, is_lasting = self._outcomes(files)
            snapshot = _snapshot(folders, found)
            self._last = (folders, snapshot) if is_lasting else None
        return folders, snapshot

    def _outcomes(self, files: list[NoticeFile]) -> tuple[list[tuple[str, _Outcome]], bool]:
        """The outcome of each file that is still there, parsed anew where its stamp is another, and whether all of them last."""
        outcomes: list[tuple[str, _Outcome]] = []
        is_lasting = not any_young(file.stamp for file in files)
        for file in files:
            try:
                outcomes.append(
                    (file.path, file.fault or self._parsed.get(file.path, file.stamp, partial(_parse, file)))
                )
            except FileNotFoundError:
                continue  # it went away meanwhile
            except UnreadableFileError as fault:  # it may be readable at the next look, with the same stamp
                outcomes.append((file.path, str(fault)))
                is_lasting = False
        self._parsed.keep_only({file.path for file in files})
        return outcomes, is_lasting


class NoticeStores:
    """The stores of one repository, one for each set of folders, and the snapshot that each read last. Thread safe."""

    def __init__(self) -> None:
        self._stores: dict[tuple[str, ...], NoticeStore] = {}
        self._latest: dict[tuple[str, ...], NoticeSnapshot] = {}

    def read(self, folders: tuple[str, ...]) -> NoticeSnapshot:
        """All notices of the folders as their files are now."""
        return self.read_signed(folders)[1]

    def read_signed(self, folders: tuple[str, ...]) -> tuple[Hashable, NoticeSnapshot]:
        """The same after a signature; see `NoticeStore.read_signed`."""
        signature, snapshot = self._stores.setdefault(folders, NoticeStore(folders)).read_signed()
        self._latest[folders] = snapshot
        return signature, snapshot

    def latest(self, folders: tuple[str, ...]) -> NoticeSnapshot | None:
        """What was read of the folders last; None before the first reading."""
        return self._latest.get(folders)


def _parse(file: NoticeFile) -> _Outcome:
    """The notice in the file or why there is none; raises FileNotFoundError, UnreadableFileError."""
    try:
        return parse(file.read(), file.slug)
    except DocumentError as error:
        return str(error)


def _snapshot(folders: Sequence[Folder], outcomes: Sequence[tuple[str, _Outcome]]) -> NoticeSnapshot:
    notices = [outcome for _, outcome in outcomes if isinstance(outcome, Notice)]
    return NoticeSnapshot(
        notices=tuple(sorted(notices, key=lambda notice: notice.slug)),
        unparsable=tuple((wire(path), outcome) for path, outcome in outcomes if isinstance(outcome, str)),
        folders_unread=tuple((wire(folder.path), folder.reason) for folder in folders if folder.reason),
    )
