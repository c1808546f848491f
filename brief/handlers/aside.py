"""Work that is done beside an answer and on which the answer does not depend."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

ASIDE_SECONDS = 0.1
"""How long an answer waits for the work beside it."""

Result = TypeVar("Result")

log = logging.getLogger(__name__)


async def run_aside(work: Awaitable[Result]) -> Result | None:
    """Do work on which an answer does not depend. If it fails or takes too long, log that and return None."""
    try:
        async with asyncio.timeout(ASIDE_SECONDS):
            return await work
    except Exception as fault:  # noqa: BLE001 - whatever it is, the session goes on
        log.warning("work beside an answer failed", extra={"reason": repr(fault)})
        return None
