"""The response to a call that is refused: a JSON object with a sentence, its kind, and an exit code for the command."""

from __future__ import annotations

from starlette.responses import Response

from brief.core.model.answers import Problem
from brief.core.model.wire import Wire
from brief.core.text.json_document import json_document
from brief.core.text.sanitize import clean


def problem(status: int, error: str, kind: str, exit_code: int) -> Response:
    """A refusal with this HTTP status."""
    return json_response(Problem(error=clean(error, 2_000), kind=kind, exit_code=exit_code), status)


def json_response(answer: Wire, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer as JSON without characters that control a terminal."""
    return Response(json_document(answer), status, media_type="application/json", headers=headers)
