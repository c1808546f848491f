from __future__ import annotations

import pytest

from brief.core.model.brief import SECTIONS
from brief.sections.readers import READERS, load_reader


def test_every_section_has_a_reader() -> None:
    """There is a reader for each of the six sections, in order."""
    assert list(READERS) == list(SECTIONS)


@pytest.mark.parametrize("name", SECTIONS)
def test_the_module_of_a_section(name: str) -> None:
    """The module of each section reads it."""
    assert load_reader(name).__module__ == f"brief.sections.{name}"
