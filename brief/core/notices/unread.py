"""Notices that could not be read and may be locks. One sentence names them wherever locks are shown."""

from __future__ import annotations

from msgspec import Struct

from brief.core.text.sanitize import clean


class Unread(Struct, frozen=True):
    """Files that could not be read, and folders that could not be read in full, each with the reason."""

    files: tuple[tuple[str, str], ...] = ()
    folders: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)

    @property
    def sentence(self) -> str:
        """Their number, as in `3 files and 1 folder, possibly locks, could not be read`. Empty if there are none."""
        if not self:
            return ""
        counts = " and ".join(_count_things(len(each), name) for each, name in self._parts() if each)
        return f"{counts}, possibly {'a lock' if self._is_one_file() else 'locks'}, could not be read"

    @property
    def reasons(self) -> tuple[str, ...]:
        """One line for each file, then one for each folder."""
        return tuple(_reason(name, why) for name, why in (*self.files, *self.folders))

    def _parts(self) -> tuple[tuple[tuple[tuple[str, str], ...], str], ...]:
        return (self.files, "file"), (self.folders, "folder")

    def _is_one_file(self) -> bool:
        return len(self.files) == 1 and not self.folders


ALL_READ = Unread()


def _count_things(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _reason(name: str, why: str) -> str:
    """The reason with the name in front, unless the reason already contains it."""
    return why if name in why else f"{clean(name, 1_000)}: {why}"
