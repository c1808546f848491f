"""The words of the commands that no server answers; what they do is loaded when one is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brief.cli.command_words import FORMAT, ROOT
from brief.core.policy.names import POLICY_FILE
from brief.fastpath.hook import EVENTS

if TYPE_CHECKING:
    from brief.cli.command_words import Argument
    from brief.cli.words import Commands, Parser

_CHANNEL = ("mod", "hooks")


def add_local_commands(commands: Commands) -> None:
    """Add the commands, in the order of the help. `run` names the module and function of each (`main.find_action`)."""
    _add_statusline(commands)
    _add_hook(commands)
    _add_serve(commands)
    _add_init(commands)
    _add_policy(commands)
    _add_trust(commands)
    _add_capture(commands)
    _add_doctor(commands)


def _add(commands: Commands, name: str, title: str, run: str) -> Parser:
    """Add a command that is about a checkout."""
    parser: Parser = commands.add_parser(name, help=title, description=title)
    _give(parser, ROOT)
    parser.set_defaults(run=run)
    return parser


def _add_group(commands: Commands, name: str, title: str) -> Commands:
    group = commands.add_parser(name, help=title, description=title)
    actions: Commands = group.add_subparsers(metavar="ACTION", required=True)
    return actions


def _give(parser: Parser, argument: Argument) -> None:
    name, told = argument
    parser.add_argument(name, **told)


# ---------------------------------------------------------------- for clients


def _add_statusline(commands: Commands) -> None:
    title = "Print one line for the status line of a client, whose JSON comes on standard input"
    more = "Where no server answers it is the last line known, with its age."
    parser = commands.add_parser("statusline", help=title, description=f"{title}. {more}")
    parser.set_defaults(run="statusline.print_statusline")


def _add_hook(commands: Commands) -> None:
    parser = commands.add_parser(
        "hook",
        help="Answer a hook of a client, whose JSON comes on standard input",
        description="Answer a hook of a client, whose JSON comes on standard input: one JSON document with what the "
        "session must read now, or nothing. Events are " + ", ".join(EVENTS) + ", also by the client's own names. "
        "It ends within 2 seconds and always with exit code 0. The event wake is for a hook with asyncRewake beside "
        "an interactive session of Claude Code: it sleeps until the brief is due and the session idle, then writes it to "
        "standard error and exits with 2, which wakes the session.",
    )
    parser.add_argument("event", metavar="EVENT", help="which event it is")
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        help="with wake: whose settings declare the hook; a session is woken at once only by its project's",
    )
    parser.set_defaults(run="hook.answer_hook")


def _add_serve(commands: Commands) -> None:
    title = "The server: the process that holds the lease of a repository, one at most"
    actions = _add_group(commands, "serve", title)
    _add(actions, "run", "Serve in the foreground until ended, with the log on standard error", "serve.run_server")
    for name, title, run in (
        ("ensure", "Start the server of this repository unless one answers already", "serve.ensure_server"),
        ("status", "Tell who holds this repository and where it answers", "serve.show_server"),
        ("stop", "End the server of this repository; what is under way is answered first", "serve.stop_server"),
    ):
        _give(_add(actions, name, title, run), FORMAT)


# ---------------------------------------------------------------- what a repository and its person decided


def _add_init(commands: Commands) -> None:
    parser = _add(
        commands,
        "init",
        f"Write a policy to edit, {POLICY_FILE}, and print the lines that tell a session what to read first",
        "policies.init",
    )
    parser.add_argument("--lines", action="store_true", help="print those lines alone, and write nothing")


def _add_policy(commands: Commands) -> None:
    actions = _add_group(commands, "policy", "The policy: what a repository decided about its briefs")
    _add(
        actions,
        "check",
        "Tell every fault of the policy, with what to write instead; exit 2 where there is one",
        "policies.check_policy",
    )
    show = "Show the value of every key that is in force, and where it comes from"
    _give(_add(actions, "show", show, "policies.show_policy"), FORMAT)
    title = "Print the JSON Schema of the policy, for editors"
    schema = actions.add_parser("schema", help=title, description=title)
    schema.set_defaults(run="policies.print_schema")


def _add_trust(commands: Commands) -> None:
    parser = _add(
        commands,
        "trust",
        "Let the values count that this policy asks for and that reach outside the repository: a port, a host, a folder elsewhere",
        "policies.change_trust",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--list", action="store_true", help="tell what the policy asks for and what is trusted, and change nothing"
    )
    what.add_argument("--revoke", action="store_true", help="trust nothing of this repository any longer")


# ---------------------------------------------------------------- mods, health


def _add_capture(commands: Commands) -> None:
    title = "How briefs reach the sessions of a client by themselves: its mods, put into its folders and taken out"
    actions = _add_group(commands, "capture", title)
    installing = _add_for_client(
        actions,
        "install",
        "Put the mods where the client finds them: in a checkout as far as its policy consents, and where it no longer does "
        "take them out; for all sessions of yours by your word alone",
        "capture.install_mods",
    )
    installing.add_argument(
        "--channel",
        choices=_CHANNEL,
        default="mod",
        help="hooks prints the settings for a client without mods, and writes nothing",
    )
    showing = _add_for_client(
        actions,
        "status",
        "Tell where the mods are, whether they are as written, and whether they load",
        "capture.show_mods",
    )
    _give(showing, FORMAT)
    removing = _add_for_client(actions, "remove", "Take the mods out, whatever the policy says", "capture.remove_mods")
    removing.add_argument(
        "--channel",
        choices=_CHANNEL,
        default="mod",
        help="hooks are taken out of the settings by hand; this tells which files name them",
    )


def _add_for_client(commands: Commands, name: str, title: str, run: str) -> Parser:
    parser = _add(commands, name, title, run)
    parser.add_argument("--provider", choices=("claude-code",), default="claude-code", help="which client")
    parser.add_argument(
        "--scope",
        choices=("project", "user"),
        default="project",
        help="for sessions that start in this checkout, or for all sessions of yours",
    )
    return parser


def _add_doctor(commands: Commands) -> None:
    title = (
        "Look at all that the briefs of this repository rest on, and say what to do; exit 1 where something is broken"
    )
    _give(_add(commands, "doctor", title, "doctor.show_diagnosis"), FORMAT)
