"""Notices whose time is over, moved out of the way; never by composing, which changes nothing."""

from __future__ import annotations

from brief.core.judge import Expired, judge
from brief.core.notice import Notice
from brief.desk import Desk
from brief.notices.archiving import archive
from brief.owners.alerts import Judged, lock_owners, notice_folders
from brief.owners.world import Ask
from brief.zone import zone


def archive_expired(desk: Desk, ask: Ask, found: Judged) -> None:
    """Archive what was judged to be over and still is; what cannot be moved is judged so again next time."""
    if not found.expired:
        return
    slugs = frozenset(each.notice.slug for each in found.expired)
    days = zone(ask.settings)[0]
    owner = lock_owners(desk.world)

    def is_over(notice: Notice) -> bool:
        return isinstance(judge(notice, desk.now(), days, owner(notice)), Expired)

    for folder in notice_folders(desk.world.state_dir, ask):
        archive(folder, slugs, is_over, even_tracked=ask.settings.alerts.archive_tracked)
