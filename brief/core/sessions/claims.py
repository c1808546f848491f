"""What an episode says it is about to change, and where two such words meet. It informs; it locks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from brief.core.model.errors import UsageError
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.task import Task, checked_scope

DEFAULT_NAME = "work"
INTENT_LIMIT = 200
MOST_CLAIMS = 16
"""How many claims one episode may hold."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_ANY_DEPTH = "**"


class Claim(Wire):
    """What an episode intends, and the paths it is about, relative to its checkout. Its `name` is its own within it."""

    episode: str
    name: str
    intent: str
    scope: tuple[str, ...]
    since: Moment


class Overlap(Wire):
    """Another episode's claim or task that is about the same paths; `paths` pairs one's own path with the other's."""

    episode: str
    kind: Literal["claim", "task"]
    name: str | None
    about: str
    paths: tuple[tuple[str, str], ...]


# ---------------------------------------------------------------- what may be claimed


def checked_name(text: str) -> str:
    """The name of a claim as given, or UsageError: up to 40 letters, digits and `. _ -`, a letter or digit first."""
    if not _NAME.fullmatch(text):
        raise UsageError(f"name {text[:60]!r} is no name of a claim; give up to 40 letters, digits and . _ -")
    return text


def claimed_scope(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths of a claim, normalised, each once, or UsageError where there is none or one is no path."""
    if not paths:
        raise UsageError("a claim is about paths; name them with --scope PATH, a folder stands for its files")
    told = {path: _parts(path) for path in checked_scope(paths)}
    for path, parts in told.items():
        if parts[:1] in (["/"], [".."]):
            raise UsageError(f"scope {path[:60]!r} lies outside the checkout; name paths inside it")
    return tuple(dict.fromkeys("/".join(parts) or "." for parts in told.values()))


def below(path: str, checkout: str) -> str:
    """A path relative to the checkout where it lies inside by its spelling, else as it is."""
    if path.rstrip("/") == checkout.rstrip("/"):
        return "."
    return path.removeprefix(checkout.rstrip("/") + "/")


# ---------------------------------------------------------------- where scopes meet


def overlaps(ours: Iterable[str], theirs: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of paths, as they are given, that can mean one and the same file, each once.

    A path stands for itself and all below it. In a component `*` stands for any text and `?` for one character; a
    component `**` stands for any number of components. Case counts.
    """
    mine = [(path, _parts(path)) for path in ours]
    others = [(path, _parts(path)) for path in theirs]
    return tuple(dict.fromkeys((one, other) for one, parts in mine for other, them in others if _meet(parts, them)))


def against(
    scope: tuple[str, ...], own: str, claims: Iterable[Claim], tasks: Mapping[str, Task]
) -> tuple[Overlap, ...]:
    """What the claims and tasks of every episode but `own` share with a scope; all paths relative to their checkouts.

    A task is left out where it adds nothing to the claims of its episode.
    """
    found: list[Overlap] = []
    for one, theirs in (*_claims_of(claims), *_tasks_of(tasks.values())):
        pairs = overlaps(scope, theirs) if one.episode != own else ()
        known = {pair for met in found if met.episode == one.episode for pair in met.paths}
        if pairs and (one.kind == "claim" or not known.issuperset(pairs)):
            found.append(one.model_copy(update={"paths": pairs}))
    return tuple(found)


def _claims_of(claims: Iterable[Claim]) -> Iterator[tuple[Overlap, tuple[str, ...]]]:
    for claim in claims:
        yield Overlap(episode=claim.episode, kind="claim", name=claim.name, about=claim.intent, paths=()), claim.scope


def _tasks_of(tasks: Iterable[Task]) -> Iterator[tuple[Overlap, tuple[str, ...]]]:
    for task in tasks:
        yield Overlap(episode=task.episode, kind="task", name=None, about=task.title, paths=()), task.scope


def _parts(path: str) -> list[str]:
    """The components of a path: no empty ones, no `.`, and `..` taken back where something stands before it."""
    parts: list[str] = ["/"] if path.startswith("/") else []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] not in ("..", "/"):
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return parts


def _meet(ours: list[str], theirs: list[str]) -> bool:
    """Whether some path lies in both. Behind a `**`, as behind the end of a path, anything may follow.

    So only what stands before the first of these on either side can keep two paths apart.
    """
    return all(_alike(one, other) for one, other in zip(_fixed(ours), _fixed(theirs), strict=False))


def _fixed(parts: list[str]) -> list[str]:
    return parts[: next((at for at, part in enumerate(parts) if part == _ANY_DEPTH), len(parts))]


def _alike(one: str, other: str) -> bool:
    """Whether some text fits both components."""
    if one == other:
        return True
    mine, others = one.split("*"), other.split("*")
    if len(mine) > 1 and len(others) > 1:
        # Each star takes whatever the other one's middle holds: only the outer ends can disagree.
        return _agree(mine[0], others[0]) and _agree(mine[-1][::-1], others[-1][::-1])
    if len(mine) == len(others):
        return len(one) == len(other) and _agree(one, other)
    return _fits(mine, other) if len(mine) > 1 else _fits(others, one)


def _agree(one: str, other: str) -> bool:
    """Whether two texts can be the same as far as the shorter one reaches."""
    return all(a == b or "?" in (a, b) for a, b in zip(one, other, strict=False))


def _fits(pieces: list[str], text: str) -> bool:
    """Whether pieces, with anything between them, make up a text that has no star."""
    first, *middle, last = pieces
    if len(first) + len(last) > len(text) or not (_agree(first, text) and _agree(last[::-1], text[::-1])):
        return False
    rest = text[len(first) : len(text) - len(last)]
    for piece in middle:
        at = next((at for at in range(len(rest) - len(piece) + 1) if _agree(piece, rest[at : at + len(piece)])), None)
        if at is None:
            return False
        rest = rest[at + len(piece) :]
    return True
