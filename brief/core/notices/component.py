"""Component names. They are shown as written, and compared without regard to how they are spelled.

Case, spacing, accent composition and wide forms do not count; nor do, in a path, the kind and number of its separators, a
separator at its end, and `.` as a part.
"""

from __future__ import annotations

import unicodedata


def component_name(component: str | None) -> str:
    """The name as written, with single spaces and composed accents. Empty for None."""
    return " ".join(unicodedata.normalize("NFC", component or "").split())


def component_key(component: str | None) -> str:
    """The key that all spellings of a component share (compatibility caseless matching). Empty for None."""
    folded = component_name(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", component or "").casefold()))
    parts = [part for part in folded.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts) or folded
