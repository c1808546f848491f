"""`policy`, `trust` and `init`: the settings of a repository, and what the person trusts in them."""

from __future__ import annotations

import argparse
import json

from brief.cli.checkout_argument import locate_checkout
from brief.cli.output import print_text, wrap_for_terminal
from brief.core.model.errors import ANSWERED
from brief.core.policy.names import SWITCH, UNREAD, PolicySource
from brief.core.policy.policy_files import schema_json
from brief.core.policy.settings import keys
from brief.core.text.sanitize import clean, printable_json, to_wire
from brief.core.text.spelling import spell
from brief.fastpath.locate import Located
from brief.policy import (
    NO_POLICY,
    SEE_CHECK,
    Policy,
    PolicyStatus,
    checked,
    describe_source,
    read_policy,
    refuse_unread,
    switch_reason,
    value_of,
)
from brief.scaffold import session_lines, write_local_skeleton, write_skeleton
from brief.trust import Pair, Trust, ignored_config_home, may_be_trusted

# ---------------------------------------------------------------- init


def init(args: argparse.Namespace) -> int:
    """Write the skeleton of a policy, and print the lines for a session."""
    here = locate_checkout(args)
    if args.lines:
        print_text(_session_lines(here))
        return ANSWERED
    outcome = write_local_skeleton(here.common_dir) if args.local else write_skeleton(here.root)
    print_text(wrap_for_terminal(f"{clean(to_wire(outcome.sentence), 1_000)}\n{_next_step(here)}"))
    if not outcome.written:
        print_text(wrap_for_terminal("majordomus init --lines prints the lines for CLAUDE.md or AGENTS.md\n"))
        return ANSWERED
    print_text(
        wrap_for_terminal("For CLAUDE.md or AGENTS.md of this repository, so that every session looks around first:\n")
        + "\n"
    )
    print_text(_session_lines(here))
    return ANSWERED


def _session_lines(here: Located) -> str:
    return session_lines(read_policy(here.root, here.common_dir).settings.session.brief_interval_minutes)


def _next_step(here: Located) -> str:
    """Return the next step towards briefing sessions automatically."""
    policy = read_policy(here.root, here.common_dir)
    if policy.is_unread:
        return f"{UNREAD}: {SEE_CHECK}\n"
    if switch_reason(policy) is None:
        return f"{SWITCH} is true: majordomus capture install lets sessions be briefed by themselves\n"
    return (
        f"Sessions are not briefed by themselves yet: set {SWITCH}: true there, then run majordomus capture install\n"
    )


# ---------------------------------------------------------------- policy


def check_policy(args: argparse.Namespace) -> int:
    """List every fault of the policy."""
    here = locate_checkout(args)
    policy = checked(read_policy(here.root, here.common_dir))
    nothing = "nothing to check, there is none and the defaults apply; majordomus init writes one"
    print_text(f"{clean(to_wire(policy.file), 1_000)}: {nothing if policy.status is PolicyStatus.ABSENT else 'good'}\n")
    return ANSWERED


def show_policy(args: argparse.Namespace) -> int:
    """Show the value in force for every key."""
    here = locate_checkout(args)
    policy = read_policy(here.root, here.common_dir)
    rows = [(key, _value_in_force(policy, key), _describe_source(policy, key)) for key in keys()]
    if args.format == "json":
        told = {key: {"value": value, "source": source} for key, value, source in rows}
        document = {
            "path": to_wire(policy.path),
            "source": policy.source,
            "status": policy.status,
            "keys": told,
            "faults": _faults(policy),
        }
        print_text(printable_json(json.dumps(document, ensure_ascii=False, default=str)) + "\n")
        return ANSWERED
    width = max(len(key) for key in keys())
    print_text(f"{clean(to_wire(policy.path), 1_000)} ({policy.status})\n")
    if policy.source in (PolicySource.PRIMARY, PolicySource.CLONE):
        print_text(f"note: the policy in force is {clean(to_wire(describe_source(policy)), 1_000)}\n")
    for key, value, source in rows:
        print_text(f"  {key:<{width}}  {clean(spell(value), 200)}  ({source})\n")
    for sentence in (*_faults(policy), switch_reason(policy)):
        if sentence:
            print_text(f"note: {clean(sentence, 1_000)}\n")
    return ANSWERED


def _value_in_force(policy: Policy, key: str) -> object:
    value = value_of(policy.settings, key)
    return list(value) if isinstance(value, tuple) else value


def _describe_source(policy: Policy, key: str) -> str:
    if policy.is_unread:
        return "default, since the file cannot be read"
    if key not in policy.declared:
        return "default"
    return "default, since the file's value is faulty" if any(key == fault.key for fault in policy.faults) else "policy"


def _faults(policy: Policy) -> list[str]:
    return [fault.sentence for fault in policy.faults]


def print_schema(args: argparse.Namespace) -> int:  # noqa: ARG001 - every action is run alike
    """Print the JSON Schema of the policy."""
    print_text(schema_json())
    return ANSWERED


# ---------------------------------------------------------------- trust


def change_trust(args: argparse.Namespace) -> int:
    """Trust what the policy asks for, list it, or withdraw all trust."""
    here = locate_checkout(args)
    policy = read_policy(here.root, here.common_dir)
    if args.revoke:
        Trust.of_person(here.common_dir).revoke(here.common_dir)
        print_text("nothing of this repository is trusted any longer\n")
        return ANSWERED
    refuse_unread(policy)
    asked = may_be_trusted(policy.settings, here.root)
    trust = Trust.of_person(here.common_dir)
    if asked and not args.list:
        trust = trust.grant(here.common_dir, asked)
    if not asked and policy.status is PolicyStatus.ABSENT:
        print_text(f"nothing needs trust: {NO_POLICY}\n")
    elif not asked:
        print_text(f"{clean(to_wire(policy.file), 1_000)} asks for nothing that needs trust\n")
    for pair in asked:
        print_text(
            f"{_describe_pair(pair)}: {'trusted' if trust.is_trusted(here.common_dir, *pair) else 'not trusted; majordomus trust lets it count'}\n"
        )
    if args.list:
        print_text(f"{clean(_describe_file(trust), 2_000)}\n")
    return ANSWERED


def _describe_file(trust: Trust) -> str:
    """Where trust is kept, and why that is not where the environment seems to say, or why it does not count."""
    if trust.fault is not None:
        return trust.fault
    declared = ignored_config_home()
    why = f" (XDG_CONFIG_HOME is {declared!r}, which is not an absolute path, so it is ignored)" if declared else ""
    is_there = "" if trust.path.exists() else ", which does not exist yet"
    return f"what you trust is kept in {to_wire(str(trust.path))}{is_there}{why}"


def _describe_pair(pair: Pair) -> str:
    return f"{pair[0]} {clean(to_wire(str(pair[1])), 400)}"
