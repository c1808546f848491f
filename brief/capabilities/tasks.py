"""The task of an episode: showing, setting and ending it."""

from __future__ import annotations

from brief.capabilities.capability import READ_IN_FULL, Capability, Http
from brief.core.model.brief import StateSection
from brief.handlers import sections, tasks

TASKS: tuple[Capability, ...] = (
    Capability(
        id="continuity.state",
        kind="query",
        title="Show the episode of this checkout and its task",
        input=sections.SectionInputs,
        output=StateSection,
        handler=sections.section_of("state"),
        text=sections.section_text,
        http=Http("GET", "/state"),
        cli=("task", "show"),
        strict=READ_IN_FULL,
    ),
    Capability(
        id="continuity.state.set",
        kind="command",
        title="Set the task of an episode",
        input=tasks.SetInputs,
        output=tasks.OneTask,
        handler=tasks.set_task,
        text=tasks.task_text,
        http=Http("POST", "/tasks"),
        cli=("task", "set"),
    ),
    Capability(
        id="continuity.state.next",
        kind="command",
        title="Set the next action of an episode's task",
        input=tasks.NextInputs,
        output=tasks.OneTask,
        handler=tasks.set_next,
        text=tasks.task_text,
        http=Http("POST", "/tasks/next"),
        cli=("task", "next"),
    ),
    Capability(
        id="continuity.state.done",
        kind="command",
        title="End the task of an episode",
        input=tasks.DoneInputs,
        output=tasks.OneTask,
        handler=tasks.end_task,
        text=tasks.task_text,
        http=Http("POST", "/tasks/done"),
        cli=("task", "done"),
    ),
)
