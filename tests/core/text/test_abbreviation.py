"""Names abbreviated to their first letters."""

from __future__ import annotations

import pytest

from brief.core.model.errors import UsageError
from brief.core.text.abbreviation import whole_name

NAMES = ("lock-koda", "lock-kodak", "courtesy", "ab")


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ("cour", "courtesy"),
        ("courtesy", "courtesy"),
        ("lock-koda", "lock-koda"),
        ("lock-kodak", "lock-kodak"),
        ("co", "co"),
        ("other", "other"),
    ],
)
def test_the_only_name_that_begins_so_is_meant(given: str, whole: str) -> None:
    """A whole name is itself, also if it begins another; what is too short or begins none is taken as written."""
    assert whole_name(given, NAMES, 3, "notices") == whole


def test_the_beginning_of_two_is_refused() -> None:
    """Both are named, unless not everybody may know them."""
    with pytest.raises(
        UsageError, match="lock- is the beginning of 2 notices: lock-koda, lock-kodak; give more letters"
    ):
        whole_name("lock-", NAMES, 3, "notices")
    with pytest.raises(UsageError, match="lock- is the beginning of 2 notices; give more letters"):
        whole_name("lock-", NAMES, 3, "notices", is_secret=True)
