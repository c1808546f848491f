"""What is wrong with a document that a model refuses, in few words and without the value, which may be anybody's."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import ValidationError


class FirstFault(NamedTuple):
    """Where the first fault is, by the keys that lead there, empty for the whole document, and what is wrong."""

    where: str
    message: str

    def __str__(self) -> str:
        """`key.inner: what is wrong`."""
        return f"{self.where}: {self.message}" if self.where else self.message


def first_fault(error: ValidationError) -> FirstFault:
    """The first fault of those that a model found."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return FirstFault(".".join(map(str, fault["loc"])), fault["msg"])
