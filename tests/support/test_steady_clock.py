"""A wall clock that jumps is not believed at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from brief.support.steady_clock import SteadyClock, boot_seconds

BEGIN = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


class Clocks:
    """A wall clock that can be set, and a steady one that only runs."""

    def __init__(self) -> None:
        self.wall, self.steady = BEGIN, 0.0
        self.clock = SteadyClock(lambda: self.wall, lambda: self.steady)

    def run(self, span: timedelta) -> None:
        """Move both clocks on."""
        self.wall += span
        self.steady += span.total_seconds()


def test_it_runs_with_both_clocks() -> None:
    """If nobody sets the wall clock, its time is used."""
    clocks = Clocks()
    clocks.run(HOUR)
    assert clocks.clock.earliest() == BEGIN + HOUR
    assert not clocks.clock.has_gone_back()


def test_a_jump_ahead_is_believed_from_the_next_pass_on() -> None:
    """After a jump the steady clock's time is used until the wall clock is believed."""
    clocks = Clocks()
    clocks.wall += DAY
    clocks.run(HOUR)
    assert clocks.clock.earliest() == BEGIN + HOUR
    clocks.clock.believe()
    assert clocks.clock.earliest() == BEGIN + DAY + HOUR


def test_a_clock_that_comes_back_says_so_once() -> None:
    """Going back is noticed whether or not the jump was believed; small corrections are not jumps."""
    for believed in (False, True):
        clocks = Clocks()
        clocks.wall += DAY
        assert not clocks.clock.has_gone_back()
        if believed:
            clocks.clock.believe()
        clocks.wall -= DAY
        assert [clocks.clock.has_gone_back() for _ in range(2)] == [True, False]
        clocks.wall -= timedelta(seconds=5)
        assert not clocks.clock.has_gone_back()
        assert clocks.clock.earliest() == clocks.wall


def test_without_a_steady_clock_the_wall_clock_is_all() -> None:
    """Without a steady clock the wall clock is believed."""
    clocks = Clocks()
    clock = SteadyClock(lambda: clocks.wall, None)
    clocks.wall += DAY
    assert clock.earliest() == BEGIN + DAY
    assert not clock.has_gone_back()


def test_the_clock_of_the_machine_only_runs() -> None:
    """Two reads of the clock are in order."""
    assert 0 < boot_seconds() <= boot_seconds()
