"""The parser of every command, made without loading what the commands do."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from brief import PURPOSE, __version__
from brief.cli.command_words import COMMANDS
from brief.cli.local_commands import add_local_commands
from brief.cli.words import Parser, RawHelpFormatter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brief.cli.command_words import Command
    from brief.cli.words import Commands

WORDS = """\
terms:
  session     one conversation with a coding agent
  episode     the record of a session: its id, process, checkout, branch and
              state
  task        what an episode is working on, and its next action
  checkout    a git work tree, primary or linked
  repository  every checkout of one git folder
  clone       a copy of the repository with the same root commits, but its own
              git folder
  server      the process that holds the lease of a repository; there is at most
              one, and it serves every checkout
  board       the episodes of one checkout
  peers       the boards of every checkout, of other clones on this machine and
              of other machines on the mesh
  section     one part of a brief: state, peers, mesh, integration, derive or
              alerts
  status      how much of a section was read:
                read        the section was answered in full
                partial     some of it could not be read
                unread      nobody was asked or nobody answered; this does not
                            mean that nothing is there
                undeclared  nothing is set up to ask
  notice      a Markdown file that sessions leave each other: a lock, courtesy,
              reminder, alert or bug-dep
  wake        the prompt that the schedule queues for an idle session
  heartbeat   the regular call in which a session's mod reports the session's
              state and receives its line and at most one prompt
  channel     the way a brief reaches a session, such as a mod or a hook

exit codes:
  0   answered
  1   failed
  2   unknown word, or a value that cannot be used
  10  answered, but not everything was read (with --strict)
  12  gave up waiting

start with:
  majordomus brief    print what a session needs to know; needs no set-up
  majordomus init     write a policy to edit, and show the next step
  majordomus doctor   check everything that briefs depend on
"""

GROUPS = {
    "peers": "Show who else works in this repository, and announce what you will change",
    "episode": "List, open or close episodes, the conversations with coding agents",
    "task": "Show or set what an episode is working on",
    "queue": "Show the branches that wait to be merged",
    "derive": "Show the derive lock, which lets one checkout at a time run what all checkouts share",
    "lock": "Place, release or list locks; a lock names what only one session may change",
    "alerts": "List and manage the notices that sessions leave each other",
    "wake": "List, pause or request wakes, the prompts that brief idle sessions",
}


def build_parser() -> Parser:
    """The parser of every command, made from the words of the capabilities and of the local commands."""
    whole, commands = _build_empty()
    _add_capabilities(commands, COMMANDS)
    add_local_commands(commands)
    return whole


def parser_for(words: Sequence[str]) -> Parser:
    """A parser that reads `words` as `build_parser` does: it knows one command where they name one, since each costs 1 ms."""
    named = [command for command in COMMANDS if command[1] == tuple(words[: len(command[1])])]
    if not words or (not named and any(words[0] == command[1][0] for command in COMMANDS)):
        return build_parser()
    whole, commands = _build_empty()
    _add_capabilities(commands, named)
    if not named:
        add_local_commands(commands)
    return whole if named or words[0] in commands.choices else build_parser()


def _build_empty() -> tuple[Parser, Commands]:
    whole = Parser(
        prog="majordomus",
        description=textwrap.fill(PURPOSE, 80),
        epilog=WORDS,
        formatter_class=RawHelpFormatter,
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
