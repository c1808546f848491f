"""The mesh section: other machines. Undeclared until a policy says how to reach them."""

from __future__ import annotations

from brief.core.model.brief import MeshSection, Status
from brief.core.policy.names import UNREAD
from brief.core.text.sanitize import clean
from brief.sections.context import SectionContext, SectionQuery

URL = "mesh.url"


def answer(context: SectionContext, query: SectionQuery) -> MeshSection:  # noqa: ARG001 - all readers alike
    """UNDECLARED if `mesh.url` is known not to be set, else UNREAD, since this version cannot ask another machine."""
    if query.is_policy_unread:
        return _make_unread(f"whether {URL} is set is unknown: {UNREAD}; majordomus policy check says why")
    waiting = next((value for key, value in query.untrusted if key == URL), None)
    if waiting is not None:
        return _make_unread(f"{URL} is {clean(str(waiting), 200)}, which is not trusted here; run majordomus trust")
    if query.settings.mesh.url is not None:
        return _make_unread(f"{URL} is set, but this version cannot ask other machines")
    return MeshSection(status=Status.UNDECLARED, headline="no other machine is set up", reason=f"{URL} is not set")


def _make_unread(reason: str) -> MeshSection:
    return MeshSection(status=Status.UNREAD, headline="no other machine was asked", reason=reason)
