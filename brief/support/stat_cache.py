"""Values that were read from files, each kept for as long as the stat of its file stands."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable
from typing import Generic, TypeVar

from brief.support.files import Stamp, any_young
from brief.support.recent_map import RecentMap

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class StatCache(Generic[Key, Value]):
    """The values of at most `most` keys, of which each stands for a file. Safe to use from any thread."""

    def __init__(self, most: int) -> None:
        self._kept: RecentMap[Key, tuple[Stamp, Value]] = RecentMap(most)
        self._lock = threading.Lock()

    def get(self, key: Key, found: Stamp | None, read: Callable[[], Value]) -> Value:
        """The value that `read` made of the file while its stamp was `found`, which was taken before this call.

        Read anew is a file that has another stamp, or none, or that changed so lately that a further change could hide
        behind the same one. What `read` raises is raised and keeps nothing.
        """
        kept = self._kept.get(key)
        if kept is not None and kept[0] == found:
            return kept[1]
        is_settled = found is not None and not any_young((found,))
        value = read()
        if found is not None and is_settled:
            with self._lock:
                self._kept[key] = (found, value)
        return value

    def keep_only(self, keys: Collection[Key]) -> None:
        """Forget the values of all other keys."""
        with self._lock:
            for key in [key for key in self._kept if key not in keys]:
                del self._kept[key]
