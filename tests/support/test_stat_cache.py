from __future__ import annotations

from pathlib import Path

import pytest

from brief.support.files import any_young, stamp_file
from brief.support.stat_cache import StatCache
from sandbox import until


class Reads:
    """A cache of one file's content, and how often it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cache: StatCache[str, str] = StatCache(2)
        self.count = 0

    def __call__(self) -> str:
        """The content of the file, through the cache."""
        return self.cache.get(str(self.path), stamp_file(str(self.path)), self._read)

    def _read(self) -> str:
        self.count += 1
        return self.path.read_text()

    def settle(self) -> None:
        """Wait until the file is old enough for its stamp to be trusted."""
        until(lambda: not any_young([stamp_file(str(self.path))]))


@pytest.fixture
def reads(tmp_path: Path) -> Reads:
    """A settled file with the content `one`."""
    path = tmp_path / "file"
    path.write_text("one")
    reads = Reads(path)
    reads.settle()
    return reads


def test_unchanged_file_is_read_once(reads: Reads) -> None:
    """The value is valid while the stamp is unchanged."""
    assert [reads(), reads(), reads()] == ["one"] * 3
    assert reads.count == 1


def test_every_change_is_seen(reads: Reads) -> None:
    """Changes of equal length, right after one another, are each seen: a young file is read at every call."""
    reads()
    for text in ("two", "six", "ten") * 20:
        reads.path.write_text(text)
        assert reads() == text
    reads.settle()
    count = reads.count
    assert [reads(), reads()] == ["ten"] * 2
    assert reads.count == count + 1


def test_missing_file_is_asked_for_again(reads: Reads) -> None:
    """A read that raises caches nothing, and discards the earlier value of the file."""
    content = reads()
    reads.path.rename(reads.path.with_name("away"))
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            reads()
    assert reads.count == 3
    reads.path.with_name("away").rename(reads.path)
    assert reads() == content


def test_fault_that_passes_is_not_kept(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that could not be read once is read at the next call, although it did not change."""
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", lambda _: (_ for _ in ()).throw(OSError(24, "Too many open files")))
        with pytest.raises(OSError, match="Too many"):
            reads()
    assert reads() == "one"


def test_value_without_a_stamp_is_not_kept() -> None:
    """Nothing is cached of a file that cannot be accessed."""
    cache: StatCache[str, int] = StatCache(2)
    values = iter((1, 2))
    assert [cache.get("a", None, lambda: next(values)) for _ in range(2)] == [1, 2]


def test_others_are_forgotten(reads: Reads) -> None:
    """At most so many values are kept, the latest, and of those only the wanted ones."""
    found = stamp_file(str(reads.path))
    for key in ("a", "b", "c"):
        reads.cache.get(key, found, lambda: "first")
    assert [reads.cache.get(key, found, lambda: "second") for key in ("b", "c")] == ["first"] * 2
    reads.cache.keep_only({"c"})
    assert [reads.cache.get(key, found, lambda: "third") for key in ("c", "b", "a")] == ["first", "third", "third"]
