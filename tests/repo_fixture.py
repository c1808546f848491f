"""A service for a lab's repository, in this process, with a clock that only the test moves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from brief.core.model.brief import AnsweredBy
from brief.core.model.wire import from_plain
from brief.core.sessions.episode import Episode
from brief.handlers.hooks import HookInputs, hook_text, report_event
from brief.handlers.inputs import Inputs
from brief.service import RepositoryService
from brief.sessions.board import Board
from brief.sessions.database import Database
from sandbox import Lab

BEGIN = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)
ANN, BOB = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Inputs)


class Clock:
    """A clock that stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        """Return the current moment."""
        return self.now


class Place:
    """A repository, its board, and the service for all its checkouts."""

    def __init__(self, lab: Lab, board: Board) -> None:
        self.lab = lab
        self.board = board
        self.clock = Clock()
        self.service = RepositoryService(
            lab.common_dir, now=self.clock, sessions=board, absence=None, identity=identity
        )

    def call(
        self, handler: Callable[[RepositoryService, Asked], Awaitable[Answer]], inputs: type[Asked], **given: Any
    ) -> Answer:
        """Return a capability's answer; the checkout is the primary one unless `root` is given."""

        async def answered() -> Answer:
            return await handler(self.service, from_plain(inputs, {"root": str(self.lab.repo), **given}))

        return asyncio.run(answered())

    def hook(self, event: str, session: str | None = ANN, **more: Any) -> str:
        """Return the text that the session reads."""
        return hook_text(self.call(report_event, HookInputs, event=event, session=session, **more))

    def episode(self, session: str = ANN) -> Episode | None:
        """Return the open episode with this id."""
        return next((one.episode for one in self.board.open_episodes() if one.episode.id == session), None)

    def put(self, slug: str, *, day: str = "2026-10-11", body: str = "body\n", **fields: object) -> Path:
        """Write a notice created on a given day."""
        head = "".join(f"{key}: {value}\n" for key, value in {"created": day, **fields}.items())
        return self.put_raw(slug, f"---\n{head}---\n# {slug} title\n{body}")

    def put_raw(self, slug: str, content: str | bytes) -> Path:
        """Write a file into the notices folder."""
        path = self.lab.state / f"notices/active/{slug}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def identity(root: str) -> AnsweredBy:
    """The identity of the server."""
    return AnsweredBy(kind="lease-holder", pid=1, root=root, epoch=1, version="0", reason=None)


@pytest.fixture
def place(lab: Lab) -> Iterator[Place]:
    """A repository with one commit and a server's service."""
    lab.commit()
    lab.state.mkdir()
    with contextlib.closing(Database(lab.state / "majordomus.db", epoch=1)) as database:
        yield Place(lab, Board(database))
