"""The queue of branches, looked at anew."""

from __future__ import annotations

from brief.answering.shape import Inputs
from brief.core.errors import ConflictError
from brief.core.model import Section
from brief.desk import Desk
from brief.git import base_branch
from brief.integration.survey import observe
from brief.threads import in_thread


class RefreshInputs(Inputs):
    """Which checkout's policy names the base."""


async def refresh_queue(desk: Desk, asked: RefreshInputs) -> Section:
    """Look at every branch, keep what was seen, and answer with the section that it makes."""

    def work() -> None:
        settings = desk.look(asked.root).ask.settings.integration
        if settings.provider not in ("auto", "git"):
            raise ConflictError(
                f"integration.provider is {settings.provider}, so there are no branches to look at here"
            )
        base = base_branch(desk.common_dir, settings.base)
        observe(desk.common_dir, base, desk.now()).write(f"{desk.world.state_dir}/observation.json")

    await in_thread(work)
    return await desk.section("integration", asked.root, None)
