"""What a server puts away now and then: notices whose time is over, and what sessions saw that are long gone."""

from __future__ import annotations

import logging

from brief.core.model.errors import MajordomusError
from brief.core.policy.settings import Settings
from brief.handlers.archiving import archive_expired, bring_back_early
from brief.handlers.fixes import tell_fixes
from brief.notices.read_receipts import prune_seen
from brief.sections.alerts import judged
from brief.sections.notice_folders import notice_folders
from brief.service import RepositoryService
from brief.support.leftovers import remove_leftovers

EVERY_SECONDS = 3_600.0

log = logging.getLogger(__name__)


def tidy(service: RepositoryService) -> None:
    """Put away what is over, for every checkout by its own policy; one that cannot be looked at costs no other.

    Checkouts that have their folders and settings in common are tidied once.
    """
    state_dir, now = service.context.state_dir, service.now()
    prune_seen(state_dir, now)
    for folder in (state_dir, f"{state_dir}/notices/active"):
        remove_leftovers(folder, now)
    tidied: set[tuple[tuple[str, ...], Settings]] = set()
    for checkout in service.context.worktrees():
        if checkout.bare or checkout.gone:
            continue
        try:
            query = service.request_context(checkout.root).query
            what = (notice_folders(service.context.state_dir, query), query.settings)
            if what in tidied:
                continue
            tidied.add(what)
            bring_back_early(service, query)
            archive_expired(service, query, judged(service.context, query))
            tell_fixes(service, query)
        except MajordomusError as fault:
            log.warning("not tidied", extra={"root": checkout.root, "reason": str(fault)})
    service.clock.believe()
