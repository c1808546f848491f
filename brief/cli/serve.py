"""`serve run|ensure|status|stop`: the server of a repository."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from brief.cli.checkout_argument import locate_checkout
from brief.cli.output import print_text
from brief.core.model.errors import ANSWERED, ConflictError, NoServerError
from brief.core.text.sanitize import printable_json
from brief.core.text.server_status import server_text, stopped_text
from brief.server import HELD
from brief.server import ensure as ensuring


def run_server(args: argparse.Namespace) -> int:
    """Run the server in the foreground until it is stopped."""
    from brief.server.__main__ import main as serve  # noqa: PLC0415 - slow, and the other commands need none of it

    here = locate_checkout(args)
    code = serve(here.common_dir, here.root, detached=False)
    if code == HELD:
        raise ConflictError(f"another server holds {here.common_dir}; see majordomus serve status")
    return code


def ensure_server(args: argparse.Namespace) -> int:
    """Start the server unless one already answers."""
    here = locate_checkout(args)
    if args.unless_stopped:
        ensuring.refuse_stopped(here)
    ensured = ensuring.ensure(here)
    first = "started: " if ensured.started else "already there: "
    last = "" if ensured.stays is None else f"it stays until it is idle ({ensured.stays})\n"
    return _print_status(args, ensured.status, lambda status: first + server_text(status) + last)


def show_server(args: argparse.Namespace) -> int:
    """Show which server holds the repository."""
    status, why = ensuring.ping(locate_checkout(args))
    if status is None:
        raise NoServerError(f"serve status unread: {why}")
    return _print_status(args, status, server_text)


def stop_server(args: argparse.Namespace) -> int:
    """Stop the server, until a person starts it again."""
    here = locate_checkout(args)
    status = ensuring.stop(here)
    ensuring.mark_stopped(here.common_dir)
    if status is None:
        print_text("null\n" if args.format == "json" else "nothing to stop: no server holds this repository\n")
        return ANSWERED
    return _print_status(args, status, stopped_text)


def _print_status(args: argparse.Namespace, status: dict[str, Any], text: Callable[[dict[str, Any]], str]) -> int:
    try:
        told = text(status)
    except (KeyError, TypeError, ValueError):
        raise NoServerError(
            "this version does not understand the server's answer; run majordomus serve stop, then serve ensure"
        ) from None
    document = json.dumps(status, ensure_ascii=False, separators=(",", ":"))
    print_text(f"{printable_json(document)}\n" if args.format == "json" else told)
    return ANSWERED
