"""The notices of some folders: each file parsed once, and from then on only looked at."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from brief.core.model.errors import DocumentError
from brief.core.notices.notice import Notice, parse
from brief.core.text.sanitize import wire
from brief.notices.folder import Folder, NoticeFile, look
from brief.support.files import Stamp, UnreadableFileError, any_young, is_young

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
        self._files: dict[str, NoticeFile] = {}
        self._kept: dict[str, tuple[Stamp, _Outcome]] = {}
        self._last: tuple[Hashable, NoticeSnapshot] | None = None

    def read(self) -> NoticeSnapshot:
        """All notices as the files are now; notices of one slug in two folders are both kept."""
        return self.read_signed()[1]

    def read_signed(self) -> tuple[Hashable, NoticeSnapshot]:
        """The same after a signature, which is equal to an earlier one while no file was added, changed or removed.

        An equal signature brings the very snapshot of the earlier one, unless a file was too young to be sure of.
        """
        with self._lock:
            folders = tuple(look(folder, self._files) for folder in self.folders)
            if self._last is not None and self._last[0] == folders:
                return self._last
            files = [file for folder in folders for file in folder.files]
            self._files = {file.path: file for file in files}
            snapshot = _snapshot(folders, self._outcomes(files))
            self._last = None if any_young(file.stamp for file in files) else (folders, snapshot)
        return folders, snapshot

    def _outcomes(self, files: list[NoticeFile]) -> list[tuple[str, _Outcome]]:
        """The outcome of each file that is still there, taken from the last reading where its stamp is the same."""
        found = [(file, self._outcome(file)) for file in files]
        now = time.time_ns()
        self._kept = {
            file.path: (file.stamp, outcome)
            for file, outcome in found
            if outcome is not None and file.stamp is not None and not file.fault and not is_young(file.stamp, now)
        }
        return [(file.path, outcome) for file, outcome in found if outcome is not None]

    def _outcome(self, file: NoticeFile) -> _Outcome | None:
        kept = self._kept.get(file.path)
        return kept[1] if kept and kept[0] == file.stamp and not file.fault else _parse(file)


def _parse(file: NoticeFile) -> _Outcome | None:
    """The notice in the file or why there is none; None where the file went away meanwhile."""
    if file.fault:
        return file.fault
    try:
        return parse(file.read(), file.slug)
    except FileNotFoundError:
        return None
    except (DocumentError, UnreadableFileError) as error:
        return str(error)


def _snapshot(folders: Sequence[Folder], outcomes: Sequence[tuple[str, _Outcome]]) -> NoticeSnapshot:
    notices = [outcome for _, outcome in outcomes if isinstance(outcome, Notice)]
    return NoticeSnapshot(
        notices=tuple(sorted(notices, key=lambda notice: notice.slug)),
        unparsable=tuple((wire(path), outcome) for path, outcome in outcomes if isinstance(outcome, str)),
        folders_unread=tuple((wire(folder.path), folder.reason) for folder in folders if folder.reason),
    )
