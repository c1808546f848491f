"""A cache of values read from files, each valid while the stamp of its file stays the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable
from typing import Generic, TypeVar

from brief.support.files import Stamp, any_young
from brief.support.recent_map import RecentMap

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class StatCache(Generic[Key, Value]):
    """The values of at most `most` keys, each of which identifies a file. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._kept: RecentMap[Key, tuple[Stamp, Value]] = RecentMap(most)
        self._lock = threading.Lock()

    def get(self, key: Key, found: Stamp | None, read: Callable[[], Value]) -> Value:
        """The cached value of the file with the stamp `found`, or else what `read` returns.

        The caller takes the stamp before this call. A value is not cached if the file has no stamp or is young: it
        changed so recently that another change could leave its stamp the same. If `read` raises, nothing is cached.
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
        """Discard the values of all other keys."""
        with self._lock:
            for key in [key for key in self._kept if key not in keys]:
                del self._kept[key]
