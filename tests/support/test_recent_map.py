from __future__ import annotations

from brief.support.recent_map import RecentMap


def test_oldest_is_forgotten() -> None:
    """The entry set longest ago is evicted; setting an entry again makes it the latest, reading it does not."""
    recent: RecentMap[str, int] = RecentMap(2)
    recent["a"] = 1
    recent["b"] = 2
    recent["a"] = 3
    recent["c"] = 4
    assert list(recent.items()) == [("a", 3), ("c", 4)]
    assert recent["a"] == 3
    recent["d"] = 5
    assert list(recent) == ["c", "d"]
