"""The whole command: every word it knows, and how a fault is told."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from brief import PURPOSE, __version__
from brief.capabilities.table import CAPABILITIES
from brief.cli import capture, doctor, hook, policies, projection, serve
from brief.cli.output import complain, say
from brief.cli.words import Parser
from brief.core.model.errors import USAGE, MajordomusError
from brief.core.text.sanitize import clean
from brief.fastpath.output import OutputError
from brief.git.ownership import accept_by_git

if TYPE_CHECKING:
    from brief.cli.checkout_argument import Commands

WORDS = """\
words:
  episode    one conversation of a coding agent, known by its id
  task       what an episode works on now, and what it does next
  checkout   a git work tree: the primary one or a linked one
  server     the process that holds the lease of a repository, one at most, for
             all its checkouts
  board      the episodes of one checkout; peers are the boards of them all
  section    one part of a brief: state, peers, mesh, integration, derive or
             alerts
  status     how far a section was read:
               read        answered in full
               partial     some of it could not be read
               unread      nobody was asked or nobody answered, which is not the
                           same as nothing there
               undeclared  nothing is set up to ask
  notice     a Markdown file that sessions leave each other: lock, courtesy,
             reminder, alert, bug-dep
  wake       the prompt that the schedule queues for an idle session
  look       the regular question of a session's mod to the server

exit codes:
  0 answered; 1 failed; 2 a word or a value that cannot be used;
  10 answered, but not all was read (with --strict)
"""

GROUPS = {
    "peers": "Who else is here",
    "episode": "The conversations of coding agents in this repository",
    "task": "What an episode works on now",
    "queue": "The branches that wait to be merged",
    "derive": "The lock that lets one checkout at a time run what all of them share",
    "lock": "What nobody else is to change meanwhile, held by one session at a time",
    "alerts": "The notices that sessions leave each other",
    "wake": "The prompts by which idle sessions are briefed",
}


def parser() -> Parser:
    """The parser of every command, made from the capabilities and the local commands."""
    whole = Parser(
        prog="majordomus",
        description=textwrap.fill(PURPOSE, 80),
        epilog=WORDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"majordomus {__version__}")
    commands: Commands = whole.add_subparsers(metavar="COMMAND", required=True)
    groups: dict[str, Commands] = {}
    for capability in CAPABILITIES:
        if not capability.cli:
            continue
        *group, name = capability.cli
        if group and group[0] not in groups:
            made = commands.add_parser(group[0], help=GROUPS[group[0]], description=GROUPS[group[0]])
            groups[group[0]] = made.add_subparsers(metavar="ACTION", required=True)
        place = groups[group[0]] if group else commands
        command = place.add_parser(name, help=capability.title, description=capability.title)
        projection.add_options(command, capability)
        command.set_defaults(run=lambda args, capability=capability: projection.run(capability, args))
    statusline = commands.add_parser(
        "statusline",
        help="Print one line for the status line of a client, whose JSON comes on standard input",
        description="Print one line for the status line of a client, whose JSON comes on standard input. "
        "Where no server answers it is the last line known, with its age.",
    )
    statusline.set_defaults(run=_statusline)
    hook.add(commands)
    serve.add(commands)
    policies.add(commands)
    capture.add(commands)
    doctor.add(commands)
    return whole


def _statusline(args: argparse.Namespace) -> int:  # noqa: ARG001 - every action is run alike
    from brief.fastpath.statusline import statusline  # noqa: PLC0415 - run by the fast path in all other cases

    return statusline(accept_by_git)


def main(words: Sequence[str]) -> int:
    """Run the command that `words` make; a fault is a sentence on standard error and an exit code."""
    if not words:  # nobody knows yet what there is
        say(parser().format_help())
        return USAGE
    try:
        args = parser().parse_args(words)
        code: int = args.run(args)
    except SystemExit as end:  # argparse ends by itself after help and after a mistake
        return int(end.code or 0)
    except MajordomusError as fault:
        return complain(fault)
    except OutputError:
        raise
    except Exception as fault:  # noqa: BLE001 - a person gets a sentence, whatever happened
        told = clean(str(fault), 400)
        return complain(MajordomusError(f"unexpected {type(fault).__name__}: {told}; please report it"))
    return code
