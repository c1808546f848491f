"""Where the person's own files are: their home, which no current folder decides."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path


def home_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """HOME where that is a whole path, else the home of this user's account; `/` where neither names one."""
    named = environ.get("HOME", "")
    if os.path.isabs(named):
        return Path(named)
    try:
        account = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a number without an account, as in containers
        account = ""
    return Path(account if os.path.isabs(account) else "/")
