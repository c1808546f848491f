"""Find external programs on PATH, but never inside the repository in question.

Reading a repository must not run a program of its choice. So these folders of PATH are skipped: empty or relative ones,
which depend on the current folder; those in a checkout of the repository or in its git folder; and those that everybody
may write to and that another user owns.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.locate import NotLocatedError, locate

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

KEPT_SECONDS = 10.0
"""How long answers about folders are cached at most, since a survey starts hundreds of processes."""

_STEERING = ("GIT_", "PYTHON")
_KEPT = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})
_PATHS = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH", "HOME", "XDG_CONFIG_HOME"})
_DEFAULT = "/usr/local/bin:/usr/bin:/bin"


def find_program(name: str, folder: str, environ: Mapping[str, str] = os.environ) -> Reading[str]:
    """The absolute path of a program that may be started for the repository around `folder`.

    Unknown if it was not found, but a folder of PATH could not be searched.
    """
    hidden, now = None, _now()
    repository = _find_repository(folder, now)
    for place in _list_folders(environ.get("PATH", _DEFAULT), repository, now):
        path = os.path.join(place, name)
        try:
            mode = os.stat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as fault:
            hidden = hidden or f"{place} cannot be searched ({fault.strerror})"
            continue
        if stat.S_ISREG(mode) and os.access(path, os.X_OK) and not _is_within(path, repository, now):
            return Known(path)
    return Unknown(hidden) if hidden else ABSENT


def search_path(folder: str, environ: Mapping[str, str] = os.environ) -> str:
    """The PATH for a process started for the repository around `folder`, without the folders in which a repository could plant a program."""
    now = _now()
    return os.pathsep.join(_list_folders(environ.get("PATH", _DEFAULT), _find_repository(folder, now), now))


def environment_for(folder: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a process that is started for the repository around `folder`.

    It lacks the variables that point git to another repository, index or trace file, those that control Python, and
    paths that are relative or lead into the repository. HOME may lie in the repository.
    """
    now = _now()
    repository = _find_repository(folder, now)
    kept = {name: value for name, value in environ.items() if name in _KEPT or not name.startswith(_STEERING)}
    for name in _PATHS & kept.keys():
        is_free = os.path.isabs(kept[name]) and (name == "HOME" or not _is_within(kept[name], repository, now))
        if not is_free:
            del kept[name]
    return kept | {"PATH": search_path(folder, environ)}


def repository_around(folder: str) -> str | None:
    """The common git folder of the checkout around `folder`, or the git folder that contains it. None outside both."""
    try:
        return locate(folder).common_dir
    except NotLocatedError:
        here = os.path.realpath(folder)
        return next((each for each in _walk_up(here) if _is_git_dir(each)), None)


def lies_in(path: str, repository: str) -> bool:
    """Whether a path leads into a git folder or one of its checkouts. Cached for a few seconds."""
    return _is_within(path, repository, _now())


def is_inside(path: str, repository: str | None) -> bool:
    """Whether a resolved path lies in a git folder or in one of its checkouts. True if that is unknown."""
    if repository is None:
        return False
    return any(each == repository or _is_checkout_of(each, repository) for each in _walk_up(path))


def _now() -> int:
    """The number of the current span of KEPT_SECONDS. In a cache key, it expires the entries of earlier spans."""
    return int(time.monotonic() / KEPT_SECONDS)


@lru_cache(maxsize=256)
def _find_repository(folder: str, now: int) -> str | None:  # noqa: ARG001 - it only expires the cache
    return repository_around(folder)


@lru_cache(maxsize=256)
def _is_within(path: str, repository: str | None, now: int) -> bool:  # noqa: ARG001 - likewise
    return is_inside(os.path.realpath(path), repository)


@lru_cache(maxsize=256)
def _list_folders(path: str, repository: str | None, now: int) -> tuple[str, ...]:  # noqa: ARG001 - likewise
    return tuple(each for each in path.split(os.pathsep) if _may_be_searched(each, repository))


def _may_be_searched(folder: str, repository: str | None) -> bool:
    if not os.path.isabs(folder):
        return False
    try:
        found = os.stat(folder)
    except OSError:  # nothing will be found in it, or the search will say why
        return True
    is_anybodys = bool(found.st_mode & stat.S_IWOTH) and found.st_uid != os.geteuid()
    return not is_anybodys and not is_inside(os.path.realpath(folder), repository)


def _is_checkout_of(folder: str, repository: str) -> bool:
    if not os.path.lexists(os.path.join(folder, ".git")):
        return False
    try:
        return locate(folder).common_dir == repository
    except NotLocatedError:
        return True


def _is_git_dir(folder: str) -> bool:
    return all(os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))


def _walk_up(path: str) -> Iterator[str]:
    while True:
        yield path
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent
