"""The process of one server."""

from __future__ import annotations

import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brief.server import app
from brief.server.shutdown import StopRequest


class Reached(Exception):  # noqa: N818 - no error: it ends the start where the test wants to look
    """The start came so far."""


def test_a_server_collects_garbage_although_its_start_did_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage is left lying only until everything is loaded."""

    def reach(*_: Any) -> None:
        raise Reached

    monkeypatch.setattr(app, "utc_now", reach)
    lease: Any = SimpleNamespace(
        release=lambda: None, is_ours=lambda: True, state_dir=tmp_path, had_database=False, epoch=1
    )
    gc.disable()
    try:
        with pytest.raises(Reached):
            app.serve(lease, str(tmp_path), StopRequest())
        assert gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()
