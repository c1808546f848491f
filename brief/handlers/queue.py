"""Refresh the queue of branches."""

from __future__ import annotations

from brief.core.model.brief import Section
from brief.core.model.errors import ConflictError
from brief.git.branches import base_branch
from brief.handlers.inputs import Inputs
from brief.integration.survey import observe
from brief.policy import refuse_unread
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread


class RefreshInputs(Inputs, frozen=True):
    """The checkout whose policy names the base branch."""


async def refresh_queue(service: RepositoryService, inputs: RefreshInputs) -> Section:
    """Observe every branch, store the observation, and return the section that is made of it."""

    def work() -> None:
        request = service.request_context(inputs.root)
        refuse_unread(request.policy)
        settings = request.query.settings.integration
        if settings.provider not in ("auto", "git"):
            raise ConflictError(
                f"integration.provider is {settings.provider}, so there are no local branches to observe"
            )
        base = base_branch(service.common_dir, settings.base)
        observe(service.common_dir, base, service.now()).write(f"{service.context.state_dir}/observation.json")

    await in_thread(work)
    return await service.section("integration", inputs.root, None)
