"""Start this program again, in an interpreter that loads nothing from the environment or the current folder."""

from __future__ import annotations

import os
import sys

_PACKAGES = "-packages"
"""The ending of every folder of installed packages (`site-packages`, `dist-packages`)."""

_START = (
    "import runpy, sys; "
    "at = next((at for at, path in enumerate(sys.path) if path.endswith({packages!r})), len(sys.path)); "
    "sys.path[at:at] = [path for path in {folders!r} if path not in sys.path]; "
    "del sys.argv[0]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


def isolated_command(module: str, *words: str) -> list[str]:
    """The command line that runs `module` with `words`, from the same folder and packages as this process.

    These folders are passed explicitly, because isolation skips the user's own, where `pip install --user` installs.
    """
    return [sys.executable, "-I", "-c", _START.format(packages=_PACKAGES, folders=_package_folders()), module, *words]


def _package_folders() -> list[str]:
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [source, *(path for path in sys.path if path.endswith(_PACKAGES) and path != source)]
