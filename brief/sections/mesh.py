"""The other machines: undeclared until a policy names how to reach them."""

from __future__ import annotations

from brief.core.model.brief import MeshSection, Status
from brief.core.text.sanitize import clean
from brief.sections.context import SectionContext, SectionQuery

URL = "mesh.url"


def answer(context: SectionContext, query: SectionQuery) -> MeshSection:  # noqa: ARG001 - every owner is asked alike
    """Undeclared where `mesh.url` is not set; unread where it is, since nothing here can ask another machine."""
    waiting = next((value for key, value in query.untrusted if key == URL), None)
    if waiting is not None:
        return _unread(f"{URL} is {clean(str(waiting), 200)} and not trusted here; run majordomus trust")
    if query.settings.mesh.url is not None:
        return _unread(f"{URL} is set, and this version of majordomus cannot ask other machines")
    return MeshSection(status=Status.UNDECLARED, headline="no other machine is set up", reason=f"{URL} is not set")


def _unread(reason: str) -> MeshSection:
    return MeshSection(status=Status.UNREAD, headline="no other machine was asked", reason=reason)
