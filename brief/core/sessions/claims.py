"""Claims: what an episode announces it will change, and where two claims overlap. A claim informs and locks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal

from brief.core.model.errors import UsageError
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import KnownEpisode
from brief.core.sessions.task import Task, check_scope, check_text

DEFAULT_NAME = "work"
INTENT_LIMIT = 200
MOST_CLAIMS = 16
"""The most claims one episode may hold."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_ANY_DEPTH = "**"


class Claim(Wire, frozen=True):
    """An episode's intent and the paths it concerns, relative to its checkout. `name` is unique within the episode."""

    episode: str
    name: str
    intent: str
    scope: tuple[str, ...]
    since: Moment


class Overlap(Wire, frozen=True):
    """Another episode's claim or task on the same paths. `paths` pairs one's own path with the other episode's."""

    episode: str
    kind: Literal["claim", "task"]
    name: str | None
    about: str
    paths: tuple[tuple[str, str], ...]


# ---------------------------------------------------------------- checking input


def new_claim(episode: str, name: str, intent: str, scope: tuple[str, ...], now: datetime) -> Claim:
    """Make a claim that begins now. Raises UsageError."""
    return Claim(
        episode=episode,
        name=check_name(name),
        intent=check_text("the intent", intent, INTENT_LIMIT),
        scope=check_claim_scope(scope),
        since=now,
    )


def check_name(text: str) -> str:
    """Check a claim's name: up to 40 letters, digits and `. _ -`, starting with a letter or digit. Raises UsageError."""
    if not _NAME.fullmatch(text):
        raise UsageError(f"name {text[:60]!r} cannot name a claim; give up to 40 letters, digits and . _ -")
    return text


def check_claim_scope(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths of a claim, normalized, each once. Raises UsageError if there are none or one is not a path."""
    if not paths:
        raise UsageError("a claim needs paths; name them with --scope PATH: a folder covers its files")
    parts_of = {path: _split_path(path) for path in check_scope(paths)}
    for path, parts in parts_of.items():
        if parts[:1] in (["/"], [".."]):
            raise UsageError(f"scope {path[:60]!r} lies outside the checkout; name paths inside it")
    return tuple(dict.fromkeys("/".join(parts) or "." for parts in parts_of.values()))


def make_relative(path: str, checkout: str) -> str:
    """A path relative to the checkout if it is spelled as one inside, else unchanged."""
    if path.rstrip("/") == checkout.rstrip("/"):
        return "."
    return path.removeprefix(checkout.rstrip("/") + "/")


def relative_tasks(tasks: Mapping[str, Task], known: Iterable[KnownEpisode]) -> dict[str, Task]:
    """The tasks by episode, their scopes relative to the checkout of each."""
    places = {one.episode.id: one.episode.checkout for one in known}
    return {
        episode: task.replace(scope=tuple(make_relative(path, places.get(episode, "")) for path in task.scope))
        for episode, task in tasks.items()
    }


# ---------------------------------------------------------------- overlaps


def overlapping_paths(ours: Iterable[str], theirs: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of paths, as given, that can mean the same file, each once.

    A path covers itself and everything below it. Within a component `*` matches any text and `?` one character; a component
    `**` matches any number of components. Case matters.
    """
    mine = [(path, _split_path(path)) for path in ours]
    others = [(path, _split_path(path)) for path in theirs]
    return tuple(dict.fromkeys((one, other) for one, parts in mine for other, them in others if _can_meet(parts, them)))


def find_overlaps(
    scope: tuple[str, ...], own: str, claims: Iterable[Claim], tasks: Mapping[str, Task]
) -> tuple[Overlap, ...]:
    """The claims and tasks of every episode but `own` that overlap a scope. Paths are relative to their checkouts.

    A task that adds nothing to the claims of its episode is left out.
    """
    found: list[Overlap] = []
    for one, theirs in (*_claims_of(claims), *_tasks_of(tasks.values())):
        pairs = overlapping_paths(scope, theirs) if one.episode != own else ()
        known = {pair for met in found if met.episode == one.episode for pair in met.paths}
        if pairs and (one.kind == "claim" or not known.issuperset(pairs)):
            found.append(one.replace(paths=pairs))
    return tuple(found)


def _claims_of(claims: Iterable[Claim]) -> Iterator[tuple[Overlap, tuple[str, ...]]]:
    for claim in claims:
        yield Overlap(episode=claim.episode, kind="claim", name=claim.name, about=claim.intent, paths=()), claim.scope


def _tasks_of(tasks: Iterable[Task]) -> Iterator[tuple[Overlap, tuple[str, ...]]]:
    for task in tasks:
        yield Overlap(episode=task.episode, kind="task", name=None, about=task.title, paths=()), task.scope


def _split_path(path: str) -> list[str]:
    """The components of a path, without empty ones and `.`, and with `..` resolved if a component precedes it."""
    parts: list[str] = ["/"] if path.startswith("/") else []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] not in ("..", "/"):
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return parts


def _can_meet(ours: list[str], theirs: list[str]) -> bool:
    """Whether some path lies in both. Anything may follow a `**` or the end of a path.

    So only the components before those can differ.
    """
    return all(_can_be_alike(one, other) for one, other in zip(_fixed_part(ours), _fixed_part(theirs), strict=False))


def _fixed_part(parts: list[str]) -> list[str]:
    return parts[: next((at for at, part in enumerate(parts) if part == _ANY_DEPTH), len(parts))]


def _can_be_alike(one: str, other: str) -> bool:
    """Whether some text matches both components."""
    if one == other:
        return True
    mine, others = one.split("*"), other.split("*")
    if len(mine) > 1 and len(others) > 1:
        # Each star can match the middle of the other component, so only the outer ends can differ.
        return _can_agree(mine[0], others[0]) and _can_agree(mine[-1][::-1], others[-1][::-1])
    if len(mine) == len(others):
        return len(one) == len(other) and _can_agree(one, other)
    return _can_fit(mine, other) if len(mine) > 1 else _can_fit(others, one)


def _can_agree(one: str, other: str) -> bool:
    """Whether two texts can match up to the end of the shorter one."""
    return all(a == b or "?" in (a, b) for a, b in zip(one, other, strict=False))


def _can_fit(pieces: list[str], text: str) -> bool:
    """Whether the pieces, with anything between them, match a text without a star."""
    first, *middle, last = pieces
    if len(first) + len(last) > len(text) or not (_can_agree(first, text) and _can_agree(last[::-1], text[::-1])):
        return False
    rest = text[len(first) : len(text) - len(last)]
    for piece in middle:
        at = next(
            (at for at in range(len(rest) - len(piece) + 1) if _can_agree(piece, rest[at : at + len(piece)])), None
        )
        if at is None:
            return False
        rest = rest[at + len(piece) :]
    return True
