"""Claims: announce the paths of an intended change, learn which others overlap with it, and release it."""

from __future__ import annotations

import os
from typing import Annotated

from msgspec import Meta

from brief.core.model.wire import Wire
from brief.core.sessions.claims import DEFAULT_NAME, Claim, Overlap, find_overlaps, make_relative, relative_tasks
from brief.core.text.sanitize import clean
from brief.handlers.inputs import Positional, SessionInputs, Words
from brief.sections.episode_meant import find_meant
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread

_MOST_PAIRS = 3
"""How many pairs of paths are shown of one overlap."""


class AnnounceInputs(SessionInputs, frozen=True, kw_only=True):
    """What an episode intends to do, and where."""

    intent: Annotated[Words, Meta(description="what you are about to do, in a few words")]
    scope: Annotated[
        tuple[str, ...],
        Meta(
            description="file, folder (and everything in it) or pattern such as src/*.py that you will change; may be repeated"
        ),
    ] = ()
    name: Annotated[
        str,
        Meta(
            max_length=40,
            description=f"name of this claim; replaces a claim of the same name (default: {DEFAULT_NAME})",
        ),
    ] = DEFAULT_NAME


class ReleaseInputs(SessionInputs, frozen=True, kw_only=True):
    """The claim to release."""

    name: (
        Annotated[
            str,
            Positional(),
            Meta(max_length=40, description="claim to withdraw (default: every claim of the episode)"),
        ]
        | None
    ) = None


class Announced(Wire, frozen=True):
    """A new claim, the one of the same name that it replaced, and its overlaps with others, which forbid nothing."""

    claim: Claim
    released: Claim | None
    overlaps: tuple[Overlap, ...]


class Released(Wire, frozen=True):
    """The claims that were released."""

    released: tuple[Claim, ...]


async def announce(service: RepositoryService, inputs: AnnounceInputs) -> Announced:
    """Claim paths, and find the claims and tasks of other episodes that overlap with them."""

    def work() -> Announced:
        request = service.request_context(inputs.root, inputs.session)
        meant = find_meant(service.context, request.query)
        scope = tuple(_make_relative(path, request.here.root) for path in inputs.scope)
        claim, released = service.board.announce(meant, inputs.name, inputs.intent, scope, service.now())
        service.board.hear(meant, service.now())
        met = find_overlaps(
            claim.scope,
            meant,
            service.board.claims(),
            relative_tasks(service.board.tasks(), service.board.open_episodes()),
        )
        return Announced(claim=claim, released=released, overlaps=met)

    return await in_thread(work)


async def release(service: RepositoryService, inputs: ReleaseInputs) -> Released:
    """Release one claim, or all claims of the episode."""

    def work() -> Released:
        meant = find_meant(service.context, service.request_context(inputs.root, inputs.session).query)
        released = service.board.release(meant, inputs.name)
        service.board.hear(meant, service.now())
        return Released(released=released)

    return await in_thread(work)


def _make_relative(path: str, root: str) -> str:
    """A path relative to the checkout, even if it is spelled through a link to it."""
    if not path.startswith("/"):
        return path
    relative = make_relative(path, root)
    return relative if relative != path else make_relative(os.path.realpath(path), root)


# ---------------------------------------------------------------- for a person


def announced_text(answer: Announced) -> str:
    """The claim, the one that it replaced, and a line for each overlap."""
    lines = [f"episode {answer.claim.episode} claims {_describe(answer.claim)}"]
    if answer.released is not None:
        lines.append(f"released: {_describe(answer.released)}")
    lines += [_describe_overlap(one) for one in answer.overlaps]
    return "\n".join(lines) + "\n"


def released_text(answer: Released) -> str:
    """A line for each claim that was released."""
    return "".join(f"released: {_describe(claim)}\n" for claim in answer.released)


def _describe(claim: Claim) -> str:
    return f"{claim.name}: {clean(claim.intent)} ({', '.join(clean(path, 80) for path in claim.scope)})"


def _describe_overlap(one: Overlap) -> str:
    what = f"claim {one.name}" if one.name else "task"
    pairs = ", ".join(f"{clean(ours, 80)} meets {clean(theirs, 80)}" for ours, theirs in one.paths[:_MOST_PAIRS])
    more = len(one.paths) - _MOST_PAIRS
    rest = f" and {more} more" if more > 0 else ""
    return f"overlaps the {what} of episode {one.episode}, {clean(one.about)}: {pairs}{rest}"
