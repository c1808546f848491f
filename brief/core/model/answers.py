"""Answers without a model of their own: a rendered document, or the reason why there is no answer."""

from __future__ import annotations

from brief.core.model.wire import Wire


class Rendered(Wire, frozen=True):
    """An answer that is already rendered. `in_full` is whether everything it covers was read."""

    body: bytes
    media_type: str
    in_full: bool


class Problem(Wire, frozen=True):
    """Why a call was not answered: a sentence, its kind, and the exit code for the command."""

    error: str
    kind: str
    exit_code: int
