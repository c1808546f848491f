"""Cases for the reader of the client's own files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brief.install.client import find_document
from reader_case import ReaderCase


def _document(text: str | None) -> Callable[[Path, pytest.MonkeyPatch], Any]:
    def arranged(folder: Path, _: pytest.MonkeyPatch) -> Any:
        path = folder / "settings.json"
        if text is not None:
            path.write_text(text)
        return find_document(path)

    return arranged


CASES = {
    "install.client.find_document": ReaderCase(
        present=_document("{}"), absent=_document(None), unreadable=_document("{")
    ),
}
