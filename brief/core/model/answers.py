"""The answers that are no model of their own: a document that is rendered already, and why there is none."""

from __future__ import annotations

from brief.core.model.wire import Wire


class Rendered(Wire):
    """An answer that is a document already. `in_full` tells whether all that it speaks of was read."""

    body: bytes
    media_type: str
    in_full: bool


class Problem(Wire):
    """Why a call was not answered: a sentence, its kind, and the exit code of a command that meets it."""

    error: str
    kind: str
    exit_code: int
