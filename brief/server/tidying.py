"""What a server puts away now and then: notices whose time is over, and what sessions saw that are long gone."""

from __future__ import annotations

import logging

from brief.answering.archiving import archive_expired
from brief.core.errors import MajordomusError
from brief.core.settings import Settings
from brief.desk import Desk
from brief.notices.seen import prune_seen
from brief.owners.alerts import judged, notice_folders

EVERY_SECONDS = 3_600.0

log = logging.getLogger(__name__)


def tidy(desk: Desk) -> None:
    """Put away what is over, for every checkout by its own policy; one that cannot be looked at costs no other.

    Checkouts that have their folders and settings in common are tidied once.
    """
    prune_seen(desk.world.state_dir, desk.now())
    tidied: set[tuple[tuple[str, ...], Settings]] = set()
    for checkout in desk.world.worktrees():
        if checkout.bare or checkout.gone:
            continue
        try:
            ask = desk.look(checkout.root).ask
            what = (notice_folders(desk.world.state_dir, ask), ask.settings)
            if what in tidied:
                continue
            tidied.add(what)
            archive_expired(desk, ask, judged(desk.world, ask))
        except MajordomusError as fault:
            log.warning("not tidied", extra={"root": checkout.root, "reason": str(fault)})
