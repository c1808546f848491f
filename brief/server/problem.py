"""How a call that is not answered is refused: one JSON object with a sentence, its kind, and a command's exit code."""

from __future__ import annotations

from starlette.responses import Response

from brief.core.model.answers import Problem
from brief.core.model.wire import Wire
from brief.core.text.json_document import json_document
from brief.core.text.sanitize import clean


def problem(status: int, error: str, kind: str, exit_code: int) -> Response:
    """The refusal with a status."""
    return json_response(Problem(error=clean(error, 2_000), kind=kind, exit_code=exit_code), status)


def json_response(answer: Wire, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer as JSON that no terminal is steered by."""
    return Response(json_document(answer), status, media_type="application/json", headers=headers)
