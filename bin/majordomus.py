#!python
"""What the script `majordomus` runs outside a virtual environment; an installer writes its Python into the first line.

Its words are the script as it was called, and those of the person.
"""

import os
import site
import sys


def add_packages() -> None:
    """Add the folder of packages that belongs to this bin/, which -I leaves out where it is the person's own.

    It goes before the system's, as without -I.
    """
    lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "lib")
    for name in ("python{}.{}".format(*sys.version_info), "python"):  # the second in a framework of macOS
        folder = os.path.join(lib, name, "site-packages")
        if folder in sys.path or not os.path.isdir(folder):
            continue
        before = [*sys.path]
        site.addsitedir(folder)
        first = next((at for at, path in enumerate(before) if path.endswith("-packages")), len(before))
        sys.path[:] = before[:first] + sys.path[len(before) :] + before[first:]


add_packages()
del sys.argv[0]

from brief.__main__ import run_command  # noqa: E402 - it is found there only now

run_command()
