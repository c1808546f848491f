"""The generated files."""

from __future__ import annotations

from pathlib import Path

import pytest

from brief.capabilities.generated_files import FILES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_files_have_not_drifted(name: str) -> None:
    """Each generated file is what its source generates now; scripts/make-files writes it anew."""
    message = f"{name} is out of date; run scripts/make-files"
    assert (ROOT / name).read_text(encoding="utf-8") == FILES[name](), message
