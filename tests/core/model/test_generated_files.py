"""The files made from the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from brief.core.model.generated_files import FILES

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_files_have_not_drifted(name: str) -> None:
    """Each made file is what the models make of it; scripts/make-files writes it anew."""
    message = f"{name} differs from the models; run scripts/make-files"
    assert (ROOT / name).read_text(encoding="utf-8") == FILES[name](), message
