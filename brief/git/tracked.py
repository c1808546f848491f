"""Whether git keeps files of a folder, in which nothing may be renamed unasked."""

from __future__ import annotations

import os
from functools import lru_cache

from brief.fastpath.locate import NotLocatedError, locate
from brief.git.command import run
from brief.support.files import Stamp, stamp


def is_tracked(folder: str) -> bool:
    """Whether a file in the folder, or deeper, is in the index of its checkout; asked again once that index changed.

    A folder outside every checkout, the inside of a git folder among them, is not tracked. Raises GitError.
    """
    real = os.path.realpath(folder)
    try:
        here = locate(real)
    except NotLocatedError:
        return False
    return _is_listed(real, stamp(f"{here.git_dir}/index"))


@lru_cache(maxsize=256)
def _is_listed(folder: str, index: Stamp | None) -> bool:
    return index is not None and bool(run(["ls-files", "-z", "--", "."], folder))
