"""The parser of every command, made without loading what the commands do."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING

from brief import PURPOSE, __version__
from brief.cli.command_words import COMMANDS
from brief.cli.local_commands import add_local_commands
from brief.cli.words import Parser

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brief.cli.command_words import Command
    from brief.cli.words import Commands

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
  heartbeat  the regular call of a session's mod to the server

exit codes:
  0 answered; 1 failed; 2 a word or a value that cannot be used;
  10 answered, but not all was read (with --strict); 12 gave up waiting

start with:
  majordomus brief    what a session must know here; reading needs no set-up
  majordomus init     write a policy to edit, and say what to do next
  majordomus doctor   check what briefs rest on
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
    """The parser of every command, made from the words of the capabilities and of the local commands."""
    whole, commands = _empty()
    _add_capabilities(commands, COMMANDS)
    add_local_commands(commands)
    return whole


def parser_for(words: Sequence[str]) -> Parser:
    """A parser that reads `words` as `parser` does: it knows one command where they name one, since each costs 1 ms."""
    named = [command for command in COMMANDS if command[1] == tuple(words[: len(command[1])])]
    if not words or (not named and any(words[0] == command[1][0] for command in COMMANDS)):
        return parser()
    whole, commands = _empty()
    _add_capabilities(commands, named)
    if not named:
        add_local_commands(commands)
    return whole if named or words[0] in commands.choices else parser()


def _empty() -> tuple[Parser, Commands]:
    whole = Parser(
        prog="majordomus",
        description=textwrap.fill(PURPOSE, 80),
        epilog=WORDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"majordomus {__version__}")
    return whole, whole.add_subparsers(metavar="COMMAND", required=True)


def _add_capabilities(commands: Commands, chosen: Iterable[Command]) -> None:
    groups: dict[str, Commands] = {}
    for capability, (*group, name), title, arguments in chosen:
        if group and group[0] not in groups:
            made = commands.add_parser(group[0], help=GROUPS[group[0]], description=GROUPS[group[0]])
            groups[group[0]] = made.add_subparsers(metavar="ACTION", required=True)
        place = groups[group[0]] if group else commands
        command = place.add_parser(name, help=title, description=title)
        for argument, told in arguments:
            command.add_argument(argument, **told)
        command.set_defaults(run="projection.run_capability", capability=capability)
