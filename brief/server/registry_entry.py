"""The file by which the servers of other clones find this one. It is written again when more is known."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from brief.clones.entries import Entry, folder_id
from brief.clones.kinship import RootCommits
from brief.core.model.errors import GitError
from brief.core.model.wire import to_json
from brief.core.text.sanitize import to_wire
from brief.fastpath.process import describe_process
from brief.git.worktrees import Checkout
from brief.server.holder import Holder
from brief.server.owned_file import OwnedFile
from brief.server.runtime import private_folder
from brief.support.daemon_threads import in_thread
from brief.support.files import replace

START_SECONDS = 0.3
RELEARN_SECONDS = 30.0


class RegistryEntry:
    """The entry of one server in `folder`. It names the primary checkout, or the holder's own if the primary is bare."""

    def __init__(
        self, folder: Path, holder: Holder, roots: RootCommits, worktrees: Callable[[], Sequence[Checkout]]
    ) -> None:
        self._holder = holder
        self._roots = roots
        self._worktrees = worktrees
        self._root = holder.root
        self._folder = folder_id(holder.lease.common_dir)
        self._path = _reserve_path(folder, holder)
        self._file = OwnedFile.at(self._path)
        self._written = ""

    async def write(self) -> None:
        """Write the entry. If git takes long to list the root commits, they are left out at first."""
        self._learning = in_thread(self._learn_more)
        await asyncio.wait((self._learning,), timeout=START_SECONDS)
        self._write_if_changed()

    async def keep(self) -> None:
        """Write the entry again whenever more is known or someone removed it."""
        while True:
            await self._learning
            with contextlib.suppress(OSError):
                self._write_if_changed()
            await asyncio.sleep(RELEARN_SECONDS)
            if not self._roots.settled:
                self._learning = in_thread(self._learn_more)

    def remove(self) -> None:
        """Remove the entry if it is still the one written here."""
        self._file.remove()

    def _learn_more(self) -> None:
        self._roots.learn()
        with contextlib.suppress(GitError):
            primary = next(tree for tree in self._worktrees() if tree.primary)
            self._root = self._holder.root if primary.bare else primary.root

    def _write_if_changed(self) -> None:
        text = to_json(self._entry())
        if text != self._written or not os.path.lexists(self._path):
            replace(self._path, text.encode())
            self._file, self._written = OwnedFile.at(self._path), text

    def _entry(self) -> Entry:
        holder, known = self._holder, self._roots.known
        return Entry(
            epoch=holder.lease.epoch,
            **describe_process(holder.pid),
            common_dir=to_wire(holder.lease.common_dir),
            folder=self._folder,
            root=to_wire(self._root),
            root_commits=None if known is None else tuple(sorted(known)),
            socket=to_wire(str(holder.socket)),
            version=holder.version,
            since=holder.since,
        )


def _reserve_path(folder: Path, holder: Holder) -> Path:
    """Reserve a path for the entry. Two servers that started in the same millisecond get different ones."""
    private_folder(folder)
    for name in (f"{holder.lease.epoch}.json", f"{holder.socket.stem}.json"):
        with contextlib.suppress(FileExistsError):
            os.close(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            return folder / name
    raise FileExistsError(f"{folder} already has an entry for epoch {holder.lease.epoch}; remove it")
