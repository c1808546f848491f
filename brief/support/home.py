"""The person's home folder, independent of the current folder."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path


def home_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """HOME if it is an absolute path, else the home of the user's account, else `/`."""
    named = environ.get("HOME", "")
    if os.path.isabs(named):
        return Path(named)
    return account_home()


def account_home() -> Path:
    """The home of the user's account, whatever the environment says. `/` if there is none."""
    try:
        account = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a user id without an account, as in containers
        account = ""
    return Path(account if os.path.isabs(account) else "/")
