"""`hook EVENT` when the fast path cannot answer it because no server does."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any

from brief.cli.offline import offline_service
from brief.compose import DEADLINE_SECONDS
from brief.fastpath.hook import SPEAKING, Call, ask_server, record_nothing, run_hook
from brief.fastpath.lease import NoServerError, state_dir
from brief.fastpath.waiting import start_server
from brief.git.ownership import accept_by_git
from brief.handlers.hooks import HookInputs
from brief.handlers.hooks import report_event as composed
from brief.policy import PolicyStatus, read_policy
from brief.support.delivery import Delivery, Reached, collect_notes
from brief.support.state_folder import UnprovenStateError, refuse_unproven

END_SECONDS = 0.2
"""Seconds kept to render and print after the deadline of the sections."""


def answer_hook(args: argparse.Namespace) -> int:
    """Answer a hook that the fast path left to the whole command."""
    return run_hook([args.event], compose_alone)


def compose_alone(call: Call, absence: str) -> tuple[str, Callable[[], object]]:
    """Return the text that the session must read, and a function that records that it was read.

    The text is composed by this process, except that a server in a git folder that only git accepts is asked here. When a
    session starts, a server is started but not waited for.
    """
    # A server logs other errors. A command has no log, and the client would show whatever it prints.
    logging.getLogger("brief").addHandler(logging.NullHandler())
    if accept_by_git(call.here.common_dir, call.here.root):
        with contextlib.suppress(NoServerError, ValueError):
            return ask_server(call), record_nothing
    if call.event not in SPEAKING:
        return "", record_nothing
    if call.event == "session-start":
        _start_server(call)
    left = call.until - END_SECONDS - time.monotonic()
    service = offline_service(call.here, absence, min(DEADLINE_SECONDS, max(0.0, left)))
    told: dict[str, Any] = call.body()
    delivery = Delivery()
    with collect_notes(delivery):
        context = asyncio.run(composed(service, HookInputs(**told))).context
    return context, lambda: asyncio.run(delivery.conclude(Reached.READ))


def _start_server(call: Call) -> None:
    """Start a server if the repository's policy asks for it. If that fails, the text says why no server answers."""
    policy = read_policy(call.here.root, call.here.common_dir)
    if policy.status in (PolicyStatus.READ, PolicyStatus.FAULTY) and policy.settings.session.ensure_server_on_start:
        with contextlib.suppress(UnprovenStateError):  # the text says whose it is
            refuse_unproven(state_dir(call.here.common_dir))
            start_server(call.here.name)
