"""The other machines: undeclared until a policy names how to reach them."""

from __future__ import annotations

from brief.core.model.brief import MeshSection, Status
from brief.sections.context import SectionContext, SectionQuery


def answer(context: SectionContext, query: SectionQuery) -> MeshSection:  # noqa: ARG001 - every owner is asked alike
    """Undeclared where `mesh.url` is not set; unread where it is, since nothing here can ask another machine."""
    if query.settings.mesh.url is None:
        return MeshSection(
            status=Status.UNDECLARED, headline="no other machine is set up", reason="mesh.url is not set"
        )
    return MeshSection(
        status=Status.UNREAD,
        headline="no other machine was asked",
        reason="mesh.url is set, and this version of majordomus cannot ask other machines",
    )
