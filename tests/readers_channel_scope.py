"""Cases for the readers of Claude Code's settings and mods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brief.sessions import channel_scope
from reader_case import ReaderCase


def _mod(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    return channel_scope.find_mod(str(folder))


def _mod_present(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    (folder / channel_scope.MOD_TARGET / ".claude-plugin").mkdir(parents=True)
    return _mod(folder, patch)


def _mod_unreadable(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    (folder / "skills").symlink_to("skills")
    return _mod(folder, patch)


def _wake(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    return channel_scope.declares_wake(str(folder / "settings.json"), "user")


def _wake_present(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    (folder / "settings.json").write_text("{}")
    return _wake(folder, patch)


def _wake_unreadable(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    (folder / "settings.json").mkdir()
    return _wake(folder, patch)


CASES = {
    "sessions.channel_scope.find_mod": ReaderCase(_mod_present, _mod, _mod_unreadable),
    "sessions.channel_scope.declares_wake": ReaderCase(_wake_present, _wake, _wake_unreadable),
}
