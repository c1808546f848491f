"""A digest of the facts in a brief that a session may have to act on. It is equal if none of these has changed.

It leaves out what changes by itself or by the session's own doing: times, ages, how far a branch is ahead or behind,
whether a peer is busy, and the session's own task.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from brief.core.model.brief import Brief
from brief.core.model.level import Level
from brief.core.model.section_data import AlertsData, DeriveData, IntegrationData, MeshData, PeersData


def digest_facts(brief: Brief) -> str:
    """The digest of a brief's facts."""
    known = [[section.name, section.status, _facts_of(section.data)] for section in brief.sections]
    owed = [
        row.text for section in brief.sections if section.name == "state" for row in section.rows if _is_owed(row.level)
    ]
    text = json.dumps([known, owed], ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _is_owed(level: Level) -> bool:
    return level is not Level.NORMAL


def _facts_of(data: Any) -> Any:
    match data:
        case PeersData(boards=boards, peers=peers):
            known = [[one.episode, one.task, one.branch, one.checkout, one.scope] for one in peers]
            return [sorted([one.kind, one.name, one.condition] for one in boards), sorted(known, key=str)]
        case IntegrationData(queue=queue, next=following):
            return [following, [[one.name, one.lane, one.disposition, one.conflicts_with] for one in queue]]
        case DeriveData(state=state, holder=holder):
            return [state, holder and [holder.get("pid"), holder.get("checkout")]]
        case AlertsData(shown=shown, acknowledged=acknowledged, unparsable=unparsable):
            every = (*shown, *acknowledged)
            notices = sorted([one.slug, one.kind, one.priority, one.title, str(one.countdown)] for one in every)
            return [notices, [one.file for one in unparsable]]
        case MeshData(links=links):
            return len(links)
    return None  # the session's own state, or a section that was not read
