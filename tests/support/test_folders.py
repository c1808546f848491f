from __future__ import annotations

import os
from pathlib import Path

import pytest

from brief.support.folders import LinkInTheWayError, open_below


def names(descriptor: int) -> list[str]:
    """The names in a folder, by its descriptor."""
    return sorted(os.listdir(descriptor))


def test_steps_are_made(tmp_path: Path) -> None:
    """Every missing step is created, and the descriptor is that of the last."""
    with open_below(tmp_path, ("a", "b"), make=True) as descriptor:
        (tmp_path / "a/b/file").touch()
        assert names(descriptor) == ["file"]


def test_a_missing_step_is_told(tmp_path: Path) -> None:
    """Without `make`, a missing step is FileNotFoundError, and nothing is created."""
    with pytest.raises(FileNotFoundError), open_below(tmp_path, ("a",), make=False):
        pass
    assert list(tmp_path.iterdir()) == []


def test_no_steps(tmp_path: Path) -> None:
    """Without steps it is the base itself, which may be a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with open_below(tmp_path / "link", (), make=False) as descriptor:
        assert names(descriptor) == ["file"]


@pytest.mark.parametrize("make", [True, False])
@pytest.mark.parametrize("leads_to", ["outside", "nowhere"])
def test_no_link_is_followed(tmp_path: Path, leads_to: str, *, make: bool) -> None:
    """A link among the steps is refused, with its path and what to do, wherever it leads."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "base").mkdir()
    (tmp_path / "base/a").symlink_to(tmp_path / leads_to)
    with (
        pytest.raises(LinkInTheWayError, match="base/a: a link is in the way and is not followed"),
        open_below(tmp_path / "base", ("a", "b"), make=make),
    ):
        pass
    assert list((tmp_path / "outside").iterdir()) == []


def test_no_descriptor_is_lost(tmp_path: Path) -> None:
    """Every opened descriptor is closed, whatever happens."""
    before = len(os.listdir("/proc/self/fd"))
    (tmp_path / "a").touch()
    for steps in (("b", "c"), ("a", "d")):
        try:
            with open_below(tmp_path, steps, make=True):
                pass
        except OSError:
            pass
    assert len(os.listdir("/proc/self/fd")) == before
