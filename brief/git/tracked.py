"""Whether git tracks files in a folder. Files in such a folder are not renamed unasked."""

from __future__ import annotations

import os

from brief.fastpath.locate import NotLocatedError, locate
from brief.git.command import run
from brief.support.files import stamp_file
from brief.support.stat_cache import StatCache

_TRACKED: StatCache[str, bool] = StatCache(256)


def is_tracked(folder: str) -> bool:
    """Whether a file in or below the folder is in the index of its checkout. Cached until the index changes.

    A folder outside every checkout, or inside a git folder, is not tracked. Raises GitError.
    """
    real = os.path.realpath(folder)
    try:
        here = locate(real)
    except NotLocatedError:
        return False
    index = stamp_file(f"{here.git_dir}/index")
    return index is not None and _TRACKED.get(real, index, lambda: bool(run(["ls-files", "-z", "--", "."], real)))
