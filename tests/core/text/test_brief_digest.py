from __future__ import annotations

from typing import Any

import pytest

from brief.core.model.brief import Section, Status
from brief.core.model.level import Level
from brief.core.model.section_data import (
    AlertsData,
    Board,
    DeriveData,
    IntegrationData,
    MeshData,
    Peer,
    PeersData,
    QueueEntry,
    ShownNotice,
    StateData,
    TaskFact,
)
from brief.core.model.wire import from_plain
from brief.core.text.brief_digest import digest_facts
from samples import NOW, ago, brief, rows, section


def peer(**fields: Any) -> Peer:
    """Another session."""
    known = {"episode": "e2", "provider": "codex", "state": "busy", "task": "docs", "branch": "main", "checkout": "/r"}
    return from_plain(
        Peer,
        {
            **known,
            "since": ago(hours=1),
            "heard": ago(minutes=1),
            "source": "registered",
            "liveness": "heard",
            **fields,
        },
    )


def peers(*known: Peer) -> Section:
    """A section with these peers in one checkout."""
    board = Board(kind="checkout", name="r", path="/r", condition="read", reason=None, count=len(known))
    return section("peers", data=PeersData(count=len(known), boards=(board,), peers=known))


def queue(**fields: Any) -> Section:
    """A section with one branch that waits."""
    known = {"name": "topic", "number": None, "lane": "branch", "disposition": "ready", "conflicts_with": None}
    entry = from_plain(QueueEntry, {**known, "ahead": 1, "behind": 0, "committed_at": NOW, "worktree": None, **fields})
    return section("integration", data=IntegrationData(open=1, next="topic", observed_at=NOW, queue=(entry,)))


def derive(state: Any, **holder: Any) -> Section:
    """A section about the derive lock."""
    return section("derive", data=DeriveData(state=state, holder=holder or None, waiting=0))


def alerts(**fields: Any) -> Section:
    """A section with one notice."""
    known = {"slug": "koda", "kind": "lock", "priority": 5, "title": "hands off", "countdown": None}
    shown = from_plain(ShownNotice, {**known, **fields})
    return section("alerts", data=AlertsData(shown=(shown,), hidden=0, unparsable=()))


def state(title: str) -> Section:
    """A section whose session works on something."""
    task = TaskFact(title=title, scope=(), since=NOW, next=None, next_since=None, next_withheld=None)
    return section("state", data=StateData(episode=None, open=1, task=task))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (peers(peer()), peers(peer(state="idle", heard=NOW))),
        (queue(), queue(ahead=9, behind=3, committed_at=ago(hours=2))),
        (state("mend the login"), state("write docs")),
        (derive("held", pid=7, checkout="/r", command="make"), derive("held", pid=7, checkout="/r", command="make -j")),
        (section("mesh", reason="a"), section("mesh", reason="b")),
    ],
)
def test_what_is_no_news(one: Section, other: Section) -> None:
    """What changes by itself or by the session's own doing is no new fact."""
    assert digest_facts(brief(one)) == digest_facts(brief(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (peers(), peers(peer())),
        (peers(peer()), peers(peer(task="mend the login"))),
        (peers(peer()), peers(peer(scope=("src",)))),
        (queue(), queue(disposition="conflicts")),
        (derive("free"), derive("held", pid=7, checkout="/r", command="make")),
        (alerts(), alerts(title="take it")),
        (alerts(), alerts(countdown="⚠️ EXPIRES TODAY")),
        (section("peers"), section("peers", Status.UNREAD)),
        (section("mesh", data=MeshData(links=(), journal={})), section("mesh", data=MeshData(links=({},), journal={}))),
        (section("state"), section("state", rows=rows("KODA-12 is fixed", level=Level.HIGH))),
    ],
)
def test_what_is_news(one: Section, other: Section) -> None:
    """Another session, its task or claim, a branch, a lock, a notice, or a section that is read no more is one."""
    assert digest_facts(brief(one)) != digest_facts(brief(other))


def test_notes_are_no_facts() -> None:
    """What the tool says of itself wakes nobody."""
    assert digest_facts(brief(notes=("schedule: 1 run made up, 2 skipped",))) == digest_facts(brief())
