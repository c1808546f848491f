"""Render a server's status for a person, without loading its model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from brief.core.text.sanitize import clean, elapsed, span


def server_text(status: Mapping[str, Any]) -> str:
    """The status in a few lines. `status` is the JSON of a `ServerStatus`.

    Raises KeyError, TypeError or ValueError for anything else.
    """
    at, since, ends_idle = (datetime.fromisoformat(status[name]) for name in ("at", "since", "ends_idle"))
    tcp = f" and {status['tcp']}" if status["tcp"] else ""
    count = f"{status['episodes']} open episode{'' if status['episodes'] == 1 else 's'}"
    outdated = f"{clean(status['outdated'])}\n" if status.get("outdated") else ""
    ends = f"it ends: {clean(status['ends_because'], 600)}\n" if status.get("ends_because") else ""
    losses = "".join(f"{clean(loss, 600)}\n" for loss in status.get("losses", ()))
    return (
        f"pid {status['pid']} {status['lease']} {clean(status['common_dir'], 400)}\n"
        f"epoch {status['epoch']}, version {status['version']}, up for {elapsed(at - since)}\n"
        f"answers at {status['socket']}{tcp}\n"
        f"{count}; ends in {span(ends_idle - at)} if nobody calls\n"
        f"{outdated}"
        f"{ends}"
        f"{losses}"
    )


def stopped_text(status: Mapping[str, Any]) -> str:
    """The line about a server that was stopped. `status` is its last status."""
    return f"stopped: pid {status['pid']}, which held {clean(status['common_dir'], 400)} as epoch {status['epoch']}\n"
