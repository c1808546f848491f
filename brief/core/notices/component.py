"""Component names. They are shown as written, and compared without regard to case, spacing and accent composition."""

from __future__ import annotations

import unicodedata


def component_name(component: str | None) -> str:
    """The name as written, with single spaces and composed accents. Empty for None."""
    return " ".join(unicodedata.normalize("NFC", component or "").split())


def component_key(component: str | None) -> str:
    """The key that all spellings of a component share (canonical caseless matching). Empty for None."""
    folded = unicodedata.normalize("NFD", component or "").casefold()
    return component_name(folded)
