"""Cases for the readers in `git/` that start no git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.errors import GitError
from brief.fastpath.locate import Located
from brief.git import head, place, roots
from brief.git.worktrees import Checkout
from reader_case import ReaderCase

SHA = "1" * 40


def _with_head(call: Callable[[str], Any], content: bytes | None) -> Callable[[Path, pytest.MonkeyPatch], Any]:
    """Call with a git folder whose HEAD holds `content`, or with one that has no HEAD."""

    def arranged(folder: Path, _: pytest.MonkeyPatch) -> Any:
        if content is not None:
            (folder / "HEAD").write_bytes(content)
        return call(str(folder))

    return arranged


def _head_cases(call: Callable[[str], Any]) -> ReaderCase:
    return ReaderCase(
        present=_with_head(call, f"{SHA}\n".encode()),
        absent=_with_head(call, None),
        unreadable=_with_head(call, b"\0" * 32),
    )


def _listed(*, bare: bool) -> Checkout:
    return Checkout(
        "/r", "/r/.git", "main", SHA, detached=False, bare=bare, locked=None, prunable=None, gone=False, primary=True
    )


def _packed(content: str | None) -> Callable[[Path, pytest.MonkeyPatch], Any]:
    def arranged(folder: Path, _: pytest.MonkeyPatch) -> Any:
        if content is not None:
            (folder / "packed-refs").write_text(content)
        return head.find_packed(f"{folder}/packed-refs", "refs/heads/main")

    return arranged


def _rooted(printed: bytes | GitError, content: bytes) -> Callable[[Path, pytest.MonkeyPatch], Any]:
    """Read the root commits if git answers `printed` and HEAD holds `content`."""

    def arranged(folder: Path, patch: pytest.MonkeyPatch) -> Any:
        def run(*_: object, **__: object) -> bytes:
            if isinstance(printed, GitError):
                raise printed
            return printed

        patch.setattr(roots, "run", run)
        (folder / "HEAD").write_bytes(content)
        return roots.root_commits(str(folder), 1.0)

    return arranged


CASES = {
    "git.head.read_head": _head_cases(lambda folder: head.read_head(folder, folder)),
    "git.place.head_of": _head_cases(lambda folder: place.head_of(Located("/r", folder, folder), tuple)),
    "git.head.listed_head": ReaderCase(
        present=lambda _, __: head.listed_head("/r/.git", [_listed(bare=False)]),
        absent=lambda _, __: head.listed_head("/other", [_listed(bare=False)]),
        unreadable=lambda _, __: head.listed_head("/r/.git", [_listed(bare=True)]),
    ),
    "git.head.find_packed": ReaderCase(
        present=_packed(f"{SHA} refs/heads/main\n"),
        absent=_packed(None),
        unreadable=_packed("damaged refs/heads/main\n"),
    ),
    "git.roots.root_commits": ReaderCase(
        present=_rooted(f"{SHA}\n".encode(), b"ref: refs/heads/main\n"),
        absent=_rooted(b"", b"ref: refs/heads/main\n"),
        unreadable=_rooted(b"", b""),
    ),
}
