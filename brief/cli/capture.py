"""`capture install|status|remove`: the mods that carry briefs into a client, and the hooks for one without mods."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from brief.capture import client
from brief.capture.content import Files, command_as_called, content, own_command
from brief.capture.hooks import snippet
from brief.capture.install import Action, Outcome, find, install, remove
from brief.capture.mods import MODS, PROVIDERS, Scope
from brief.capture.place import Place, place_of
from brief.capture.status import CaptureStatus, installed, status_text
from brief.cli.place import add_root, located
from brief.cli.saying import say
from brief.core.errors import ANSWERED, RepositoryError
from brief.core.text.sanitize import clean, printable_json, wire
from brief.fast.locate import Located, current_folder
from brief.policy import Policy, checked, read_policy, switch_reason
from brief.resources import mod_folder
from brief.server.holder import utc_now
from brief.trust import WAKING, Trust

if TYPE_CHECKING:
    from brief.cli.place import Commands

STARTS_IN = """\
The client looks for it in the folder a session starts in alone: in a subdirectory or another worktree it is not loaded.
Where you work in several, capture install --scope user serves them all; majordomus trust then lets it wake sessions here.
"""
FOR_ALL = """\
Every session of yours loads it, and it is silent where a repository has no policy.
It wakes sessions only where you allow it: majordomus trust, once in each repository.
Where a checkout has the mod too, yours is loaded in its place.
"""


def add(commands: Commands) -> None:
    """Add the command group."""
    title = "How briefs reach the sessions of a client by themselves: its mods, put into its folders and taken out"
    group = commands.add_parser("capture", help=title, description=title)
    actions = group.add_subparsers(metavar="ACTION", required=True)
    installing = _parser(
        actions,
        "install",
        "Put the mods where the client finds them, as far as the policy consents; where it no longer does, take them out",
    )
    installing.add_argument(
        "--carrier",
        choices=("mod", "hooks"),
        default="mod",
        help="hooks prints the settings for a client without mods, and writes nothing",
    )
    installing.set_defaults(run=_install)
    showing = _parser(actions, "status", "Tell where the mods are, whether they are as written, and whether they load")
    showing.add_argument("--format", choices=("text", "json"), default="text", help="text for a person, or JSON")
    showing.set_defaults(run=_status)
    _parser(actions, "remove", "Take the mods out, whatever the policy says").set_defaults(run=_remove)


def _parser(commands: Commands, name: str, title: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=title, description=title)
    add_root(parser)
    parser.add_argument("--provider", choices=tuple(PROVIDERS), default="claude-code", help="which client")
    parser.add_argument(
        "--scope",
        type=Scope,
        choices=tuple(Scope),
        default=Scope.PROJECT,
        metavar="{project,user}",
        help="for sessions that start in this checkout, or for all sessions of yours",
    )
    return parser


def _places(args: argparse.Namespace, here: Located | None) -> list[Place]:
    return [place_of(mod, args.scope, here) for mod in MODS if mod.provider == args.provider]


# ---------------------------------------------------------------- install


def _install(args: argparse.Namespace) -> int:
    if args.carrier == "hooks":
        say(snippet(command_as_called(sys.argv[0])) + "\n")
        return ANSWERED
    here = located(args)
    policy = checked(read_policy(here.root))
    # Whatever cannot be read is met here, before the first mod is written.
    ready = [(place, _content(place)) for place in _places(args, here)]
    now = utc_now()
    outcomes = [install(place, files, switch_reason(policy, place.mod.policy_key), now) for place, files in ready]
    _tell(outcomes)
    if any(outcome.action is Action.WRITTEN for outcome in outcomes):
        say(FOR_ALL if args.scope is Scope.USER else _ignore_lines(place for place, _ in ready) + STARTS_IN)
    return ANSWERED


def _content(place: Place) -> Files:
    return content(place.mod, mod_folder(place.mod.source), place.scope, own_command())


def _ignore_lines(places: Iterable[Place]) -> str:
    """What to put into .gitignore, since a mod names this machine's own command."""
    lines = "".join(f"    /{'/'.join((*place.steps, place.name))}/\n" for place in places)
    return f"Keep it out of git, since it names a program of this machine; in .gitignore or .git/info/exclude:\n\n{lines}\n"


# ---------------------------------------------------------------- remove, status


def _remove(args: argparse.Namespace) -> int:
    here = _around(args)
    now = utc_now()
    _tell([remove(place, now) for place in _places(args, here)])
    return ANSWERED


def _status(args: argparse.Namespace) -> int:
    here = _around(args)
    policy = read_policy(here.root) if here else None
    folder = args.root if args.root is not None else current_folder()
    mods = []
    for place in _places(args, here):
        off = _off(place, policy, here)
        seen = client.examine(place.mod, args.scope, here.root if here else None, folder)
        mods.append(installed(place, find(place), off, seen))
    status = CaptureStatus(mods=tuple(mods))
    say(printable_json(status.model_dump_json()) + "\n" if args.format == "json" else status_text(status))
    return ANSWERED


def _off(place: Place, policy: Policy | None, here: Located | None) -> str | None:
    """Why the mod does not act in this checkout; None where it does, or where there is none to act in."""
    if policy is None or here is None:
        return None
    needs_trust = place.scope is Scope.USER and not Trust.read().trusted(here.common_dir, *WAKING)
    untrusted = "it wakes nobody here until you run majordomus trust in this repository" if needs_trust else None
    return switch_reason(policy, place.mod.policy_key) or untrusted


def _around(args: argparse.Namespace) -> Located | None:
    """The checkout, which what is installed for the person does without."""
    try:
        return located(args)
    except RepositoryError:
        if args.scope is Scope.USER:
            return None
        raise


def _tell(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        say(f"{clean(wire(outcome.sentence), 2_000)}\n")
