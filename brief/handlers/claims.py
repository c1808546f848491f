"""Claims: announced with the paths they are about, told where they meet another's, and released."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import Field

from brief.core.model.wire import Wire
from brief.core.sessions.claims import DEFAULT_NAME, Claim, Overlap, against, below, relative_tasks
from brief.core.text.sanitize import clean
from brief.handlers.inputs import Positional, SessionInputs, Words
from brief.sections.episode_meant import episode_meant
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread

_MOST_PAIRS = 3
"""Pairs of paths that are told of one overlap."""


class AnnounceInputs(SessionInputs):
    """What an episode intends, and where."""

    intent: Words = Field(description="what you are about to do, in a few words")
    scope: tuple[str, ...] = Field(
        default=(),
        description="file, folder (and everything in it) or pattern such as src/*.py that you will change; may be repeated",
    )
    name: str = Field(
        default=DEFAULT_NAME,
        max_length=40,
        description=f"name of this claim; replaces a claim of the same name (default: {DEFAULT_NAME})",
    )


class ReleaseInputs(SessionInputs):
    """Which claim is released."""

    name: Annotated[str | None, Positional()] = Field(
        default=None, max_length=40, description="claim to withdraw (default: every claim of the episode)"
    )


class Announced(Wire):
    """A claim that is held now, the one whose name it took over, and what it shares with others: that informs, it forbids nothing."""

    claim: Claim
    released: Claim | None
    overlaps: tuple[Overlap, ...]


class Released(Wire):
    """The claims that were released."""

    released: tuple[Claim, ...]


async def announce(service: RepositoryService, asked: AnnounceInputs) -> Announced:
    """Hold a claim, and tell what other episodes' claims and tasks are about the same paths."""

    def work() -> Announced:
        request = service.request_context(asked.root, asked.session)
        meant = episode_meant(service.context, request.query)
        scope = tuple(_inside(path, request.here.root) for path in asked.scope)
        claim, released = service.board.announce(meant, asked.name, asked.intent, scope, service.now())
        service.board.hear(meant, service.now())
        met = against(
            claim.scope, meant, service.board.claims(), relative_tasks(service.board.tasks(), service.board.known())
        )
        return Announced(claim=claim, released=released, overlaps=met)

    return await in_thread(work)


async def release(service: RepositoryService, asked: ReleaseInputs) -> Released:
    """End a claim, or every one of the episode."""

    def work() -> Released:
        meant = episode_meant(service.context, service.request_context(asked.root, asked.session).query)
        released = service.board.release(meant, asked.name)
        service.board.hear(meant, service.now())
        return Released(released=released)

    return await in_thread(work)


def _inside(path: str, root: str) -> str:
    """A path relative to the checkout, also where it is spelled through a link to it."""
    if not path.startswith("/"):
        return path
    told = below(path, root)
    return told if told != path else below(os.path.realpath(path), root)


# ---------------------------------------------------------------- for a person


def announced_text(answer: Announced) -> str:
    """The claim, what it took over, and a line for each episode's words that it meets."""
    lines = [f"episode {answer.claim.episode} claims {_told(answer.claim)}"]
    if answer.released is not None:
        lines.append(f"released: {_told(answer.released)}")
    lines += [_overlap(one) for one in answer.overlaps]
    return "\n".join(lines) + "\n"


def released_text(answer: Released) -> str:
    """A line for each claim that was released."""
    return "".join(f"released: {_told(claim)}\n" for claim in answer.released)


def _told(claim: Claim) -> str:
    return f"{claim.name}: {clean(claim.intent)} ({', '.join(clean(path, 80) for path in claim.scope)})"


def _overlap(one: Overlap) -> str:
    what = f"claim {one.name}" if one.name else "task"
    pairs = ", ".join(f"{clean(ours, 80)} meets {clean(theirs, 80)}" for ours, theirs in one.paths[:_MOST_PAIRS])
    more = len(one.paths) - _MOST_PAIRS
    rest = f" and {more} more" if more > 0 else ""
    return f"overlaps the {what} of episode {one.episode}, {clean(one.about)}: {pairs}{rest}"
