"""The outermost layer of HTTP: who may ask, the headers of every answer, and the bound of a body."""

from __future__ import annotations

import contextlib

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brief.core.model.errors import USAGE
from brief.fastpath.ask import percent_encode
from brief.fastpath.locate import spell_path
from brief.server.holder import Holder
from brief.server.problem import problem
from brief.server.receipt import Receipt
from brief.support.delivery import Delivery, collect_notes

OWN_PATH = "/api/v1/server"
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost"})
OWN_PAGES = frozenset({"same-origin", "none"})
MOST_BODY = 1_048_576
NO_GUESSING = (b"x-content-type-options", b"nosniff")


class Envelope:
    """Adds epoch, repository and lease to every answer, records calls, bounds bodies and guards TCP."""

    def __init__(self, app: ASGIApp, holder: Holder) -> None:
        self.app = app
        self.holder = holder
        self._own = (
            (b"majordomus-epoch", str(holder.lease.epoch).encode()),
            (b"majordomus-repository", percent_encode(spell_path(holder.lease.common_dir)).encode()),
            NO_GUESSING,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        receipt, delivery = Receipt(scope), Delivery()

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._own, self._lease_header()]
                receipt.begin(message["status"])
            elif delivery.is_awaited and not message.get("more_body"):
                receipt.watch()
            await send(message)

        foreign = _why_foreign(scope)
        if foreign is not None:
            await problem(403, foreign, "Foreign", USAGE)(scope, receive, marked)
            return
        if b"local=true" not in scope["query_string"]:  # asked by another server, which keeps none alive
            self.holder.note_call()
        await self.holder.end_if_database_lost()
        # A question about the server itself does not count as work that its end would interrupt.
        counted = contextlib.nullcontext() if scope["path"].startswith(OWN_PATH) else self.holder.count_call()
        # HEAD is answered like GET; uvicorn knows the method and withholds the body.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        with counted, collect_notes(delivery):
            try:
                await self.app({**scope, "method": method}, _limit_body(receive), marked)
            finally:
                if delivery.is_awaited:
                    await delivery.conclude(await receipt.wait())

    def _lease_header(self) -> tuple[bytes, bytes]:
        return b"majordomus-lease", self.holder.lease_state.encode()


def _limit_body(receive: Receive) -> Receive:
    """A `receive` that refuses a body above the bound, whatever length was announced."""
    size = 0

    async def bounded() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MOST_BODY:
            raise HTTPException(413, f"a body may have at most {MOST_BODY:,} bytes")
        return message

    return bounded


def _why_foreign(scope: Scope) -> str | None:
    """Why a call is refused, or None. Only the user reaches the socket, but any page in a browser reaches the TCP port."""
    if scope["client"] is None:
        return None
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or hosts[0].partition(":")[0] not in LOCAL_HOSTS:
        return "over TCP the host must be 127.0.0.1 or localhost"
    # A foreign page that requests an image or a script sends no Origin; browsers name its site in Sec-Fetch-Site.
    if headers.get("origin", f"http://{hosts[0]}") != f"http://{hosts[0]}" or not _is_own_page(headers):
        return "requests from pages of other origins are refused"
    if scope["method"] not in ("GET", "HEAD"):
        return "TCP answers only reads; send commands to the socket that lease.json names"
    return None


def _is_own_page(headers: Headers) -> bool:
    return headers.get("sec-fetch-site", "none") in OWN_PAGES
