"""A rule for every test of the server: no process outlives its test, however the test ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import serving


@pytest.fixture(autouse=True)
def _nothing_outlives() -> Iterator[None]:
    """End the processes that the test itself started, and wait for them."""
    yield
    serving.end_all()
