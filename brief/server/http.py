"""HTTP below `/api/v1`: every call is parsed, checked, answered and rendered by the declaration of its capability.

Every error is a sentence. An unknown parameter is refused by name with 400.
"""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from brief.capabilities.capability import Capability
from brief.core.model.answers import Rendered
from brief.core.model.errors import ANSWERED, FAILED, USAGE, MajordomusError, UsageError
from brief.core.model.fields import fields_of
from brief.core.model.wire import Wire
from brief.core.text.wrap import wrap_text
from brief.handlers.inputs import Inputs, RefusedInputError, read_input
from brief.handlers.session_argument import with_whole_session
from brief.server.envelope import Envelope
from brief.server.holder import Holder
from brief.server.openapi import openapi
from brief.server.problem import json_response, problem
from brief.service import RepositoryService

PREFIX = "/api/v1"
DESCRIPTION = f"{PREFIX}/openapi.json"
MOST_WIDTH = 10_000

log = logging.getLogger(__name__)


class Form(NamedTuple):
    """How an answer is rendered: as JSON, or as text with lines wrapped at `width` columns, if given."""

    is_text: bool = False
    width: int | None = None


def build(service: RepositoryService, holder: Holder, capabilities: Sequence[Capability]) -> ASGIApp:
    """The ASGI application for these capabilities."""
    return Envelope(Application(service, holder, capabilities), holder)


class Application:
    """Routes each call to the capability of its method and path."""

    def __init__(self, service: RepositoryService, holder: Holder, capabilities: Sequence[Capability]) -> None:
        self.service = service
        self.holder = holder
        self.capabilities = tuple(capabilities)
        self.routes: dict[str, dict[str, Capability]] = {}
        for one in capabilities:
            self.routes.setdefault(PREFIX + one.http.path, {})[one.http.method] = one

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        response = await self._respond(Request(scope, receive))
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        path = request.url.path
        try:
            if path == DESCRIPTION and request.method == "GET":
                return Response(self.description, media_type="application/json")
            return await self._answer(request, self._find_capability(request))
        except MajordomusError as fault:
            if fault.http_status >= 500:
                log.warning("refused", extra={"path": path, "reason": fault.sentence})
            return problem(fault.http_status, fault.sentence, type(fault).__name__, fault.exit_code)
        except HTTPException as fault:
            return self._refuse(request, fault)
        except ClientDisconnect:
            raise
        except Exception as fault:
            log.exception("failed", extra={"path": path})
            return problem(500, f"{path} failed with {type(fault).__name__}: {fault}", "Failure", FAILED)

    @cached_property
    def description(self) -> str:
        """The OpenAPI document as JSON."""
        return json.dumps(openapi(self.capabilities, PREFIX))

    def _find_capability(self, request: Request) -> Capability:
        methods = self.routes.get(request.url.path)
        if methods is None and request.url.path != DESCRIPTION:
            raise HTTPException(404)
        found = (methods or {}).get(request.method)
        if found is None:
            raise HTTPException(405)
        return found

    def _refuse(self, request: Request, fault: HTTPException) -> Response:
        kind = "NoRoute" if fault.status_code in (404, 405) else "UsageError"
        said = f"{request.method} {request.url.path}: {fault.detail}; {DESCRIPTION} lists all routes"
        answer = problem(fault.status_code, said, kind, USAGE)
        if fault.status_code == 405:
            methods = set(self.routes.get(request.url.path, {"GET"}))
            answer.headers["allow"] = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
        return answer

    async def _answer(self, request: Request, capability: Capability) -> Response:
        given, form = await _read_call(request, capability)
        inputs = with_whole_session(self.service, _check_input(request, capability, given))
        if capability.kind == "command":
            self.holder.refuse_if_superseded()
            self.holder.refuse_if_ending()
        session = getattr(inputs, "session", None)
        if session is not None:
            self.service.board.hear(session, self.service.now())
        return _render(capability, await capability.handler(self.service, inputs), form)


# ---------------------------------------------------------------- the input


async def _read_call(request: Request, capability: Capability) -> tuple[Mapping[str, Any], Form]:
    """The input of a call, not yet checked, and the form of its answer. Raises UsageError, HTTPException."""
    pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True, errors="replace")
    form = Form()
    if capability.output is not Rendered:
        form = _read_form(dict(pairs), request.url.path)
        pairs = [(name, value) for name, value in pairs if name not in ("format", "width")]
    if capability.http.method == "GET":
        return _read_query(pairs, capability.input), form
    if pairs:
        raise UsageError(
            f"{pairs[0][0]} is not a parameter of the query; {request.url.path} takes its input in the body"
        )
    return _read_body(await request.body(), request, capability.input), form


def _read_form(query: Mapping[str, str], path: str) -> Form:
    name, width = query.get("format", "json"), query.get("width")
    if name not in ("json", "text"):
        raise UsageError(f"{path}: format {name} is unknown; choose from json, text")
    if width is not None and not (width.isascii() and width.isdigit() and int(width[:6]) <= MOST_WIDTH):
        raise UsageError(f"{path}: width {width} is not a whole number from 0 to {MOST_WIDTH:,}")
    return Form(name == "text", None if width is None else int(width))


def _read_query(pairs: Sequence[tuple[str, str]], model: type[Inputs]) -> Mapping[str, Any]:
    """The query by name. A field that may be repeated gets all its values, any other the last one."""
    fields = fields_of(model)
    given: dict[str, Any] = {}
    for name, value in pairs:
        field = fields.get(name)
        if field is not None and field.is_repeatable:
            given.setdefault(name, []).append(value)
        else:
            given[name] = value
    return given


def _read_body(content: bytes, request: Request, model: type[Inputs]) -> Mapping[str, Any]:
    known = ", ".join(fields_of(model))
    if not content:
        raise UsageError(f"{_describe_request(request)}: the body is missing; it takes {known}")
    is_json = request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
    try:
        document = json.loads(content) if is_json else None
    except json.JSONDecodeError as fault:
        raise UsageError(
            f"{_describe_request(request)}: the body is not JSON ({fault.msg} at character {fault.pos})"
        ) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{_describe_request(request)}: the body cannot be parsed") from None
    if not isinstance(document, dict):
        raise UsageError(f"{_describe_request(request)}: the body is not a JSON object sent as application/json")
    return document


def _check_input(request: Request, capability: Capability, given: Mapping[str, Any]) -> Inputs:
    try:
        return read_input(capability.input, given, spelled=capability.http.method == "GET")
    except RefusedInputError as fault:
        known = list(fields_of(capability.input))
        sentences = [_describe_refusal(name, why, given, known) for name, why in fault.refusals.items()]
        raise UsageError(f"{_describe_request(request)}: {'; '.join(sentences)}") from None


def _describe_request(request: Request) -> str:
    return f"{request.method} {request.url.path}"


def _describe_refusal(name: str, why: str, given: Mapping[str, Any], known: Sequence[str]) -> str:
    if name not in known:
        nearest = difflib.get_close_matches(name, known, 1)
        return f"unknown parameter {name}; " + (
            f"did you mean {nearest[0]}?" if nearest else "choose from " + ", ".join(known)
        )
    return f"{name} {why}" if name in given else f"{name} is missing; the input takes " + ", ".join(known)


# ---------------------------------------------------------------- the answer


def _render(capability: Capability, answer: Wire, form: Form) -> Response:
    if isinstance(answer, Rendered):
        headers = _read_headers(capability, answer, in_full=answer.in_full)
        return Response(answer.body, media_type=answer.media_type, headers=headers)
    headers = _read_headers(capability, answer, in_full=getattr(answer, "fully_read", True))
    if not form.is_text:
        return json_response(answer, headers=headers)
    text = capability.text(answer)
    if form.width is not None:
        text = wrap_text(text, form.width)
    return Response(text.encode("utf-8", "backslashreplace"), media_type="text/plain", headers=headers)


def _read_headers(capability: Capability, answer: Wire, *, in_full: bool) -> dict[str, str]:
    """Headers that say whether everything was read, and the exit code under `--strict`."""
    code = capability.strict.exit_code(answer) if capability.strict is not None else ANSWERED
    return {"majordomus-read": "in-full" if in_full else "in-part", "majordomus-strict": str(code)}
