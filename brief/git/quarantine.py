"""A temporary folder for the objects that git writes, so that none reaches the repository."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from brief.core.model.errors import GitError
from brief.support.files import reason_of


@contextmanager
def quarantine(common_dir: str) -> Iterator[dict[str, str]]:
    """Yield an environment in which git reads the objects of `common_dir` but writes to a folder that is removed after.

    Git also follows the alternates that the repository itself names.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="majordomus-objects-", ignore_cleanup_errors=True)
    except OSError as error:
        raise GitError(
            f"a temporary folder for git's objects cannot be created in {tempfile.gettempdir()}: {reason_of(error)}"
        ) from error
    with folder as objects:
        yield {"GIT_OBJECT_DIRECTORY": objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quote(f"{common_dir}/objects")}


def _quote(path: str) -> str:
    """Quote a path, C style, as an entry of a list that git splits at colons."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
