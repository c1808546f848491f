"""The folders that hold a checkout's notices."""

from __future__ import annotations

import os

from brief.sections.context import SectionQuery


def notice_folders(state_dir: str, query: SectionQuery) -> tuple[str, ...]:
    """The repository's folder, then the policy's, each once. Relative ones are relative to the checkout."""
    own = own_folder(state_dir)
    if not query.settings.alerts.folders:
        return (own,)
    declared = (os.path.join(query.root, folder) for folder in query.settings.alerts.folders)
    by_place: dict[str, str] = {}
    for folder in (own, *declared):
        by_place.setdefault(os.path.realpath(folder), folder)
    return tuple(by_place.values())


def own_folder(state_dir: str) -> str:
    """The repository's own folder, where commands write."""
    return os.path.join(state_dir, "notices")
