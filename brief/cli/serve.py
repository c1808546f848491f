"""`serve run|ensure|status|stop`: the server of a repository."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from brief.cli.checkout_argument import add_root, located
from brief.cli.output import say
from brief.core.model.errors import ANSWERED, ConflictError, NoServerError
from brief.core.text.sanitize import clean, printable_json
from brief.server import ensure as ensuring
from brief.server.__main__ import HELD
from brief.server.__main__ import main as serve
from brief.server.serving import ServerStatus, status_text

if TYPE_CHECKING:
    from brief.cli.checkout_argument import Commands


def add(commands: Commands) -> None:
    """Add the command group."""
    title = "The server: the process that holds the lease of a repository, one at most"
    group = commands.add_parser("serve", help=title, description=title)
    actions = group.add_subparsers(metavar="ACTION", required=True)
    for name, title, action in (
        ("run", "Serve in the foreground until ended, with the log on standard error", _run),
        ("ensure", "Start the server of this repository unless one answers already", _ensure),
        ("status", "Tell who holds this repository and where it answers", _status),
        ("stop", "End the server of this repository; what is under way is answered first", _stop),
    ):
        parser = actions.add_parser(name, help=title, description=title)
        add_root(parser)
        if name != "run":
            parser.add_argument("--format", choices=("text", "json"), default="text", help="text for a person, or JSON")
        parser.set_defaults(run=action)


def _run(args: argparse.Namespace) -> int:
    here = located(args)
    code = serve(here.common_dir, here.root, detached=False)
    if code == HELD:
        raise ConflictError(f"another server holds {here.common_dir}; see majordomus serve status")
    return code


def _ensure(args: argparse.Namespace) -> int:
    ensured = ensuring.ensure(located(args))
    first = "started: " if ensured.started else "already there: "
    last = "" if ensured.stays is None else f"it stays until it is idle ({ensured.stays})\n"
    return _told(args, ensured.status, lambda answer: first + status_text(answer) + last)


def _status(args: argparse.Namespace) -> int:
    status, why = ensuring.ping(located(args))
    if status is None:
        raise NoServerError(f"serve status unread: {why}")
    return _told(args, status, status_text)


def _stop(args: argparse.Namespace) -> int:
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
