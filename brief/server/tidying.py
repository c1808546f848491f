"""What a server puts away now and then: notices whose time is over, and what sessions saw that are long gone."""

from __future__ import annotations

import logging

from brief.answering.archiving import archive_expired
from brief.core.errors import MajordomusError
from brief.desk import Desk
from brief.notices.seen import prune_seen
from brief.owners.alerts import judged

EVERY_SECONDS = 3_600.0

log = logging.getLogger(__name__)


def tidy(desk: Desk) -> None:
    """Put away what is over, for every checkout by its own policy; one that cannot be looked at costs no other."""
    prune_seen(desk.world.state_dir, desk.now())
    for checkout in desk.world.worktrees():
        if checkout.bare or checkout.gone:
            continue
        try:
            ask = desk.look(checkout.root).ask
            archive_expired(desk, ask, judged(desk.world, ask))
        except MajordomusError as fault:
            log.warning("not tidied", extra={"root": checkout.root, "reason": str(fault)})
