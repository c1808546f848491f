"""Find the notice that a slug or a path names, and read its content."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from brief.core.model.errors import ConflictError, DocumentError, NotFoundError
from brief.core.notices.notice import Notice, parse
from brief.core.text.abbreviation import whole_name
from brief.core.text.sanitize import clean, to_wire
from brief.notices.folder import Folder, NoticeFile, find_named_file, list_folder
from brief.notices.folder_lock import NoticeError
from brief.support.files import UnreadableFileError

LEAST_LETTERS = 3
"""The fewest letters that may stand for a slug."""


class Found(Struct, frozen=True):
    """A file in `active/` of a folder of notices."""

    folder: str
    file: NoticeFile


def find(folders: Sequence[str], name: str) -> Found:
    """The notice that a slug, its first letters or a path names. Raises NotFoundError, ConflictError or UsageError."""
    found = [Found(folder, file) for folder in folders if (file := _find_named(folder, name)) is not None]
    if not found:
        listed = [list_folder(folder) for folder in folders]
        # Some may be for the owner alone, and a model may be asking.
        whole = whole_name(
            name, (file.slug for folder in listed for file in folder.files), LEAST_LETTERS, "notices", is_secret=True
        )
        if whole == name:
            raise NotFoundError(_not_found(listed, name))
        return find(folders, whole)
    if len(found) > 1:
        places = " and ".join(to_wire(each.file.path) for each in found)
        raise ConflictError(f"{clean(name)} may be {places}; give the path of the one you mean")
    return found[0]


def read_content(file: NoticeFile) -> tuple[bytes, Notice]:
    """The bytes of a file, and the notice in them. Raises NotFoundError, NoticeError or DocumentError with its path."""
    raw = raw_content(file)
    return raw, parse_content(file, raw)


def raw_content(file: NoticeFile) -> bytes:
    """The bytes of a file. Raises NotFoundError or NoticeError with its path."""
    path = to_wire(file.path)
    if file.fault:
        raise NoticeError(f"{path} {file.fault}")
    try:
        return file.read()
    except FileNotFoundError:
        raise NotFoundError(f"{path} no longer exists: it was archived or removed meanwhile") from None
    except UnreadableFileError as error:
        raise NoticeError(f"{path} {error}") from error


def parse_content(file: NoticeFile, raw: bytes) -> Notice:
    """The notice in the bytes of a file. Raises DocumentError with its path."""
    try:
        return parse(raw, file.slug)
    except DocumentError as error:
        raise DocumentError(f"{to_wire(file.path)}: {error}", error.line, error.column) from error


def _find_named(folder: str, name: str) -> NoticeFile | None:
    """The file in the folder that a slug, a file name or a path names."""
    if "/" not in name:
        return find_named_file(folder, name) or find_named_file(folder, name.removesuffix(".md"))
    inner, base = os.path.split(os.path.abspath(name))
    is_here = inner == os.path.abspath(f"{folder}/active") and base.endswith(".md")
    return find_named_file(folder, base.removesuffix(".md")) if is_here else None


def _not_found(listed: Sequence[Folder], name: str) -> str:
    unread = "".join(f"; {to_wire(folder.path)} {folder.reason}" for folder in listed if folder.reason)
    return f"there is no active notice {clean(name)}{unread}; see majordomus alerts list"
