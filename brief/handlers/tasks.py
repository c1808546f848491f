"""Set and end the task of an episode, and its next action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from brief.core.model.wire import Wire
from brief.core.sessions.task import Task
from brief.core.text.sanitize import clean
from brief.handlers.inputs import SessionInputs, Words
from brief.sections.episode_meant import find_meant
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread


class SetInputs(SessionInputs, frozen=True, kw_only=True):
    """The new task of an episode."""

    title: Annotated[Words, Meta(description="the task, in a few words")]
    next: Annotated[str, Meta(description="the next action, in a few words")] | None = None
    scope: Annotated[tuple[str, ...], Meta(description="path that the task is about; may be repeated")] = ()


class NextInputs(SessionInputs, frozen=True, kw_only=True):
    """The next action of an episode."""

    action: Annotated[Words, Meta(description="the next action, in a few words")]


class DoneInputs(SessionInputs, frozen=True, kw_only=True):
    """The episode whose task is done."""


class OneTask(Wire, frozen=True):
    """A task after a command."""

    task: Task


async def set_task(service: RepositoryService, inputs: SetInputs) -> OneTask:
    """Give an episode a new task. The one before it ends."""
    return await _write_task(
        service,
        inputs,
        lambda meant: service.board.set_task(meant, inputs.title, inputs.scope, inputs.next, service.now()),
    )


async def set_next(service: RepositoryService, inputs: NextInputs) -> OneTask:
    """Set the next action of the task."""
    return await _write_task(service, inputs, lambda meant: service.board.set_next(meant, inputs.action, service.now()))


async def end_task(service: RepositoryService, inputs: DoneInputs) -> OneTask:
    """End the task."""
    return await _write_task(service, inputs, lambda meant: service.board.end_task(meant, service.now()))


async def _write_task(service: RepositoryService, inputs: SessionInputs, write: Callable[[str], Task]) -> OneTask:
    def work() -> OneTask:
        meant = find_meant(service.context, service.request_context(inputs.root, inputs.session).query)
        task = write(meant)
        service.board.hear(meant, service.now())
        return OneTask(task=task)

    return await in_thread(work)


def task_text(answer: OneTask) -> str:
    """The state of the task, in one line."""
    task = answer.task
    if task.done is not None:
        return f"done: {clean(task.title)}\n"
    following = f"; next: {clean(task.next_action, 500)}" if task.next_action else ""
    return f"episode {task.episode} works on: {clean(task.title)}{following}\n"
