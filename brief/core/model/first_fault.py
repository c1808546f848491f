"""Describe why a model refused a document, briefly and without the value, which may contain anybody's text."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import DecodeError

_PLACE = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`$")
_QUOTES_VALUE = "Invalid enum value"


class FirstFault(NamedTuple):
    """The first fault: its dotted key, empty for the whole document, and a message."""

    where: str
    message: str

    def __str__(self) -> str:
        """`key.inner: what is wrong`."""
        return f"{self.where}: {self.message}" if self.where else self.message


def first_fault(error: DecodeError) -> FirstFault:
    """The first of the faults that a model found."""
    said = str(error)
    place = _PLACE.search(said)
    message = said[: place.start()] if place else said
    if message.startswith(_QUOTES_VALUE):
        message = _QUOTES_VALUE
    return FirstFault(place[1] if place else "", message)
