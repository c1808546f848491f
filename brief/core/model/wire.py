"""The base of every model on the wire, and moments in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from brief.core.model.wire_time import wire_time


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment on the wire must carry its zone")
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)


Moment = Annotated[
    datetime,
    AfterValidator(_in_utc),
    PlainSerializer(wire_time, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class Wire(BaseModel):
    """A model on the wire: frozen, and tolerant of fields from a newer version."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        ser_json_inf_nan="null",
        json_schema_serialization_defaults_required=True,
        defer_build=True,
    )
