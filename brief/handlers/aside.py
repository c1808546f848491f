"""Work beside an answer, which the answer does not depend on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

ASIDE_SECONDS = 0.1
"""How long the text waits for what is done beside it."""

Result = TypeVar("Result")

log = logging.getLogger(__name__)


async def aside(work: Awaitable[Result]) -> Result | None:
    """Do what the text does not depend on: where that fails or takes long, None, and the text comes all the same."""
    try:
        async with asyncio.timeout(ASIDE_SECONDS):
            return await work
    except Exception as fault:  # noqa: BLE001 - whatever it is, the session goes on
        log.warning("not done beside a text", extra={"reason": repr(fault)})
        return None
