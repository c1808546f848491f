"""Archive notices that have expired. Composing a brief never does this, since reading changes nothing."""

from __future__ import annotations

from brief.core.notices.notice import Notice
from brief.core.notices.visibility import Expired, Shown, decide_visibility
from brief.notices.archiving import archive
from brief.notices.bringing_back import bring_back
from brief.sections.alerts import NoticeVisibility, lock_owners
from brief.sections.context import SectionQuery
from brief.sections.notice_folders import notice_folders
from brief.service import RepositoryService
from brief.support.zone import find_zone_in_force


def bring_back_early(service: RepositoryService, query: SectionQuery) -> None:
    """Restore notices that a clock archived while it was ahead, if they would be shown at the present time."""
    now, days, owner = service.now(), find_zone_in_force(query.settings)[0], lock_owners(service.context)
    folders = notice_folders(service.context.state_dir, query)

    def is_shown(notice: Notice) -> bool:
        return isinstance(decide_visibility(notice, now, days, owner(notice)), Shown)

    for folder in folders:
        bring_back(folder, now, is_shown, folders, even_tracked=query.settings.alerts.archive_tracked)


def archive_expired(service: RepositoryService, query: SectionQuery, found: NoticeVisibility) -> None:
    """Archive the expired notices that are still expired. One that cannot be moved is tried again next time.

    A wall clock that has jumped ahead archives nothing until the next pass confirms it.
    """
    if not found.expired:
        return
    slugs = frozenset(each.notice.slug for each in found.expired)
    days = find_zone_in_force(query.settings)[0]
    owner = lock_owners(service.context)

    def is_over(notice: Notice) -> bool:
        return isinstance(decide_visibility(notice, service.clock.earliest(), days, owner(notice)), Expired)

    for folder in notice_folders(service.context.state_dir, query):
        archive(folder, slugs, is_over, even_tracked=query.settings.alerts.archive_tracked)
