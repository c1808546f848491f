"""Runs one server, from taking the lease to its end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from brief.capabilities.table import CAPABILITIES
from brief.clones.kinship import RootCommits
from brief.clones.neighbours import Neighbourhood, Neighbours
from brief.clones.succession import Predecessors, ask_successor
from brief.core.model.brief import Brief
from brief.core.model.errors import MajordomusError
from brief.core.text.sanitize import to_wire
from brief.fastpath.lease import socket_name
from brief.handlers.fixes import queue_fix_follow_ups_soon
from brief.handlers.succession import hand_over_notices_soon
from brief.policy import read_policy
from brief.request import RequestContext
from brief.server.holder import TICK_SECONDS, Holder
from brief.server.http import build
from brief.server.last_line import LineKeeper
from brief.server.late_modules import load_rest
from brief.server.lease import DATABASE, Lease
from brief.server.owned_file import OwnedFile
from brief.server.registry_entry import RegistryEntry
from brief.server.runtime import runtime_folder, sweep
from brief.server.serving import server_capabilities
from brief.server.shutdown import StopRequest
from brief.server.wake_scheduler.run_faults import RunFaults
from brief.server.wake_scheduler.schedule import Schedule
from brief.server.web import WebServer, bind_loopback, bind_unix
from brief.service import RepositoryService
from brief.sessions.board import Board
from brief.sessions.database import Database, stored_epoch
from brief.sessions.losses import Loss, reasons_of
from brief.sessions.recovery import find_losses, rescue
from brief.support.daemon_threads import in_thread
from brief.support.fence import held_by
from brief.support.steady_clock import boot_seconds
from brief.support.wall_clock import utc_now
from brief.trust import Trust, apply_trust

log = logging.getLogger(__name__)


class _Resources(Struct, frozen=True):
    """The open resources of a server: its lease, database and listening sockets."""

    lease: Lease
    root: str
    database: Database
    socket_file: OwnedFile
    tcp: str | None
    listeners: tuple[socket.socket, ...]
    lost: str | None
    predecessors: Predecessors


def serve(lease: Lease, root: str, stop_request: StopRequest) -> None:
    """Serve under `lease` until the server is ended. Removes every file that it created for its own run."""
    gc.freeze()  # what was loaded so far is never garbage
    gc.enable()
    with contextlib.ExitStack() as leaving:
        leaving.callback(lease.release)
        leaving.enter_context(held_by(lease.is_ours))
        if stop_request.is_requested:
            return
        path, now = lease.state_dir / DATABASE, utc_now()
        name = socket_name(lease.common_dir, lease.epoch)
        runtime = runtime_folder(os.environ, name)
        predecessors = Predecessors(str(runtime / "servers"), lease.common_dir, lambda: stored_epoch(path))
        losses = find_losses(path, now, lease.noted)
        held = predecessors.describe()
        if held is not None:
            losses = (*losses, Loss(now, held))
        for loss in losses:
            log.error("the database was lost", extra={"at": loss.at.isoformat(), "reason": loss.reason})
        generation = lease.noted.generation or 0
        database = leaving.enter_context(contextlib.closing(Database(path, lease.epoch, losses, generation)))
        lost = reasons_of(database.losses)
        lease.note_database(database.generation, database.generation_in_file)
        sweep(runtime, lease.common_dir)
        listener, socket_file = leaving.enter_context(_listen_at(runtime / name))
        listeners = [listener]
        tcp = _bind_tcp(_trusted_port(lease, root))
        if tcp is not None:
            listeners.append(leaving.enter_context(contextlib.closing(tcp)))
        asyncio.run(
            _answer_calls(
                _Resources(lease, root, database, socket_file, _url(tcp), tuple(listeners), lost, predecessors),
                stop_request,
            )
        )
        if lease.is_ours():
            _note_for_the_next(lease, database)


def _note_for_the_next(lease: Lease, database: Database) -> None:
    """Record what the next server must know about the database, and rescue what this one can still read."""
    database.find_loss()
    with contextlib.suppress(MajordomusError, OSError):
        if database.change is None:
            lease.note_database(database.end_generation(), database.generation_in_file)
            return
        loss = lease.note_loss(utc_now(), database.change)
        kept = rescue(database, loss.at)
        if kept is not None:
            log.warning("the database was kept aside", extra={"kept": kept})
            lease.note_loss(loss.at, f"{loss.reason}; {kept}")


@contextlib.contextmanager
def _listen_at(path: Path) -> Iterator[tuple[socket.socket, OwnedFile]]:
    with contextlib.closing(bind_unix(path)) as listener:
        socket_file = OwnedFile.at(path)
        try:
            yield listener, socket_file
        finally:
            socket_file.remove()


def _trusted_port(lease: Lease, root: str) -> int | None:
    settings = apply_trust(
        read_policy(root, lease.common_dir).settings, Trust.of_person(lease.common_dir), lease.common_dir, root
    ).settings
    return settings.server.port


def _bind_tcp(port: int | None) -> socket.socket | None:
    """The listening socket for `port`, or None. A port that is already taken must not stop the server."""
    if port is None:
        return None
    try:
        return bind_loopback(port)
    except OSError as fault:
        log.warning("TCP is off", extra={"port": port, "reason": fault.strerror})
        return None


def _url(tcp: socket.socket | None) -> str | None:
    return None if tcp is None else f"http://127.0.0.1:{tcp.getsockname()[1]}"


async def _answer_calls(resources: _Resources, stop_request: StopRequest) -> None:
    lease = resources.lease
    holder = Holder(lease, resources.root, resources.socket_file, resources.tcp, resources.database, resources.lost)
    stop_request.pass_on_to(holder.ending)
    board = Board(resources.database)
    if resources.lost is not None:
        board.activity.note_missing(resources.lost)
    lines = LineKeeper(lease.state_dir / "lines", is_open=lambda session: board.find_open(session) is not None)
    lines.prepare()
    folder, roots = holder.socket.parent / "servers", RootCommits(lease.common_dir)
    neighbours = Neighbours(str(folder), to_wire(lease.common_dir), lease.epoch, roots)
    faults = RunFaults(utc_now)
    service = RepositoryService(
        lease.common_dir,
        now=utc_now,
        sessions=board,
        absence=None,
        identity=holder.identity,
        composed=lambda request, brief: _follow_brief(service, lines, request, brief),
        neighbours=lambda: _read_neighbours(holder, neighbours),
        remarks=lambda: (*holder.remarks(), *faults.remarks()),
        steady=boot_seconds,
    )
    schedule = Schedule(service, faults, holds=lambda: holder.why_superseded is None)
    web = WebServer(build(service, holder, (*CAPABILITIES, *server_capabilities(holder))), holder.ending)
    entry = RegistryEntry(folder, holder, roots, service.context.worktrees)
    with contextlib.ExitStack() as leaving:
        leaving.callback(entry.remove)
        await entry.write()
        lease.publish(holder.socket, resources.tcp, holder.since, holder.installed_files())
        log.info("serving", extra={"epoch": lease.epoch, "socket": str(holder.socket), "tcp": resources.tcp})
        works = (
            holder.watch(service),
            entry.keep(),
            schedule.keep(),
            lines.keep_tidy(lease.common_dir),
            load_rest(),
            _watch_predecessors(resources.predecessors, board),
        )
        for work in works:
            leaving.callback(asyncio.ensure_future(work).cancel)
        await web.serve(sockets=list(resources.listeners))
        if lease.is_ours():
            with contextlib.suppress(MajordomusError):
                board.store_hearings()
        log.info("ended", extra={"epoch": lease.epoch})


async def _watch_predecessors(predecessors: Predecessors, board: Board) -> None:
    """Report sessions as possibly missing for as long as an earlier server still holds some."""
    while (held := await in_thread(predecessors.describe)) is not None:
        board.activity.keep_missing(held, 2 * TICK_SECONDS)
        await asyncio.sleep(TICK_SECONDS)


def _follow_brief(service: RepositoryService, lines: LineKeeper, request: RequestContext, brief: Brief) -> None:
    """Do the work that follows every newly composed brief."""
    lines.keep(request, brief)
    hand_over_notices_soon(service, request)
    queue_fix_follow_ups_soon(service, request)


def _read_neighbours(holder: Holder, neighbours: Neighbours) -> Neighbourhood:
    """The boards of the servers of other clones. A superseded server asks only its successor."""
    if holder.is_superseded:
        return ask_successor(holder.lease.common_dir, holder.root, holder.lease.epoch)
    return neighbours.read()


def ignore_hangups() -> None:
    """Ignore SIGHUP and SIGPIPE: a server outlives its terminal, and a client that disconnects must not end it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
