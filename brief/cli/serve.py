"""`serve run|ensure|status|stop`: the server of a repository."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from brief.cli.checkout_argument import located
from brief.cli.output import say
from brief.core.model.errors import ANSWERED, ConflictError, NoServerError
from brief.core.text.sanitize import clean, printable_json
from brief.server import ensure as ensuring
from brief.server.__main__ import HELD
from brief.server.__main__ import main as serve
from brief.server.serving import ServerStatus, status_text


def run_server(args: argparse.Namespace) -> int:
    """Serve in the foreground until ended."""
    here = located(args)
    code = serve(here.common_dir, here.root, detached=False)
    if code == HELD:
        raise ConflictError(f"another server holds {here.common_dir}; see majordomus serve status")
    return code


def ensure_server(args: argparse.Namespace) -> int:
    """Start the server unless one answers already."""
    ensured = ensuring.ensure(located(args))
    first = "started: " if ensured.started else "already there: "
    last = "" if ensured.stays is None else f"it stays until it is idle ({ensured.stays})\n"
    return _told(args, ensured.status, lambda answer: first + status_text(answer) + last)


def show_server(args: argparse.Namespace) -> int:
    """Tell who holds the repository."""
    status, why = ensuring.ping(located(args))
    if status is None:
        raise NoServerError(f"serve status unread: {why}")
    return _told(args, status, status_text)


def stop_server(args: argparse.Namespace) -> int:
    """End the server."""
    status = ensuring.stop(located(args))
    if status is None:
        say("null\n" if args.format == "json" else "nothing to stop: no server holds this repository\n")
        return ANSWERED
    return _told(args, status, _stopped_text)


def _stopped_text(answer: ServerStatus) -> str:
    return f"stopped: pid {answer.pid}, which held {clean(answer.common_dir, 400)} as epoch {answer.epoch}\n"


def _told(args: argparse.Namespace, status: dict[str, object], text: Callable[[ServerStatus], str]) -> int:
    answer = ServerStatus.model_validate(status)
    say(printable_json(answer.model_dump_json()) + "\n" if args.format == "json" else text(answer))
    return ANSWERED
