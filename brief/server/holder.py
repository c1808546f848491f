"""The state of a running server: its lease, its last call, and whether it is superseded, outdated or ending."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from brief import __version__
from brief.core.model.brief import AnsweredBy
from brief.core.model.errors import EndingError, MajordomusError, SupersededError
from brief.core.text.sanitize import to_wire
from brief.server.housekeeping import TIDY_SECONDS, tend, tidy
from brief.server.lease import DATABASE, Lease
from brief.server.owned_file import OwnedFile
from brief.server.version_check import Installation
from brief.service import RepositoryService
from brief.sessions.database import Database
from brief.sessions.recovery import kept_aside
from brief.support.daemon_threads import in_thread
from brief.support.fence import refuse_if_superseded
from brief.support.wall_clock import utc_now

TICK_SECONDS = 10.0
SUPERSEDED_SECONDS = 15 * 60.0

log = logging.getLogger(__name__)


class Holder:
    """The lease holder while it serves. `root` is the checkout whose policy sets `server.*`."""

    def __init__(
        self, lease: Lease, root: str, socket: OwnedFile, tcp: str | None, database: Database, lost: str | None = None
    ) -> None:
        self.lease = lease
        self.root = root
        self.socket = socket.path
        self.tcp = tcp
        self.pid = os.getpid()
        self.version = __version__
        self.since = utc_now()
        self.ending = asyncio.Event()
        self.superseded_since: float | None = None
        self.calls_in_progress = 0
        self._installation = Installation()
        self._socket_file = socket
        self._database = database
        self._lost = () if lost is None else (lost,)
        self._aside = self._kept_aside()
        self._last_call = time.monotonic()
        self._tidy_from = self._last_call
        self._idle_seconds = 900.0

    def note_call(self) -> None:
        """Record the time of a call, which keeps the server from ending as idle."""
        self._last_call = time.monotonic()

    @contextlib.contextmanager
    def count_call(self) -> Iterator[None]:
        """Count a call as in progress while it is answered."""
        self.calls_in_progress += 1
        try:
            yield
        finally:
            self.calls_in_progress -= 1

    def installed_files(self) -> list[list[str | int]]:
        """The identities of the files that this process runs, for the lease."""
        return self._installation.file_identities()

    @property
    def outdated(self) -> str | None:
        """How the installed files differ from the running ones, or None if they do not."""
        return self._installation.outdated()

    def remarks(self) -> tuple[str, ...]:
        """Sentences for every brief: that this server is outdated or ending, and what was lost."""
        outdated = self.outdated
        replaced = (
            () if outdated is None else (f"the server is {outdated}; majordomus serve ensure replaces it when idle",)
        )
        ends = () if self.ends_because is None else (f"this server ends: {self.ends_because}",)
        return (*replaced, *ends, *self.losses)

    @property
    def losses(self) -> tuple[str, ...]:
        """A sentence for each database that was lost, or kept aside because it was damaged."""
        return tuple(dict.fromkeys((*self._lost, *self._aside)))

    def _kept_aside(self) -> tuple[str, ...]:
        return kept_aside(self.lease.state_dir / DATABASE)

    def ends_idle(self) -> datetime:
        """When this server will end if nobody calls it."""
        return utc_now() + timedelta(seconds=self._last_call + self._idle_seconds - time.monotonic())

    @property
    def why_superseded(self) -> str | None:
        """Why this server is superseded, or None while it holds the lease."""
        if not self.is_superseded:
            return None
        lock = self.lease.state_dir / "lease.lock"
        return f"{lock} is no longer the file that epoch {self.lease.epoch} locked: it is superseded and writes nothing more"

    def identity(self, root: str) -> AnsweredBy:  # noqa: ARG002 - the asker's checkout is not who answers
        """The `answered_by` of a brief composed here."""
        return AnsweredBy(
            kind="superseded" if self.is_superseded else "lease-holder",
            pid=self.pid,
            root=to_wire(self.root),
            epoch=self.lease.epoch,
            version=self.version,
            reason=self.why_superseded,
        )

    @property
    def lease_state(self) -> Literal["holds", "superseded"]:
        """The state of the lease as one word."""
        return "superseded" if self.is_superseded else "holds"

    @property
    def is_superseded(self) -> bool:
        """Whether the lease is proven lost. Checked at every access until it is; a lost lease never comes back."""
        if self.superseded_since is None and self.lease.is_lost():
            self.superseded_since = time.monotonic()
            log.warning("superseded", extra={"epoch": self.lease.epoch})
        return self.superseded_since is not None

    def refuse_if_superseded(self) -> None:
        """Raise SupersededError if this server must no longer write."""
        if self.why_superseded is not None:
            raise SupersededError(f"{self.why_superseded}; run majordomus serve ensure and ask again")
        refuse_if_superseded()

    @property
    def ends_because(self) -> str | None:
        """Why this server is ending although it holds the lease, or None. A lost database is the only reason."""
        return None if self.is_superseded else self._database.find_loss()

    async def end_if_database_lost(self) -> None:
        """Start to end if the database was lost. Every call checks this, so that no answer hides a loss."""
        if self._database.is_touched():
            await in_thread(self._database.examine)
        loss = self._database.lost
        if loss is not None and not self.ending.is_set() and not self.is_superseded:
            log.error("ending", extra={"reason": loss})
            if self._database.change is not None and self.lease.is_ours():
                with contextlib.suppress(OSError):
                    self.lease.note_loss(utc_now(), self._database.change)
            self.ending.set()

    def refuse_if_ending(self) -> None:
        """Raise EndingError where this server ends because of a loss: whatever it stored would be lost too."""
        if self.ends_because is not None:
            raise EndingError(
                f"{self.ends_because}; nothing of this was done, so ask again: a new server takes its place"
            )

    async def watch(self, service: RepositoryService) -> None:
        """Check the lease, look after the board and end if unneeded, every 10 seconds."""
        while not self.ending.is_set():
            await asyncio.sleep(TICK_SECONDS)
            try:
                await self.tick(service)
            except Exception:
                log.exception("a check failed; the next one follows")

    async def tick(self, service: RepositoryService) -> None:
        """Run one round of checks."""
        if not self._socket_file.is_there():
            log.warning(
                "ending", extra={"reason": f"{self.socket} is no longer ours, so no client can find this server"}
            )
            self.ending.set()
            return
        self._aside = self._kept_aside()
        self._database.tighten()
        await self.end_if_database_lost()
        if self.ending.is_set():
            return
        if self.is_superseded:
            # If the repository was moved, this is still the lock that the next server needs.
            self.lease.free()
        else:
            await self._keep(service)
        with contextlib.suppress(MajordomusError):
            checkout_config = await in_thread(lambda: service.checkout_config(self.root))
            self._idle_seconds = checkout_config.settings.server.idle_minutes * 60.0
        if self._is_unneeded(service):
            log.info("ending", extra={"reason": self.why_superseded or "nobody called"})
            self.ending.set()

    async def _keep(self, service: RepositoryService) -> None:
        """Do what only the lease holder may do: renew lease.json, look after the board, and tidy up every hour.

        Tidying also follows a clock that was set back, to bring back what was archived too early.
        """
        try:
            self.lease.note_database(self._database.generation, self._database.generation_in_file)
            if self.lease.renew():
                log.warning(
                    "lease.json was changed by someone else and is written again", extra={"epoch": self.lease.epoch}
                )
            await in_thread(lambda: tend(service))
            if time.monotonic() >= self._tidy_from or service.clock.has_gone_back():
                self._tidy_from = time.monotonic() + TIDY_SECONDS
                await in_thread(lambda: tidy(service))
        except (MajordomusError, OSError) as fault:
            log.warning("housekeeping failed", extra={"reason": str(fault)})

    def _is_unneeded(self, service: RepositoryService) -> bool:
        now = time.monotonic()
        if self.superseded_since is not None:
            return not service.board.open_episodes() or now - self.superseded_since > SUPERSEDED_SECONDS
        return now - self._last_call > self._idle_seconds
