"""`doctor`: whether all that the briefs of this repository rest on is well."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from brief.cli.checkout_argument import add_root, located
from brief.cli.output import say
from brief.core.model.errors import ANSWERED, FAILED, RepositoryError
from brief.core.model.health import diagnosis_text
from brief.core.text.sanitize import printable_json
from brief.doctor.examine import examine
from brief.fastpath.locate import Located
from brief.server.holder import utc_now

if TYPE_CHECKING:
    from brief.cli.checkout_argument import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    title = (
        "Look at all that the briefs of this repository rest on, and say what to do; exit 1 where something is broken"
    )
    parser = commands.add_parser("doctor", help=title, description=title)
    add_root(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for a person, or JSON")
    parser.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace) -> int:
    here, absence = _place(args)
    diagnosis = examine(here, absence, utc_now())
    as_json = args.format == "json"
    say(printable_json(diagnosis.model_dump_json()) + "\n" if as_json else diagnosis_text(diagnosis))
    return FAILED if diagnosis.failed else ANSWERED


def _place(args: argparse.Namespace) -> tuple[Located | None, str]:
    try:
        return located(args), ""
    except RepositoryError as fault:
        return None, fault.sentence
