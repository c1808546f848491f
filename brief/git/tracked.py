"""Whether git keeps files of a folder, in which nothing may be renamed unasked."""

from __future__ import annotations

import os

from brief.fastpath.locate import NotLocatedError, locate
from brief.git.command import run
from brief.support.files import stamp
from brief.support.stat_cache import StatCache

_TRACKED: StatCache[str, bool] = StatCache(256)


def is_tracked(folder: str) -> bool:
    """Whether a file in the folder, or deeper, is in the index of its checkout; asked again once that index changed.

    A folder outside every checkout, the inside of a git folder among them, is not tracked. Raises GitError.
    """
    real = os.path.realpath(folder)
    try:
        here = locate(real)
    except NotLocatedError:
        return False
    index = stamp(f"{here.git_dir}/index")
    return index is not None and _TRACKED.get(real, index, lambda: bool(run(["ls-files", "-z", "--", "."], real)))
