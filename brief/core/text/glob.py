"""Match a path or branch against a glob pattern, in time bounded for every pattern.

`*` matches any characters within one part of a path, `?` matches one character, and a part `**` matches any number of
parts. Everything else is literal, including brackets, which are common in file names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_STAR, _ANY_PARTS = "*", "**"


def matches(path: str, pattern: str) -> bool:
    """Whether `pattern` matches the whole of `path`. A leading `./` and a trailing `/` are ignored.

    `src/**` also matches the folder `src`, since a folder stands for its files.
    """
    return _fits(_split_path(path), _split_path(pattern), _ANY_PARTS, _part_fits)


def _split_path(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _part_fits(part: str, pattern: str) -> bool:
    return _fits(part, pattern, _STAR, lambda char, wanted: wanted in ("?", char))


def _fits(items: Sequence[str], pattern: Sequence[str], star: str, fits: Callable[[str, str], bool]) -> bool:
    """Whether the items match the pattern, in which `star` matches any number of items.

    Backtracking only ever extends the last star, because everything before it can stay as it is. So the work is at most the
    product of the lengths.
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
