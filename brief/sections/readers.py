"""The reader of each section. Its module is loaded when the section is first asked for."""

from __future__ import annotations

from importlib import import_module

from brief.core.model.brief import SECTIONS, Section
from brief.sections.context import Answer, SectionContext, SectionQuery


def load_reader(name: str) -> Answer:
    """The function that reads a section. Imports its module."""
    answer: Answer = import_module(f"brief.sections.{name}").answer
    return answer


def _find_reader(name: str) -> Answer:
    def answer(context: SectionContext, query: SectionQuery) -> Section:
        return load_reader(name)(context, query)

    return answer


READERS: dict[str, Answer] = {name: _find_reader(name) for name in SECTIONS}
"""The reader of each section, in the order of every brief."""
