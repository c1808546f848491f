"""The capabilities as HTTP below `/api/v1`, and so as OpenAPI.

FastAPI makes the routes and checks the values; the contract's own rules stand here: 400 where it says 422, unknown
parameters refused by name, every fault a sentence, and over TCP only what reads and only for this machine's own pages.
"""

from __future__ import annotations

import contextlib
import difflib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brief import __version__
from brief.core.model.brief import Wire
from brief.core.model.errors import FAILED, USAGE, MajordomusError, UsageError
from brief.core.text.sanitize import clean, printable_json
from brief.fastpath.ask import quoted
from brief.handlers.shape import Capability, Inputs, Problem, Rendered
from brief.server.holder import Holder
from brief.server.receipt import Receipt
from brief.service import RepositoryService
from brief.support.delivery import Delivery, delivering

PREFIX = "/api/v1"
OWN_PATH = f"{PREFIX}/server"
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost"})
OWN_PAGES = frozenset({"same-origin", "none"})
MOST_BODY = 1_048_576
NO_GUESSING = (b"x-content-type-options", b"nosniff")

Routes = dict[tuple[str, str], Capability]
"""The capabilities by method and path."""

log = logging.getLogger(__name__)


def build(service: RepositoryService, holder: Holder, capabilities: Sequence[Capability]) -> ASGIApp:
    """The application that answers for the capabilities."""
    app = _Application(
        title="majordomus brief",
        version=__version__,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for capability in capabilities:
        app.add_api_route(
            PREFIX + capability.http.path,
            _endpoint(capability, service, holder),
            methods=[capability.http.method],
            operation_id=capability.id,
            summary=capability.title,
            response_model=None if capability.output is Rendered else capability.output,
            responses=_responses(capability),
        )
    routes: Routes = {(c.http.method, PREFIX + c.http.path): c for c in capabilities}
    app.add_exception_handler(RequestValidationError, _misunderstood(routes))
    app.add_exception_handler(HTTPException, _declined(routes))
    app.add_exception_handler(MajordomusError, _refused)
    app.add_exception_handler(Exception, _failed)
    return Envelope(app, holder)


class _Application(FastAPI):
    """FastAPI whose description leaves out the answer 422, which it adds by itself and this server never gives."""

    def openapi(self) -> dict[str, Any]:
        """The description."""
        document = super().openapi()
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        return document


def _responses(capability: Capability) -> dict[int | str, dict[str, Any]]:
    told: dict[int | str, dict[str, Any]] = {
        400: {"model": Problem, "description": "The call cannot be understood, and why"},
        "default": {"model": Problem, "description": "The call is not answered, and why"},
    }
    if capability.document is not None:
        told[200] = {"model": capability.document, "content": {"text/plain": {"schema": {"type": "string"}}}}
    return told


def _endpoint(capability: Capability, service: RepositoryService, holder: Holder) -> Callable[..., Awaitable[Response]]:
    reads = capability.http.method == "GET"
    where = Query() if reads else Body()

    async def endpoint(request: Request, asked: Inputs) -> Response:
        if not reads and request.query_params:
            name = next(iter(request.query_params))
            raise UsageError(f"{name} is no parameter of the query; {request.url.path} takes its input in the body")
        if capability.kind == "command":
            holder.refuse_if_superseded()
        session = getattr(asked, "session", None)
        if session is not None:
            service.board.hear(session, service.now())
        return _response(await capability.handler(service, asked))

    endpoint.__annotations__ = {"request": Request, "asked": Annotated[capability.input, where], "return": Response}
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


def _declined(routes: Routes) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handler(request: Request, fault: Exception) -> Response:
        assert isinstance(fault, HTTPException)  # noqa: S101 - it is registered for nothing else
        kind = "NoRoute" if fault.status_code in (404, 405) else "UsageError"
        said = f"{request.method} {request.url.path}: {fault.detail}; what there is stands in {PREFIX}/openapi.json"
        answer = _problem(fault.status_code, said, kind, USAGE)
        if fault.status_code == 405:
            answer.headers["allow"] = _allowed(routes, request.url.path)
        return answer

    return handler


def _allowed(routes: Routes, path: str) -> str:
    methods = {method for method, known in routes if known == path} or {"GET"}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def _misunderstood(routes: Routes) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handler(request: Request, fault: Exception) -> Response:
        assert isinstance(fault, RequestValidationError)  # noqa: S101 - it is registered for nothing else
        known = list(routes[request.method, request.url.path].input.model_fields)
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
    if error["type"] == "json_invalid":
        return f"the body is no JSON ({error['ctx']['error']} at character {name})"
    return f"{name}: {error['msg']}" if name else "the body is no JSON object sent as application/json"


# ---------------------------------------------------------------- around every call


class Envelope:
    """Marks every answer with epoch, repository and standing, notes that somebody called, bounds bodies, and guards TCP."""

    def __init__(self, app: ASGIApp, holder: Holder) -> None:
        self.app = app
        self.holder = holder
        self._own = (
            (b"majordomus-epoch", str(holder.lease.epoch).encode()),
            (b"majordomus-repository", quoted(holder.lease.common_dir).encode()),
            NO_GUESSING,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        receipt, delivery = Receipt(scope), Delivery()

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._own, self._standing()]
                receipt.begin(message["status"])
            elif delivery.is_awaited and not message.get("more_body"):
                receipt.watch()
            await send(message)

        foreign = _why_foreign(scope)
        if foreign is not None:
            await _problem(403, foreign, "Foreign", USAGE)(scope, receive, marked)
            return
        if b"local=true" not in scope["query_string"]:  # the question of another server, which keeps nobody alive
            self.holder.called()
        # A question about the server itself is no work that its end would cut off.
        counted = contextlib.nullcontext() if scope["path"].startswith(OWN_PATH) else self.holder.answering()
        # What is asked for by HEAD is what GET would answer; uvicorn, which knows, keeps the body back.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        with counted, delivering(delivery):
            try:
                await self.app({**scope, "method": method}, _bounded(receive), marked)
            finally:
                if delivery.is_awaited:
                    await delivery.conclude(await receipt.reached())

    def _standing(self) -> tuple[bytes, bytes]:
        return b"majordomus-standing", self.holder.standing.encode()


def _bounded(receive: Receive) -> Receive:
    """`receive` that gives up on a body over the bound, whatever length it was announced with."""
    size = 0

    async def bounded() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MOST_BODY:
            raise HTTPException(413, f"a body of more than {MOST_BODY:,} bytes is not read")
        return message

    return bounded


def _why_foreign(scope: Scope) -> str | None:
    """Why a call is not answered; the socket is the user's alone, while anybody's browser reaches the TCP port."""
    if scope["client"] is None:
        return None
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or hosts[0].partition(":")[0] not in LOCAL_HOSTS:
        return "over TCP the host is 127.0.0.1 or localhost"
    # A page of another origin that asks for an image or a script sends no Origin; browsers name its site instead.
    if headers.get("origin", f"http://{hosts[0]}") != f"http://{hosts[0]}" or not _is_own_page(headers):
        return "pages of other origins are not answered"
    if scope["method"] not in ("GET", "HEAD"):
        return "over TCP nothing is written; the socket in lease.json takes commands"
    return None


def _is_own_page(headers: Headers) -> bool:
    return headers.get("sec-fetch-site", "none") in OWN_PAGES
