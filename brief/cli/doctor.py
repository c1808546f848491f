"""`doctor`: checks everything that the briefs of this repository depend on."""

from __future__ import annotations

import argparse

from brief.cli.checkout_argument import locate_checkout
from brief.cli.output import print_text
from brief.core.model.errors import ANSWERED, FAILED, RepositoryError
from brief.core.model.health import diagnosis_text
from brief.core.text.json_document import json_document
from brief.doctor.examine import examine
from brief.fastpath.locate import Located
from brief.support.wall_clock import utc_now


def show_diagnosis(args: argparse.Namespace) -> int:
    """Print the diagnosis and exit 1 if anything is broken."""
    here, absence = _place(args)
    diagnosis = examine(here, absence, utc_now())
    as_json = args.format == "json"
    print_text(json_document(diagnosis).decode() + "\n" if as_json else diagnosis_text(diagnosis))
    return FAILED if diagnosis.failed else ANSWERED


def _place(args: argparse.Namespace) -> tuple[Located | None, str]:
    try:
        return locate_checkout(args), ""
    except RepositoryError as fault:
        return None, fault.sentence
