"""Match a path or a branch against a pattern, in time that no pattern can blow up.

`*` stands for any characters within one part of a path, `?` for one of them, a part `**` for any number of parts.
All else stands for itself: brackets are common in the names of files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_STAR, _ANY_PARTS = "*", "**"


def matches(path: str, pattern: str) -> bool:
    """Whether the whole of `path` fits `pattern`; `./` before it and `/` behind it do not count.

    `src/**` fits the folder `src` too, since a folder stands for its files.
    """
    return _fits(_parts(path), _parts(pattern), _ANY_PARTS, _part_fits)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _part_fits(part: str, pattern: str) -> bool:
    return _fits(part, pattern, _STAR, lambda char, wanted: wanted in ("?", char))


def _fits(items: Sequence[str], pattern: Sequence[str], star: str, fits: Callable[[str, str], bool]) -> bool:
    """Whether the items fit the pattern, in which `star` stands for any number of them.

    Only the last star met is ever given another item: what fitted before it can stay as it is. So the work is at
    most the product of the lengths.
    """
    at = wanted = 0
    after_star, given = -1, 0
    while at < len(items):
        if wanted < len(pattern) and pattern[wanted] == star:
            wanted += 1
            after_star, given = wanted, at
        elif wanted < len(pattern) and fits(items[at], pattern[wanted]):
            at, wanted = at + 1, wanted + 1
        elif after_star >= 0:
            given += 1
            at, wanted = given, after_star
        else:
            return False
    return all(rest == star for rest in pattern[wanted:])
