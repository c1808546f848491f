"""A clock that jumps a day and comes back neither ends a lock nor loses a notice."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from brief.core.model.errors import ConflictError
from brief.handlers.alerts import ListInputs, list_alerts
from brief.handlers.locks import LocksInputs, PlaceInputs, list_locks, place_lock
from brief.server.housekeeping import tidy
from brief.service import RepositoryService
from repo_fixture import ANN, BEGIN, BOB, Place, identity

DAY = timedelta(days=1)


@pytest.fixture
def steady(place: Place) -> list[float]:
    """The service of the place with a clock that is never set, as seconds in a list."""
    seconds = [0.0]
    place.service = RepositoryService(
        place.lab.common_dir,
        now=place.clock,
        sessions=place.board,
        absence=None,
        identity=identity,
        steady=lambda: seconds[0],
    )
    return seconds


def shown(place: Place) -> list[str]:
    """The notices that are shown."""
    data = place.call(list_alerts, ListInputs).data
    assert data is not None
    return [one.slug for one in data.shown]


@pytest.mark.usefixtures("steady")
def test_a_jump_ends_no_lock_and_archives_nothing(place: Place) -> None:
    """The lock still stands for who would place one, a hook moves no file, and all is as before once it comes back."""
    place.call(place_lock, PlaceInputs, component="koda", session=ANN, ttl=60)
    over = place.put("over", kind="alert", expires="2026-10-12")
    place.clock.now += DAY
    place.hook("user-prompt-submit", session=BOB)
    assert over.exists()
    with pytest.raises(ConflictError, match=f"koda is locked by session {ANN}"):
        place.call(place_lock, PlaceInputs, component="koda", session=BOB)
    place.clock.now -= DAY
    assert [lock.component for lock in place.call(list_locks, LocksInputs).locks] == ["koda"]
    assert "over" in shown(place)


def test_time_that_went_by_on_both_clocks_ends_it(place: Place, steady: list[float]) -> None:
    """Nothing is kept for longer than it says."""
    over = place.put("over", kind="alert", expires="2026-10-12")
    place.clock.now += DAY
    steady[0] += DAY.total_seconds()
    place.hook("user-prompt-submit", session=BOB)
    assert not over.exists()


@pytest.mark.usefixtures("steady")
def test_what_was_archived_early_comes_back(place: Place) -> None:
    """A jump that stood for so long that it was believed is undone by the pass after the clock has come back."""
    over = place.put("over", kind="alert", expires="2027-01-01")
    done = place.put("done", kind="alert", expires="2027-01-01", status="done")
    place.clock.now = datetime(2027, 1, 2, tzinfo=BEGIN.tzinfo)
    tidy(place.service)
    assert over.exists()
    tidy(place.service)
    assert [over.exists(), done.exists()] == [False, True]
    place.clock.now = BEGIN
    assert place.service.clock.has_gone_back()
    tidy(place.service)
    assert "over" in shown(place)


@pytest.mark.usefixtures("steady")
def test_what_comes_back_replaces_nothing(place: Place) -> None:
    """A notice of the same name stays, and so does the lock of who placed one meanwhile; the early one stays archived."""
    early = "---\nkind: lock\ncomponent: koda\nexpires: 2027-01-01\n---\n# early\n"
    archive = place.lab.state / "notices/archive"
    archive.mkdir(parents=True)
    place.call(place_lock, PlaceInputs, component="koda", session=BOB)
    (archive / "lock-early.md").write_text(early)
    (archive / "same.md").write_text("---\nkind: alert\nexpires: 2027-01-01\n---\n# early\n")
    same = place.put("same", kind="alert")
    tidy(place.service)
    assert same.read_text().endswith("# same title\nbody\n")
    assert (archive / "same.md").exists()
    assert (archive / "lock-early.md").exists()
