"""Describe why a model refused a document, briefly and without the value, which may contain anybody's text."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import ValidationError


class FirstFault(NamedTuple):
    """The first fault: its dotted key, empty for the whole document, and a message."""

    where: str
    message: str

    def __str__(self) -> str:
        """`key.inner: what is wrong`."""
        return f"{self.where}: {self.message}" if self.where else self.message


def first_fault(error: ValidationError) -> FirstFault:
    """The first of the faults that a model found."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return FirstFault(".".join(map(str, fault["loc"])), fault["msg"])
