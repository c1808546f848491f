"""A list of reminders taken over as notices for the owner."""

from __future__ import annotations

import os
from typing import Annotated

from msgspec import Meta

from brief.core.model.wire import Wire
from brief.core.notices.days import local_day
from brief.core.text.sanitize import clean, to_wire
from brief.handlers.inputs import FileName, SessionInputs
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.zone import find_zone_in_force


class MigrateInputs(SessionInputs, frozen=True, kw_only=True):
    """The list of reminders to take over."""

    file: Annotated[FileName, Meta(max_length=4_000, description="path of a list of reminders in Markdown")]


class Imported(Wire, frozen=True):
    """What was taken over from a list: the new notices, those that were there, and the lines that were not read."""

    source: str
    added: tuple[str, ...]
    left: tuple[str, ...]
    done: int
    unread: tuple[str, ...]


async def migrate_reminders(service: RepositoryService, inputs: MigrateInputs) -> Imported:
    """Take a reminders list over as notices for the owner; what was taken over before is left."""
    from brief.reminder_import.migration import migrate  # noqa: PLC0415 - slow to load, and asked for once, if ever

    def work() -> Imported:
        request = service.request_context(inputs.root, inputs.session)
        days, _, _ = find_zone_in_force(request.query.settings)
        path = os.path.join(request.here.root, inputs.file)
        source = os.path.relpath(path, request.here.root)
        now = service.now()
        taken = migrate(request.notice_folders[0], path, to_wire(source), now, local_day(now, days))
        return Imported(
            source=to_wire(source),
            added=tuple(made.notice.slug for made in taken.added),
            left=taken.left,
            done=taken.done,
            unread=tuple(f"line {line.line}: {line.text}: {line.why}" for line in taken.unread),
        )

    return await in_thread(work)


def import_text(answer: Imported) -> str:
    """What was taken over and what was not, and how to retire the list once nothing is left in it."""
    source = clean(answer.source, 400)
    counts = f"{len(answer.added)} added, {len(answer.left)} there before, {answer.done} ticked off"
    lines = [f"from {source}: {counts}, {len(answer.unread)} not read"]
    lines += [f"added: {clean(slug)}" for slug in answer.added]
    lines += [f"not read: {clean(line, 400)}" for line in answer.unread]
    if answer.unread:
        lines.append(f"Keep {source}: write anew what was not read, and run this again.")
    else:
        lines.append(f"To retire the list: remove {source}, and name majordomus reminders wherever it was named.")
    return "\n".join(lines) + "\n"
