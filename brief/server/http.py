"""The capabilities as HTTP below `/api/v1`, and so as OpenAPI.

FastAPI makes the routes and checks the values; the contract's own rules stand here: 400 where it says 422, unknown
parameters refused by name, every fault a sentence, and over TCP only what reads and only for this machine's own pages.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brief import __version__
from brief.answering.shape import Capability, Inputs, Problem, Rendered
from brief.core.errors import FAILED, USAGE, MajordomusError
from brief.core.model import Wire
from brief.core.text.sanitize import clean, printable_json
from brief.desk import Desk
from brief.server.holder import Holder

PREFIX = "/api/v1"
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost"})

log = logging.getLogger(__name__)


def build(desk: Desk, holder: Holder, capabilities: Sequence[Capability]) -> ASGIApp:
    """The application that answers for the capabilities."""
    app = FastAPI(
        title="majordomus brief",
        version=__version__,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    for capability in capabilities:
        app.add_api_route(
            PREFIX + capability.http.path,
            _endpoint(capability, desk, holder),
            methods=[capability.http.method],
            operation_id=capability.id,
            summary=capability.title,
            response_model=None if capability.output is Rendered else capability.output,
            responses={400: {"model": Problem, "description": "the call cannot be understood, and why"}},
        )
    by_route: dict[tuple[str, str], Capability] = {(c.http.method, PREFIX + c.http.path): c for c in capabilities}
    app.add_exception_handler(RequestValidationError, _misunderstood(by_route))
    app.add_exception_handler(HTTPException, _not_here)
    app.add_exception_handler(MajordomusError, _refused)
    app.add_exception_handler(Exception, _failed)
    app.openapi = _without_422(app.openapi)  # type: ignore[method-assign]  # FastAPI asks for it to be replaced so
    return Envelope(app, holder)


def _endpoint(capability: Capability, desk: Desk, holder: Holder) -> Callable[..., Awaitable[Response]]:
    where = Query() if capability.http.method == "GET" else Body()

    async def endpoint(asked: Inputs) -> Response:
        if capability.kind == "command":
            holder.refuse_if_superseded()
        session = getattr(asked, "session", None)
        if session is not None:
            desk.board.hear(session, desk.now())
        return _response(await capability.handler(desk, asked))

    endpoint.__annotations__ = {"asked": Annotated[capability.input, where], "return": Response}
    return endpoint


def _response(answer: Wire) -> Response:
    if isinstance(answer, Rendered):
        told = "in-full" if answer.in_full else "in-part"
        return Response(answer.body, media_type=answer.media_type, headers={"majordomus-read": told})
    return _json(answer, 200)


def _json(answer: Wire, status: int) -> Response:
    return Response(printable_json(answer.model_dump_json(by_alias=True)), status, media_type="application/json")


# ---------------------------------------------------------------- faults


def _problem(status: int, error: str, kind: str, exit_code: int) -> Response:
    return _json(Problem(error=clean(error, 2_000), kind=kind, exit_code=exit_code), status)


async def _refused(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, MajordomusError)  # noqa: S101 - it is registered for nothing else
    if fault.http_status >= 500:
        log.warning("refused", extra={"path": request.url.path, "reason": fault.sentence})
    return _problem(fault.http_status, fault.sentence, type(fault).__name__, fault.exit_code)


async def _failed(request: Request, fault: Exception) -> Response:
    log.error("failed", extra={"path": request.url.path}, exc_info=fault)
    return _problem(500, f"{request.url.path} failed with {type(fault).__name__}: {fault}", "Failure", FAILED)


async def _not_here(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)  # noqa: S101 - it is registered for nothing else
    return _problem(fault.status_code, f"{request.method} {request.url.path}: {fault.detail}", "NoRoute", USAGE)


def _misunderstood(by_route: dict[tuple[str, str], Capability]) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handler(request: Request, fault: Exception) -> Response:
        assert isinstance(fault, RequestValidationError)  # noqa: S101 - it is registered for nothing else
        known = list(by_route[request.method, request.url.path].input.model_fields)
        said = "; ".join(dict.fromkeys(_sentence(error, known) for error in fault.errors()))
        return _problem(400, f"{request.method} {request.url.path}: {said}", "UsageError", USAGE)

    return handler


def _sentence(error: dict[str, Any], known: list[str]) -> str:
    name = ".".join(str(part) for part in error["loc"][1:])
    if error["type"] == "extra_forbidden":
        nearest = difflib.get_close_matches(name, known, 1)
        return f"{name} is no parameter here; " + (
            f"the nearest is {nearest[0]}" if nearest else "known are " + ", ".join(known)
        )
    if error["type"] == "missing":
        return f"{name or 'a body'} is missing; " + "known are " + ", ".join(known)
    return f"{name or 'the body'}: {error['msg']}"


def _without_422(openapi: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """The description without the answer that FastAPI adds by itself and this server never gives."""

    def described() -> dict[str, Any]:
        document = openapi()
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        return document

    return described


# ---------------------------------------------------------------- around every call


class Envelope:
    """Marks every answer with epoch and standing, notes that somebody called, and guards what comes by TCP."""

    def __init__(self, app: ASGIApp, holder: Holder) -> None:
        self.app = app
        self.holder = holder
        self._epoch = (b"majordomus-epoch", str(holder.lease.epoch).encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        if b"local=true" not in scope["query_string"]:  # the question of another server, which keeps nobody alive
            self.holder.called()

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], self._epoch, self._standing()]
            await send(message)

        foreign = _why_foreign(scope)
        answer = self.app if foreign is None else _problem(403, foreign, "Foreign", USAGE)
        await answer(scope, receive, marked)

    def _standing(self) -> tuple[bytes, bytes]:
        return b"majordomus-standing", self.holder.standing.encode()


def _why_foreign(scope: Scope) -> str | None:
    """Why a call is not answered; the socket is the user's alone, while anybody's browser reaches the TCP port."""
    if scope["client"] is None:
        return None
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    if headers.get(b"host", "").rpartition(":")[0] not in LOCAL_HOSTS:
        return "over TCP the host is 127.0.0.1 or localhost"
    if b"origin" in headers and headers[b"origin"].removeprefix("http://") != headers[b"host"]:
        return "pages of other origins are not answered"
    if scope["method"] not in ("GET", "HEAD"):
        return "over TCP nothing is written; the socket in lease.json takes commands"
    return None
