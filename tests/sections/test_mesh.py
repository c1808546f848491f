"""The mesh section: other machines are not set up, or set up and not asked, and never zero."""

from __future__ import annotations

from msgspec.structs import replace

from brief.core.model.brief import Status
from brief.sections.mesh import answer
from samples import ask, context


def test_no_mesh_is_set_up() -> None:
    """Without `mesh.url` there is nobody to ask, and the section says which key is not set."""
    found = answer(context(), ask())
    assert (found.status, found.reason, found.data) == (Status.UNDECLARED, "mesh.url is not set", None)


def test_a_mesh_that_is_set_up_is_unread() -> None:
    """With `mesh.url` somebody could be there, but nobody was asked: a gap, without a count."""
    found = answer(context(), ask(settings={"mesh": {"url": "nats://host:4222"}}))
    assert (found.status, found.data, found.fully_read) == (Status.UNREAD, None, False)
    assert "mesh.url is set" in (found.reason or "")


def test_a_mesh_that_waits_for_trust_is_unread() -> None:
    """An untrusted `mesh.url` differs from none: the reason names the command that trusts it."""
    query = replace(ask(), untrusted=(("mesh.url", "nats://host:4222"),))
    found = answer(context(), query)
    assert (found.status, found.data, found.fully_read) == (Status.UNREAD, None, False)
    assert found.reason == "mesh.url is nats://host:4222, which is not trusted here; run majordomus trust"
