"""The HEAD of a checkout, read from files alone: no process is started, so nothing can hang.

The formats are git's own: gitrepository-layout(5) for HEAD and loose refs, git-pack-refs(1) for `packed-refs`. With a
reftable, HEAD names `refs/heads/.invalid` and only git can read the refs: `listed_head` takes HEAD from git's listing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from brief.fastpath.known import ABSENT, Absent, Known, Unknown
from brief.fastpath.proof import UnprovenError, check_git_folder
from brief.git.names import HEADS
from brief.git.worktrees import Checkout
from brief.support.files import UnreadableFileError, read_bounded, reason_of, stamp_file
from brief.support.stat_cache import StatCache

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

_MOST_REF = 4_096
_MOST_PACKED = 256 * 1024 * 1024
_MOST_LINKS = 5
_IN_TABLES = f"{HEADS}.invalid"
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# What git check-ref-format rejects in a name.
_NO_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]$")
_OF_CHECKOUT = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
"""The refs that each checkout has of its own."""
_PACKED: StatCache[tuple[str, str], Reading[str]] = StatCache(512)
"""The object that `packed-refs` names, by the path of that file and the ref."""


class Head(NamedTuple):
    """The branch without `refs/heads/`, None if HEAD is detached, and the commit, None if the branch has none yet."""

    branch: str | None
    commit: str | None

    @property
    def detached(self) -> bool:
        """Whether HEAD names a commit rather than a branch."""
        return self.branch is None


class _InTablesError(Exception):
    """The refs are in a reftable."""


class _UnreadError(Exception):
    """Why HEAD cannot be read, worded as a clause that follows the word HEAD."""


def read_head(git_dir: str, common_dir: str) -> Reading[Head]:
    """Read the HEAD of the checkout whose own git folder is `git_dir`. ABSENT if there is no such file.

    Also Unknown if the refs are in a reftable, see `is_in_tables`.
    """
    try:
        check_git_folder(common_dir)
        named = _read_ref_file(f"{git_dir}/HEAD")
        if named is None:
            return ABSENT
        if _OBJECT.fullmatch(named):
            return Known(Head(None, _check_commit(named, "HEAD")))
        ref = _check_ref(named, "HEAD")
        return Known(Head(ref.removeprefix(HEADS), _resolve(ref, git_dir, common_dir)))
    except _InTablesError:
        return Unknown("names a ref in a reftable, which only git can read")
    except _UnreadError as fault:
        return Unknown(str(fault))
    except UnprovenError as fault:
        return Unknown(f"was not read: {fault}")
    except OSError as fault:
        return Unknown(f"was not read: {common_dir} cannot be accessed ({reason_of(fault)})")


def read_ref(common_dir: str, ref: str) -> Reading[str]:
    """The commit that a ref of the repository, named in full, leads to; see `read_head`."""
    try:
        check_git_folder(common_dir)
        if os.path.isdir(f"{common_dir}/reftable"):
            return Unknown("is in a reftable, which only git can read")
        commit = None if _NO_REF.search(ref) else _resolve(ref, common_dir, common_dir)
        return ABSENT if commit is None else Known(commit)
    except _UnreadError as fault:
        return Unknown(str(fault))
    except (OSError, ValueError) as fault:
        return Unknown(f"is not read: {common_dir} cannot be looked at ({reason_of(fault)})")


def is_in_tables(git_dir: str) -> bool:
    """Whether the refs are in a reftable, according to HEAD."""
    try:
        return _read_ref_file(f"{git_dir}/HEAD") == f"ref: {_IN_TABLES}"
    except _UnreadError:
        return False


def listed_head(git_dir: str, checkouts: Iterable[Checkout]) -> Reading[Head]:
    """The HEAD of a checkout in git's listing. ABSENT if git does not list the checkout."""
    listed = next((checkout for checkout in checkouts if checkout.git_dir == git_dir), None)
    if listed is None:
        return ABSENT
    if listed.bare:
        return Unknown("is not listed by git, because the repository is bare")
    if listed.branch == ".invalid":
        return Unknown("names a ref that git cannot read")
    return Known(Head(listed.branch, listed.head))


def _read_ref_file(path: str) -> str | None:
    """The content of HEAD or a loose ref, None without such a file. As in git, a link to a ref is a symbolic ref."""
    try:
        return os.fsdecode(read_bounded(path, _MOST_REF)).rstrip(" \t\r\n")
    except FileNotFoundError:
        return None
    except UnreadableFileError as fault:
        if isinstance(fault.__cause__, NotADirectoryError):
            return None
        linked = _read_link(path)
        if linked is None:
            raise _UnreadError(_describe_place(path, str(fault))) from None
        return f"ref: {linked}"


def _read_link(path: str) -> str | None:
    try:
        target = os.readlink(path)
    except OSError:
        return None
    return target if target.startswith("refs/") else None


def _describe_place(path: str, fault: str) -> str:
    return fault if path.endswith("/HEAD") else f"leads to {path}, which {fault}"


def _check_ref(text: str, where: str) -> str:
    """The full name of the ref that a symbolic ref names. Raises _UnreadError if git would not accept it."""
    if not text:
        raise _UnreadError("is empty" if where == "HEAD" else f"leads to {where}, which is empty")
    ref = text[4:].lstrip() if text.startswith("ref:") else ""
    if ref == _IN_TABLES:
        raise _InTablesError
    if not ref.startswith("refs/") or _NO_REF.search(ref):
        what = "names neither a branch nor a commit"
        raise _UnreadError(what if where == "HEAD" else f"leads to {where}, which {what}")
    return ref


def _resolve(ref: str, git_dir: str, common_dir: str) -> str | None:
    """The commit that a ref leads to. None if the ref does not exist: the branch has no commit yet."""
    for _ in range(_MOST_LINKS):
        folder = git_dir if ref.startswith(_OF_CHECKOUT) else common_dir
        named = _read_loose(f"{folder}/{ref}")
        if named is None:
            packed = _read_packed(common_dir, ref)
            return None if packed is None else _check_commit(packed, ref)
        if _OBJECT.fullmatch(named):
            return _check_commit(named, ref)
        ref = _check_ref(named, ref)
    raise _UnreadError(f"leads through more than {_MOST_LINKS} refs")


def _read_loose(path: str) -> str | None:
    """The content of a loose ref. A folder of the same name holds the branches below it and is not a ref."""
    return None if os.path.isdir(path) else _read_ref_file(path)


def _check_commit(name: str, where: str) -> str:
    """Check the name of a commit. Git writes zeroes for no commit, and a power loss may leave zeroes in a file."""
    if not name.strip("0"):
        raise _UnreadError("holds only zeroes" if where == "HEAD" else f"leads to {where}, which holds only zeroes")
    return name


def _read_packed(common_dir: str, ref: str) -> str | None:
    found = find_packed(f"{common_dir}/packed-refs", ref)
    if isinstance(found, Unknown):
        raise _UnreadError(found.reason)
    return None if isinstance(found, Absent) else found.value


def find_packed(path: str, ref: str) -> Reading[str]:
    """The object that the `packed-refs` file at `path` names for a ref."""
    try:
        return _PACKED.get((path, ref), stamp_file(path), lambda: _search_packed(path, ref))
    except FileNotFoundError:
        return ABSENT
    except UnreadableFileError as fault:
        return Unknown(f"may lead to {path}, which {fault}")


def _search_packed(path: str, ref: str) -> Known[str] | Absent | Unknown:
    """Search the file, without the cache. Raises FileNotFoundError, UnreadableFileError."""
    content = read_bounded(path, _MOST_PACKED)
    at = content.find(b" " + os.fsencode(ref) + b"\n")
    if at < 0:
        return ABSENT
    name = os.fsdecode(content[content.rfind(b"\n", 0, at) + 1 : at])
    return Known(name) if _OBJECT.fullmatch(name) else Unknown(f"leads to a line of {path} that does not name a commit")
