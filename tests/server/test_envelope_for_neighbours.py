from __future__ import annotations

import asyncio

import pytest
from starlette.responses import Response
from starlette.types import Message, Scope

from brief.server.envelope import Envelope
from brief.server.holder import Holder
from brief.server.lease import Lease
from brief.support.wall_clock import utc_now
from sandbox import Lab
from serving import holder_of


async def answered(holder: Holder, query: bytes) -> dict[bytes, bytes]:
    """The headers of the answer to a call over the socket."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: Scope = {"type": "http", "method": "GET", "path": "/", "query_string": query, "headers": [], "client": None}
    await Envelope(Response(b""), holder)(scope, receive, send)
    return dict(sent[0]["headers"])


@pytest.mark.parametrize(("query", "counts"), [(b"root=/a", True), (b"root=/a&local=true", False)])
def test_only_its_own_callers_keep_a_server_alive(lab: Lab, query: bytes, counts: bool) -> None:
    """A clone that asks every second does not hold the end of an idle server off."""

    async def run() -> None:
        lease = Lease.take(lab.common_dir, utc_now())
        holder = holder_of(lease, lab.repo, lab.runtime / "s.sock")
        holder._last_call = 0.0
        await answered(holder, query)
        assert (holder._last_call > 0.0) is counts
        lease.release()

    asyncio.run(run())


def test_every_answer_says_whether_it_is_the_holders(lab: Lab) -> None:
    """The state of the lease is in the head of every answer, before and after the lease was lost."""

    async def run() -> None:
        lease = Lease.take(lab.common_dir, utc_now())
        holder = holder_of(lease, lab.repo, lab.runtime / "s.sock")
        before = await answered(holder, b"")
        holder.superseded_since = 1.0
        after = await answered(holder, b"")
        assert (before[b"majordomus-lease"], after[b"majordomus-lease"]) == (b"holds", b"superseded")
        lease.release()

    asyncio.run(run())


def test_a_lock_that_was_freed_can_be_taken_and_is_no_longer_ours(lab: Lab) -> None:
    """A server that frees the lock has lost it, and a second release touches no file of the next one."""
    first = Lease.take(lab.common_dir, utc_now())
    first.free()
    second = Lease.take(lab.common_dir, utc_now())
    assert not first.is_ours()
    first.release()
    assert second.is_ours()
    second.release()
