"""Modules that a server loads only after its first answer, which they would delay."""

from __future__ import annotations

import asyncio
from importlib import import_module

from brief.core.model.brief import SECTIONS
from brief.sections.readers import load_reader
from brief.support.daemon_threads import in_thread

LATE_SECONDS = 2.0
"""How long after its start a server loads them. By then the client that started it has its answer."""

_LATE = ("wcwidth", "yaml")


async def load_rest() -> None:
    """Load them all: an upgrade may remove their files while the server runs, so it must not need them later."""
    await asyncio.sleep(LATE_SECONDS)
    await in_thread(_load)


def _load() -> None:
    for name in SECTIONS:
        load_reader(name)
    for name in _LATE:
        import_module(name)
