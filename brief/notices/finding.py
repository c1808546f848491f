"""The one notice that a person means by its slug or its path, and its content."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from brief.core.model.errors import ConflictError, DocumentError, NotFoundError
from brief.core.notices.notice import LIMIT, Notice, parse
from brief.core.text.sanitize import clean, wire
from brief.notices.folder import Folder, NoticeFile, look
from brief.notices.folder_lock import NoticeError
from brief.support.files import UnreadableFileError, read_bounded


@dataclass(frozen=True, slots=True)
class Found:
    """A file in `active/` of a folder of notices."""

    folder: str
    file: NoticeFile


def find(folders: Sequence[str], name: str) -> Found:
    """The notice with the slug or the path `name`; raises NotFoundError, and ConflictError where it may be two."""
    listed = [look(folder) for folder in folders]
    found = [Found(folder.path, file) for folder in listed for file in folder.files if _is_named(file, name)]
    if not found:
        raise NotFoundError(_not_found(listed, name))
    if len(found) > 1:
        places = " and ".join(wire(each.file.path) for each in found)
        raise ConflictError(f"{clean(name)} may be {places}; name one by its path")
    return found[0]


def content(file: NoticeFile) -> tuple[bytes, Notice]:
    """The bytes of a file and the notice in them; raises NoticeError or DocumentError with its path."""
    path = wire(file.path)
    if file.fault:
        raise NoticeError(f"{path} {file.fault}")
    try:
        raw = read_bounded(file.target, LIMIT)
        return raw, parse(raw, file.slug)
    except FileNotFoundError:
        raise NotFoundError(f"{path} is not there any more: it was archived or removed meanwhile") from None
    except UnreadableFileError as error:
        raise NoticeError(f"{path} {error}") from error
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}", error.line, error.column) from error


def _is_named(file: NoticeFile, name: str) -> bool:
    return name in (file.slug, f"{file.slug}.md", file.path) or os.path.abspath(name) == os.path.abspath(file.path)


def _not_found(listed: Sequence[Folder], name: str) -> str:
    unread = "".join(f"; {wire(folder.path)} {folder.reason}" for folder in listed if folder.reason)
    return f"there is no active notice {clean(name)}{unread}; majordomus alerts list names those that there are"
