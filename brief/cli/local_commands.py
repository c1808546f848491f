"""The parsers of the commands that no server answers; their code is loaded only when one is run."""

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
    title = "Print one line for a client's status line, reading the client's JSON from standard input"
    more = "If no server answers, this is the last known line, with its age."
    parser = commands.add_parser("statusline", help=title, description=f"{title}. {more}")
    parser.set_defaults(run="statusline.print_statusline")


def _add_hook(commands: Commands) -> None:
    parser = commands.add_parser(
        "hook",
        help="Answer a client's hook, reading the hook's JSON from standard input",
        description="Answer a client's hook, reading the hook's JSON from standard input. Print one JSON document with "
        "what the session must read now, or nothing. Events are " + ", ".join(EVENTS) + "; the client's own names "
        "work too. The command ends within 2 seconds, always with exit code 0. The event wake is for a hook with "
        "asyncRewake in an interactive session of Claude Code: the command sleeps until the brief is due and the session "
        "is idle, then writes the brief to standard error and exits with 2, which wakes the session.",
    )
    parser.add_argument("event", metavar="EVENT", help="the event that the hook reports")
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        help="with wake: whose settings declare the hook; only the project's hook wakes a session at once",
    )
    parser.set_defaults(run="hook.answer_hook")


def _add_serve(commands: Commands) -> None:
    title = "Run, find or stop the repository's server, the one process that holds its lease"
    actions = _add_group(commands, "serve", title)
    _add(
        actions,
        "run",
        "Run the server in the foreground until it is stopped, logging to standard error",
        "serve.run_server",
    )
    for name, title, run in (
        ("ensure", "Start this repository's server unless one already answers", "serve.ensure_server"),
        ("status", "Show which server holds this repository and where it answers", "serve.show_server"),
        (
            "stop",
            "Stop this repository's server after it has answered the requests in progress. It stays stopped until the machine starts anew, or until serve ensure, serve run or a person's writing command starts it",
            "serve.stop_server",
        ),
    ):
        command = _add(actions, name, title, run)
        _give(command, FORMAT)
        if name == "ensure":
            command.add_argument(
                "--unless-stopped", action="store_true", help="fail if a person stopped it with majordomus serve stop"
            )


# ---------------------------------------------------------------- what a repository and its person decided


def _add_init(commands: Commands) -> None:
    parser = _add(
        commands,
        "init",
        f"Write a policy to edit, {POLICY_FILE}, and print the lines that tell a session what to read first",
        "policies.init",
    )
    parser.add_argument("--lines", action="store_true", help="only print the lines for sessions; write nothing")
    parser.add_argument(
        "--local",
        action="store_true",
        help="write the policy of this clone alone, in its git folder: no file to commit, and in force in every worktree "
        "that has no policy of its own",
    )


def _add_policy(commands: Commands) -> None:
    actions = _add_group(commands, "policy", "Check or show the policy, the repository's own settings for its briefs")
    _add(
        actions,
        "check",
        "List every fault of the policy, with what to write instead; exit 2 if there is one",
        "policies.check_policy",
    )
    show = "Show the value in force for every key, and where it comes from"
    _give(_add(actions, "show", show, "policies.show_policy"), FORMAT)
    title = "Print the JSON Schema of the policy, for use in editors"
    schema = actions.add_parser("schema", help=title, description=title)
    schema.set_defaults(run="policies.print_schema")


def _add_trust(commands: Commands) -> None:
    parser = _add(
        commands,
        "trust",
        "Trust the values in this policy that reach outside the repository: a port, a host, a folder elsewhere",
        "policies.change_trust",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--list", action="store_true", help="show what the policy asks for and what is trusted; change nothing"
    )
    what.add_argument("--revoke", action="store_true", help="withdraw all trust from this repository's policy")


# ---------------------------------------------------------------- mods, health


def _add_capture(commands: Commands) -> None:
    title = "Install or remove the mods that bring briefs to a client's sessions automatically"
    actions = _add_group(commands, "capture", title)
    installing = _add_for_client(
        actions,
        "install",
        "Install the mods where the client finds them. In a checkout, the policy decides: a mod that it no longer allows is "
        "removed. For all your sessions (--scope user), no policy is asked",
        "capture.install_mods",
    )
    installing.add_argument(
        "--channel",
        choices=_CHANNEL,
        default="mod",
        help="mod installs the mods; hooks prints the settings for a client without mods and writes nothing (default: mod)",
    )
    showing = _add_for_client(
        actions,
        "status",
        "Show where the mods are, whether they are unchanged, and whether they load",
        "capture.show_mods",
    )
    _give(showing, FORMAT)
    removing = _add_for_client(actions, "remove", "Remove the mods, whatever the policy says", "capture.remove_mods")
    removing.add_argument(
        "--channel",
        choices=_CHANNEL,
        default="mod",
        help="mod removes the mods; hooks lists the settings files that name majordomus hooks, which you remove by hand (default: mod)",
    )


def _add_for_client(commands: Commands, name: str, title: str, run: str) -> Parser:
    parser = _add(commands, name, title, run)
    parser.add_argument(
        "--provider", choices=("claude-code",), default="claude-code", help="client to use (default: claude-code)"
    )
    parser.add_argument(
        "--scope",
        choices=("project", "user"),
        default="project",
        help="project: sessions that start in this checkout; user: all your sessions (default: project)",
    )
    return parser


def _add_doctor(commands: Commands) -> None:
    title = (
        "Check everything that this repository's briefs depend on, and say what to do; exit 1 if something is broken"
    )
    _give(_add(commands, "doctor", title, "doctor.show_diagnosis"), FORMAT)
