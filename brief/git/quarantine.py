"""A place for the objects that a question makes git write, so that none reaches the repository."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from brief.core.model.errors import GitError
from brief.support.files import reason_of


@contextmanager
def quarantine(common_dir: str) -> Iterator[dict[str, str]]:
    """The environment under which git reads the objects of `common_dir` and writes into a folder removed afterwards.

    The alternates that the repository names itself are followed by git from there.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="majordomus-objects-", ignore_cleanup_errors=True)
    except OSError as error:
        raise GitError(
            f"no temporary folder for git's objects can be made in {tempfile.gettempdir()}: {reason_of(error)}"
        ) from error
    with folder as objects:
        yield {"GIT_OBJECT_DIRECTORY": objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(f"{common_dir}/objects")}


def _quoted(path: str) -> str:
    """A path as one entry of a list that git splits at colons: in quotes, C fashion."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
