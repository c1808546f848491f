"""Servers of other clones for tests: an entry, and a socket at which a thread answers or stays silent."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief import __version__
from brief.clones.entries import Entry
from brief.core.model.brief import PeersSection, Status
from brief.core.model.section_data import Board, EpisodeState, Peer, PeersData
from brief.core.model.wire import to_json
from brief.fastpath.ask import percent_encode
from brief.fastpath.lease import socket_name
from brief.fastpath.process import describe_process
from sandbox import Lab

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ROOT = "a" * 40
_EPOCHS = itertools.count(1_000)

Behaviour = Callable[[socket.socket], None]


def git_hangs(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a git first on the PATH of the test that answers only once the returned file exists."""
    program, file = lab.base / "bin/git", lab.base / "go"
    program.parent.mkdir()
    real = shutil.which("git")
    program.write_text(f'#!/bin/sh\nuntil [ -e {file} ]; do sleep 0.01; done\nexec {real} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{lab.env['PATH']}")
    return file


def entry(  # noqa: PLR0913 - what tells one server from another, each by its name
    runtime: Path,
    name: str = "clone",
    *,
    epoch: int | None = None,
    roots: tuple[str, ...] | None = (ROOT,),
    pid: int | None = None,
    version: str = __version__,
    common_dir: str | None = None,
) -> Entry:
    """The entry that the server of a clone `name` in `runtime` would write. It names this process unless another is given."""
    folder = common_dir or f"{runtime}/{name}/.git"
    number = next(_EPOCHS) if epoch is None else epoch
    return Entry(
        epoch=number,
        **describe_process(pid or os.getpid()),
        common_dir=folder,
        root=f"{runtime}/{name}",
        root_commits=roots,
        socket=f"{runtime}/{socket_name(folder, number)}",
        version=version,
        since=NOW,
    )


def listed(runtime: Path, made: Entry) -> Path:
    """Write an entry where servers look for them. Returns its file."""
    digest = hashlib.sha256(made.socket.encode()).hexdigest()[:12]
    path = runtime / "servers" / f"{digest}-{made.epoch}.json"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(to_json(made))
    return path


@contextlib.contextmanager
def listening(made: Entry, behave: Behaviour) -> Iterator[list[bytes]]:
    """A server at the socket of an entry. Each call gets a thread that runs `behave`. Yields the received requests."""
    asked: list[bytes] = []
    threads: list[threading.Thread] = []

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            asked.append(connection.recv(65_536))
            behave(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threads.append(threading.Thread(target=answer, args=(connection,)))
                threads[-1].start()

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(made.socket)
        listener.listen()
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield asked
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for thread in (accepting, *threads):
                thread.join()


def saying(made: Entry, body: bytes, status: int = 200, lease_state: str = "holds") -> Behaviour:
    """Answer as the server of the entry."""
    head = (
        f"HTTP/1.1 {status} Some\r\nmajordomus-epoch: {made.epoch}\r\nmajordomus-lease: {lease_state}\r\n"
        f"majordomus-repository: {percent_encode(made.common_dir)}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return lambda connection: connection.sendall(head.encode() + body)


def silent(connection: socket.socket) -> None:
    """Stay silent for as long as the other side waits."""
    connection.recv(1)


def section(made: Entry, *episodes: str, heard: bool = True, checkout: str | None = None) -> PeersSection:
    """A server's answer about its own boards, with these episodes open in its checkout."""
    peers = tuple(peer(episode, checkout or made.root or "", heard=heard) for episode in episodes)
    board = Board(kind="checkout", name="clone", path=made.root, condition="ready", reason=None, count=len(peers))
    data = PeersData(count=len(peers), boards=(board,), peers=peers)
    return PeersSection(status=Status.READ, headline="some", data=data, as_of=NOW)


def peer(episode: str, checkout: str, *, heard: bool = True) -> Peer:
    """A session of a clone."""
    return Peer(
        episode=episode,
        provider="claude-code",
        state=EpisodeState.BUSY if heard else EpisodeState.UNKNOWN,
        task=None,
        branch="main",
        checkout=checkout,
        since=NOW,
        heard=NOW,
        source="registered",
        liveness="heard" if heard else "unheard",
    )
