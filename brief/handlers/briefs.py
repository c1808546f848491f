"""The brief, in the requested form."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from brief.core.model.answers import Rendered
from brief.core.model.brief import SECTIONS, Brief
from brief.core.text.budget import fit_budget, narrow_to
from brief.core.text.json_document import json_document
from brief.core.text.line import compose_line
from brief.core.text.page import render_page
from brief.core.text.prompt import render_prompt
from brief.fastpath.lease import STOPPED
from brief.handlers.aside import run_aside
from brief.handlers.inputs import SessionInputs
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread

SectionName = Literal["state", "peers", "mesh", "integration", "derive", "alerts"]
Form = Literal["text", "json", "prompt", "line"]

_MEDIA = {"json": "application/json"}


class BriefInputs(SessionInputs, frozen=True, kw_only=True):
    """The checkout and session of the brief, and its form."""

    format: Annotated[
        Form,
        Meta(description="output format: text for a person, json, prompt for a model, or line for the one-line brief"),
    ] = "json"
    section: Annotated[
        tuple[SectionName, ...],
        Meta(max_length=len(SECTIONS), description="show this section only; may be repeated"),
    ] = ()
    budget: (
        Annotated[
            int, Meta(ge=1, le=1_000_000, description="leave out rows so that the brief fits into this many bytes")
        ]
        | None
    ) = None
    width: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=10_000,
                description="wrap lines between words, and cut the one-line brief, at this many columns",
            ),
        ]
        | None
    ) = None
    verbose: Annotated[
        bool, Meta(description="also show, as text, the process, epoch and version of the server that composed it")
    ] = False
    local: Annotated[bool, Meta(description="answer from this server alone and ask no other")] = False


async def brief_session(service: RepositoryService, inputs: BriefInputs) -> Rendered:
    """Compose a brief, or take it from the cache, and render it. Callers within the same second share the rendering."""
    await service.turns.settle(inputs.session)
    kept = await service.brief(inputs.root, inputs.session, local=inputs.local)
    form = (inputs.format, inputs.section, inputs.budget, inputs.width, inputs.verbose)
    body = kept.render(form, lambda: _render(kept.value, inputs))
    session = inputs.session
    if session is not None and inputs.format != "line" and service.context.sessions.follow_ups(session):
        shown = "\n".join(_row_texts(_choose_sections(kept.value, inputs)))
        async with service.turns.turn(session) as notes:
            notes.append(lambda: run_aside(in_thread(lambda: service.mark_delivered(session, shown))))
    media = _MEDIA.get(inputs.format, "text/plain; charset=utf-8")
    return Rendered(body=body, media_type=media, in_full=kept.value.fully_read)


def _render(brief: Brief, inputs: BriefInputs) -> bytes:
    if inputs.format == "line":
        return f"{_render_line(brief, inputs.width)}\n".encode("utf-8", "backslashreplace")
    return _render_form(_choose_sections(brief, inputs), inputs)


def _choose_sections(brief: Brief, inputs: BriefInputs) -> Brief:
    """The part of the brief that is shown: the chosen sections, within the budget."""
    chosen = narrow_to(_for_page(brief, inputs), inputs.section)
    return (
        chosen
        if inputs.budget is None
        else fit_budget(chosen, inputs.budget, lambda some: _render_form(some, inputs).decode())
    )


def _row_texts(brief: Brief) -> list[str]:
    return [row.text for section in brief.sections for row in section.rows]


def _for_page(brief: Brief, inputs: BriefInputs) -> Brief:
    """The brief with a line that fits the page. This comes first, since the line needs every section in full."""
    fits = inputs.format != "text" or inputs.width is None
    return brief if fits else brief.replace(line=_render_line(brief, inputs.width))


def _render_line(brief: Brief, columns: int | None) -> str:
    return compose_line(
        brief.sections,
        brief.generated_at,
        columns,
        head_unread=brief.repository.head_unread,
        is_stopped=brief.answered_by.reason == STOPPED,
    )


def _render_form(brief: Brief, inputs: BriefInputs) -> bytes:
    if inputs.format == "json":
        return json_document(brief)
    if inputs.format == "prompt":
        text = render_prompt(brief)
    else:
        text = render_page(brief, inputs.width, sections=inputs.section, verbose=inputs.verbose)
    return text.encode("utf-8", "backslashreplace")


def brief_text(rendered: Rendered) -> str:
    """The rendered text."""
    return rendered.body.decode()
