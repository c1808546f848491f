"""Where the notices of a checkout lie."""

from __future__ import annotations

import os

from brief.sections.context import SectionQuery


def notice_folders(state_dir: str, query: SectionQuery) -> tuple[str, ...]:
    """The folder of the repository, then those of the policy, relative ones below the checkout."""
    declared = (os.path.join(query.root, folder) for folder in query.settings.alerts.folders)
    return (own_folder(state_dir), *declared)


def own_folder(state_dir: str) -> str:
    """The folder of the repository, where commands write."""
    return os.path.join(state_dir, "notices")
