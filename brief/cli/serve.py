"""`serve run|ensure|status|stop`: the server of a repository."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from brief.cli.place import add_root, located
from brief.cli.saying import say
from brief.core.errors import ANSWERED, ConflictError, NoServerError
from brief.core.text.sanitize import printable_json
from brief.server import ensure as ensuring
from brief.server.__main__ import HELD
from brief.server.__main__ import main as serve
from brief.server.serving import ServerStatus, status_text

if TYPE_CHECKING:
    from brief.cli.place import Commands


def add(commands: Commands) -> None:
    """Add the command group."""
    group = commands.add_parser(
        "serve", help="the server: the process that holds the lease of a repository, one at most"
    )
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
    return _told(args, ensured.status, "started: " if ensured.started else "already there: ")


def _status(args: argparse.Namespace) -> int:
    status, why = ensuring.ping(located(args))
    if status is None:
        raise NoServerError(f"no server answers: {why}")
    return _told(args, status, "")


def _stop(args: argparse.Namespace) -> int:
    here = located(args)
    status = ensuring.stop(here)
    if status is None:
        say(f"nothing to stop: {ensuring.ping(here)[1]}\n")
        return ANSWERED
    if args.format == "json":
        return _told(args, status, "")
    say(f"stopped: pid {status['pid']} of epoch {status['epoch']}\n")
    return ANSWERED


def _told(args: argparse.Namespace, status: dict[str, object], first: str) -> int:
    answer = ServerStatus.model_validate(status)
    say(printable_json(answer.model_dump_json()) + "\n" if args.format == "json" else first + status_text(answer))
    return ANSWERED
