"""`capture install|status|remove`: the mods that bring briefs to a client, and the hooks for a client without mods."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from brief.cli.checkout_argument import locate_checkout
from brief.cli.output import print_text, wrap_for_terminal
from brief.core.model.errors import ANSWERED, FAILED, MajordomusError, RepositoryError, UsageError
from brief.core.text.json_document import json_document
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.locate import Located, current_folder
from brief.install import client
from brief.install.content import Files, make_content, own_command
from brief.install.hook_settings import find_hook_settings
from brief.install.hooks import make_snippet
from brief.install.install import Action, Outcome, find, install, remove
from brief.install.mods import MODS, Scope
from brief.install.place import Place, place_of
from brief.install.status import CaptureStatus, ModStatus, join_words, mod_status, status_text
from brief.policy import Policy, checked, read_policy, switch_reason
from brief.support.package_data import mod_folder
from brief.support.wall_clock import utc_now
from brief.trust import WAKING, Trust

STARTS_IN = """\
The client loads the mod only in the folder a session starts in, not in a subdirectory or another worktree.
If you work in several, run capture install --scope user, which covers them all.
majordomus trust then lets the mod wake sessions here.
"""
FOR_ALL = """\
Every session of yours loads the mod; in a repository without a policy it stays silent.
It wakes sessions only where the policy says session.brief_on_interval: true and you allow it.
To allow it, run majordomus trust once in each repository.
Where a checkout has the mod too, yours is loaded instead.
"""


def _list_places(args: argparse.Namespace, here: Located | None) -> list[Place]:
    return [place_of(mod, Scope(args.scope), here) for mod in MODS if mod.provider == args.provider]


def _is_for_all(args: argparse.Namespace) -> bool:
    return Scope(args.scope) is Scope.USER


# ---------------------------------------------------------------- install


_INSTALLED = (Action.WRITTEN, Action.PRESENT, Action.REWRITTEN)
"""What leaves the mod where it was asked for."""


def install_mods(args: argparse.Namespace) -> int:
    """Install the mods where the client finds them, or print the settings for hooks."""
    if args.channel == "hooks":
        print_text(make_snippet(own_command(sys.argv[0]), Scope(args.scope)) + "\n")
        return ANSWERED
    here = _locate_checkout(args)
    # What is for all sessions of a person no repository decides, least of all the one they happen to stand in.
    policy = None if here is None or _is_for_all(args) else checked(read_policy(here.root, here.common_dir))
    # Whatever cannot be read is met here, before the first mod is written.
    ready = [(place, _read_content(place)) for place in _list_places(args, here)]
    now = utc_now()
    outcomes = [install(place, files, _why_forbidden(place, policy), now) for place, files in ready]
    _tell(outcomes)
    if any(outcome.action is Action.WRITTEN for outcome in outcomes):
        print_text(
            wrap_for_terminal(FOR_ALL if _is_for_all(args) else _ignore_lines(place for place, _ in ready) + STARTS_IN)
        )
    return ANSWERED if all(outcome.action in _INSTALLED for outcome in outcomes) else FAILED


def _why_forbidden(place: Place, policy: Policy | None) -> str | None:
    """Say why the policy forbids the mod; None if it allows it, or if no policy is asked."""
    return None if policy is None else switch_reason(policy, place.mod.policy_key)


def _read_content(place: Place) -> Files:
    return make_content(place.mod, mod_folder(place.mod.source), place.scope, own_command(sys.argv[0]))


def _ignore_lines(places: Iterable[Place]) -> str:
    """Return the lines for .gitignore; a mod names this machine's own command, so git must not track it."""
    lines = "".join(f"    /{'/'.join((*place.steps, place.name))}/\n" for place in places)
    return f"Keep the mod out of git, since it names a program of this machine. Add to .gitignore or .git/info/exclude:\n\n{lines}\n"


# ---------------------------------------------------------------- remove, status


def remove_mods(args: argparse.Namespace) -> int:
    """Remove the mods, or report which settings name hooks."""
    here = _locate_checkout(args)
    if args.channel == "hooks":
        return _tell_of_hooks(args, here)
    now = utc_now()
    outcomes = [remove(place, now) for place in _list_places(args, here)]
    _tell(outcomes)
    return FAILED if any(outcome.action is Action.FOREIGN for outcome in outcomes) else ANSWERED


def _tell_of_hooks(args: argparse.Namespace, here: Located | None) -> int:
    """Report that no settings file names our hooks; raises UsageError if one does, MajordomusError if one is unreadable."""
    named = find_hook_settings(args.provider, here.root if here else None)
    unread = [f"{one.path} {one.unread}" for one in named if one.unread is not None]
    if unread:
        raise MajordomusError(f"whether hooks are there is unknown: {'; '.join(unread)}; fix it, and try again")
    if not named:
        print_text("hooks: not there: no settings file of the client names one\n")
        return ANSWERED
    where = "; ".join(f"{one.path} names majordomus {join_words(one.commands)}" for one in named)
    raise UsageError(f"hooks are taken out of the settings by hand, since majordomus writes no settings file: {where}")


def show_mods(args: argparse.Namespace) -> int:
    """Show where the mods are, and whether the client loads them."""
    here = _locate_checkout(args)
    status = CaptureStatus(
        mods=tuple(_mod_status(args, place, here) for place in _list_places(args, here)),
        settings=find_hook_settings(args.provider, here.root if here else None),
    )
    print_text(
        json_document(status).decode() + "\n" if args.format == "json" else wrap_for_terminal(status_text(status))
    )
    return ANSWERED


def _mod_status(args: argparse.Namespace, place: Place, here: Located | None) -> ModStatus:
    """Return the status of one place. The client is asked about a mod only if the mod is ours."""
    found = find(place)
    root = here.root if here else None
    folder = args.root if args.root is not None else current_folder()
    seen = client.examine(place.mod, place.scope, root, folder) if found.is_ours else None
    own = place_of(place.mod, Scope.USER, None)
    instead = str(own.path) if place.scope is Scope.PROJECT and find(own).is_ours and not found.is_ours else None
    return mod_status(place, found, _why_inactive(place, here), seen, instead)


def _why_inactive(place: Place, here: Located | None) -> str | None:
    """Say why the mod does nothing in this checkout; None if it does act, or if there is no checkout."""
    if here is None:
        return None
    needs_trust = place.scope is Scope.USER and not Trust.of_person(here.common_dir).is_trusted(
        here.common_dir, *WAKING
    )
    untrusted = "it wakes nobody here until you run majordomus trust in this repository" if needs_trust else None
    return switch_reason(read_policy(here.root, here.common_dir), place.mod.policy_key) or untrusted


def _locate_checkout(args: argparse.Namespace) -> Located | None:
    """Return the checkout; a mod that is installed for the person needs none."""
    try:
        return locate_checkout(args)
    except RepositoryError:
        if _is_for_all(args):
            return None
        raise


def _tell(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        print_text(wrap_for_terminal(f"{clean(to_wire(outcome.sentence), 2_000)}\n"))
