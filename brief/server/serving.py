"""The capabilities of a running server about itself: `serve status` and `serve stop`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from brief.capabilities.capability import Capability, Http
from brief.core.model.errors import ConflictError
from brief.core.model.wire import Moment, Wire, to_plain
from brief.core.sessions.life import is_waiting
from brief.core.text.sanitize import to_wire
from brief.core.text.server_status import server_text
from brief.handlers.inputs import Inputs
from brief.server.holder import Holder
from brief.service import RepositoryService


class ServerInputs(Inputs, frozen=True, kw_only=True):
    """The repository whose server is meant."""


class StopInputs(ServerInputs, frozen=True, kw_only=True):
    """The repository whose server is to end, and whether the server decides by itself."""

    if_outdated: Annotated[bool, Meta(description="end only if it is outdated and idle")] = False


class ServerStatus(Wire, frozen=True):
    """The status of a server. `lease` is `holds` or `superseded`; `ends_idle` is when it will end if nobody calls it.

    `ends_because` is why it is ending by itself, or null. `outdated` is how the installed files differ from the running
    ones, or null. `losses` has a sentence for each database that was lost or kept aside as damaged.
    """

    at: Moment
    pid: int
    epoch: int
    version: str
    lease: str
    socket: str
    tcp: str | None
    since: Moment
    ends_idle: Moment
    common_dir: str
    episodes: int
    outdated: str | None = None
    ends_because: str | None = None
    losses: tuple[str, ...] = ()


def server_capabilities(holder: Holder) -> tuple[Capability, ...]:
    """The capabilities of one running server."""

    async def status(service: RepositoryService, inputs: ServerInputs) -> ServerStatus:  # noqa: ARG001 - a handler gets the input
        return _read_status(holder, service)

    async def stop(service: RepositoryService, inputs: StopInputs) -> ServerStatus:
        if inputs.if_outdated and holder.outdated is None:
            return _read_status(holder, service)  # the caller meant another server, which this one replaced
        needed = _why_needed(holder, service) if inputs.if_outdated else None
        if needed is not None:
            raise ConflictError(needed)
        holder.ending.set()
        return _read_status(holder, service)

    return (
        Capability(
            id="server.status",
            kind="query",
            title="Show which server holds this repository, and where it answers",
            input=ServerInputs,
            output=ServerStatus,
            handler=status,
            text=status_text,
            http=Http("GET", "/server"),
            cli=("serve", "status"),
            in_memory=True,
        ),
        Capability(
            id="server.stop",
            kind="query",
            title="End the server of this repository, after it has answered calls in progress",
            input=StopInputs,
            output=ServerStatus,
            handler=stop,
            text=status_text,
            http=Http("POST", "/server/stop"),
            cli=("serve", "stop"),
            in_memory=True,
        ),
    )


def _why_needed(holder: Holder, service: RepositoryService) -> str | None:
    """Why this server should not be replaced now, or None if it is idle.

    The next server has heard from no episode yet, so it could not tell which ones wait for a person.
    """
    if holder.calls_in_progress:
        return f"calls in progress: {holder.calls_in_progress}"
    waiting = sum(one.liveness == "heard" and is_waiting(one.episode.state) for one in service.board.open_episodes())
    return f"sessions that wait for a person: {waiting}" if waiting else None


def _read_status(holder: Holder, service: RepositoryService) -> ServerStatus:
    return ServerStatus(
        at=service.now(),
        pid=holder.pid,
        epoch=holder.lease.epoch,
        version=holder.version,
        lease=holder.lease_state,
        socket=to_wire(str(holder.socket)),
        tcp=holder.tcp,
        since=holder.since,
        ends_idle=holder.ends_idle(),
        common_dir=to_wire(holder.lease.common_dir),
        episodes=len(service.board.open_episodes()),
        outdated=holder.outdated,
        ends_because=holder.ends_because,
        losses=holder.losses,
    )


def status_text(answer: ServerStatus) -> str:
    """The status in a few lines."""
    return server_text(to_plain(answer))
