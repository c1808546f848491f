"""Runs a capability as a command: asks the server, and prints the answer as text or JSON."""

from __future__ import annotations

import argparse
import asyncio
import os
from typing import Any

from msgspec import DecodeError

from brief.capabilities.capability import Capability
from brief.capabilities.lookup import find_capability
from brief.cli.checkout_argument import locate_checkout
from brief.cli.offline import offline_service, why_offline
from brief.cli.output import print_text, wrap_for_terminal
from brief.core.model.answers import Problem, Rendered
from brief.core.model.errors import ANSWERED, MajordomusError, NoServerError, UsageError
from brief.core.model.fields import fields_of
from brief.core.model.wire import Wire, from_json
from brief.core.text.json_document import json_document
from brief.core.text.sanitize import clean
from brief.fastpath import ask as fast
from brief.fastpath import lease as leases
from brief.fastpath.arguments import is_models_shell
from brief.fastpath.locate import Located
from brief.fastpath.main import terminal_columns, unanswered
from brief.fastpath.output import print_error_line
from brief.handlers.inputs import OwnersOwn, Path, Positional, RefusedInputError, read_input
from brief.handlers.session_argument import with_whole_session
from brief.server.ensure import Ensured, ensure, refuse_stopped
from brief.support.state_folder import refuse_unproven

ENDS = 503
"""The HTTP status of a server that is stopping or overloaded; it has not acted on the request."""

SESSION = "CLAUDE_CODE_SESSION_ID"


class RefusedError(MajordomusError):
    """The server refused the call; the message is the server's own."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.error)
        self.exit_code = problem.exit_code


def run_capability(args: argparse.Namespace) -> int:
    """Ask, print the answer, and return the exit code."""
    capability = find_capability(args.capability)
    here = locate_checkout(args)
    asked = _asked(capability, args, here)
    _refuse_unfit(capability, asked)
    if capability.kind == "command":
        if is_models_shell():
            refuse_stopped(here)  # a model does not undo what a person decided
        _tell_stay(ensure(here))
    answer = _answered(capability, here, asked)
    as_json = capability.output is not Rendered and args.format == "json"
    print_text(json_document(answer).decode() + "\n" if as_json else _text(capability, answer))
    return capability.strict.exit_code(answer) if capability.strict is not None and args.strict else ANSWERED


def _tell_stay(ensured: Ensured) -> None:
    """Report that an outdated server answers the command, and why it keeps running."""
    if ensured.stays is not None:
        outdated = clean(str(ensured.status.get("outdated")), 400)
        print_error_line(f"the server is {outdated}; it stays until it is idle ({ensured.stays})")


def _text(capability: Capability, answer: Wire) -> str:
    """Return the answer as text. A brief is already wrapped; only its final line break may be missing."""
    text = capability.text(answer)
    return text.removesuffix("\n") + "\n" if isinstance(answer, Rendered) else wrap_for_terminal(text)


def _asked(capability: Capability, args: argparse.Namespace, here: Located) -> dict[str, Any]:
    fields = fields_of(capability.input)
    given = {name: getattr(args, name, None) for name in fields if name != "root"}
    for name, own in ((name, own) for name, field in fields.items() if (own := field.find_mark(OwnersOwn))):
        given[name] = _shows_own(name, own, asked=bool(given[name]))
    if "session" in given:
        given["session"] = given["session"] or os.environ.get(SESSION, "").strip() or None
    if capability.output is Rendered and given["width"] is None and given["format"] == "text":
        given["width"] = terminal_columns()
    known = {name: value for name, value in given.items() if value is not None}
    files = {name: os.path.abspath(value) for name, value in known.items() if fields[name].has_mark(Path)}
    return {"root": here.name, **known, **files}


def _shows_own(name: str, own: OwnersOwn, *, asked: bool) -> bool | None:
    """Whether to show what is meant for the owner alone; raises UsageError if a model's shell asks for it."""
    if asked and is_models_shell():
        raise UsageError(
            f"--{name} shows what is for the owner alone, and CLAUDECODE says that this is the shell of a model; "
            "leave it out, or let the owner run this"
        )
    return asked or (own.by_default and not is_models_shell()) or None


def _refuse_unfit(capability: Capability, asked: dict[str, Any]) -> None:
    """Raise UsageError for a value that the input model rejects, before a server is started or asked."""
    try:
        read_input(capability.input, asked)
    except RefusedInputError as fault:
        name, why = next(iter(fault.refusals.items()))
        is_word = fields_of(capability.input)[name].has_mark(Positional)
        raise UsageError(f"{name.upper() if is_word else '--' + name.replace('_', '-')} {why}") from None


def _answered(capability: Capability, here: Located, asked: dict[str, Any]) -> Wire:
    try:
        answer = _asked_of_server(capability, here, asked)
        if answer.status == ENDS and capability.kind == "command":  # it began to end after it was made sure of
            ensure(here)
            answer = _asked_of_server(capability, here, asked)
    except leases.NoServerError as absence:
        if capability.kind == "command":
            raise NoServerError(f"this may or may not have been done: {absence}") from None
        return _unanswered(capability, here, asked, str(absence))
    declined = fast.why_declined(answer)
    if declined is not None and capability.kind == "query":
        return _unanswered(capability, here, asked, declined)
    try:
        return _understood(capability, answer)
    except DecodeError:
        raise NoServerError(
            declined
            or "this version does not understand the server's answer; run majordomus serve stop, then ask again"
        ) from None


def _unanswered(capability: Capability, here: Located, asked: dict[str, Any], absence: str) -> Wire:
    """Answer without a server; raises NoServerError for what only a server holds in memory."""
    if capability.in_memory:
        raise NoServerError(f"{' '.join(capability.cli)} unread: {clean(why_offline(here, absence), 1_000)}")
    return _alone(capability, here, asked, absence)


def _understood(capability: Capability, answer: fast.Answer) -> Wire:
    """Parse the server's answer; raises RefusedError, or DecodeError if its shape is unknown."""
    if answer.status != 200:
        raise RefusedError(from_json(Problem, answer.body))
    if capability.output is Rendered:
        in_full = answer.headers.get("majordomus-read") == "in-full"
        return Rendered(body=answer.body, media_type=answer.headers.get("content-type", ""), in_full=in_full)
    return from_json(capability.output, answer.body)


def _asked_of_server(capability: Capability, here: Located, asked: dict[str, Any]) -> fast.Answer:
    http = capability.http
    if here.common_dir in unanswered:
        raise leases.NoServerError(unanswered[here.common_dir])
    if http.method == "POST":
        return fast.ask(here.common_dir, "POST", http.path, [], asked)
    params = [
        (name, str(one).lower() if isinstance(one, bool) else str(one))
        for name, value in asked.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    return fast.ask(here.common_dir, "GET", http.path, params)


def _alone(capability: Capability, here: Located, asked: dict[str, Any], absence: str) -> Wire:
    """Answer in this process, and say so. Everything but a brief, which reports on each source, needs the state folder."""
    if capability.output is not Rendered:
        refuse_unproven(leases.state_dir(here.common_dir))

    async def answer() -> Wire:
        service = offline_service(here, absence)
        return await capability.handler(service, with_whole_session(service, read_input(capability.input, asked)))

    return asyncio.run(answer())
