"""What holds for every test of the server: no process outlives its test, however that ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import serving


@pytest.fixture(autouse=True)
def _nothing_outlives() -> Iterator[None]:
    """End and wait for what the test started itself."""
    yield
    serving.end_all()
