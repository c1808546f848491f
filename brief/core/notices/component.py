"""The name of a component: shown as it is written, compared without regard to case, spaces and how accents are put together."""

from __future__ import annotations

import unicodedata


def component_name(component: str | None) -> str:
    """The name as it is written, with single spaces and composed accents; empty for none."""
    return " ".join(unicodedata.normalize("NFC", component or "").split())


def component_key(component: str | None) -> str:
    """What the names of one component share, by canonical caseless matching; empty for none."""
    folded = unicodedata.normalize("NFD", component or "").casefold()
    return component_name(folded)
