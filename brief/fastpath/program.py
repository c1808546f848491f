"""How this program starts itself again: in an interpreter that takes nothing from the environment or the current folder."""

from __future__ import annotations

import os
import sys

_PACKAGES = "-packages"
"""How every folder of installed packages ends."""

_START = (
    "import runpy, sys; "
    "at = next((at for at, path in enumerate(sys.path) if path.endswith({packages!r})), len(sys.path)); "
    "sys.path[at:at] = [path for path in {folders!r} if path not in sys.path]; "
    "del sys.argv[0]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


def isolated(module: str, *words: str) -> list[str]:
    """The words that run `module` with `words`, from the folder and with the packages that this process has it from.

    Those folders are named, since isolation leaves out the person's own, where `pip install --user` puts us.
    """
    return [sys.executable, "-I", "-c", _START.format(packages=_PACKAGES, folders=_folders()), module, *words]


def _folders() -> list[str]:
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [source, *(path for path in sys.path if path.endswith(_PACKAGES) and path != source)]


def leave_out_plugins() -> None:
    """Have pydantic look for no plugins, in this process and in those it starts: that takes longer than loading it."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
