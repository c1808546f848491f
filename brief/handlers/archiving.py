"""Notices whose time is over, moved out of the way; never by composing, which changes nothing."""

from __future__ import annotations

from brief.core.notices.notice import Notice
from brief.core.notices.visibility import Expired, judge
from brief.notices.archiving import archive
from brief.sections.alerts import Judged, lock_owners, notice_folders
from brief.sections.context import SectionQuery
from brief.service import RepositoryService
from brief.support.zone import zone


def archive_expired(service: RepositoryService, query: SectionQuery, found: Judged) -> None:
    """Archive what was judged to be over and still is; what cannot be moved is judged so again next time."""
    if not found.expired:
        return
    slugs = frozenset(each.notice.slug for each in found.expired)
    days = zone(query.settings)[0]
    owner = lock_owners(service.context)

    def is_over(notice: Notice) -> bool:
        return isinstance(judge(notice, service.now(), days, owner(notice)), Expired)

    for folder in notice_folders(service.context.state_dir, query):
        archive(folder, slugs, is_over, even_tracked=query.settings.alerts.archive_tracked)
