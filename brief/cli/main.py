"""The entry point behind the fast path: parses the arguments, loads the named command, and reports errors."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from brief.cli.output import print_error, print_text
from brief.cli.parser import build_parser, parser_for
from brief.core.model.errors import USAGE, MajordomusError
from brief.fastpath.output import OutputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence


def main(words: Sequence[str]) -> int:
    """Run the command given by `words`; an error prints a sentence to standard error and sets the exit code."""
    if not words:  # nobody knows yet what there is
        print_text(build_parser().format_help())
        return USAGE
    try:
        args = parser_for(words).parse_args(words)
        return find_action(args.run)(args)
    except SystemExit as end:  # argparse ends by itself after help and after a mistake
        return int(end.code or 0)
    except MajordomusError as fault:
        return print_error(fault)
    except OutputError:
        raise
    except Exception as fault:  # noqa: BLE001 - a person gets a sentence, whatever happened
        return print_error(_as_unexpected(fault))


def find_action(name: str) -> Callable[[argparse.Namespace], int]:
    """Import and return a command's function by its name, `module.function` in this package."""
    module, _, function = name.partition(".")
    action: Callable[[argparse.Namespace], int] = getattr(import_module(f"brief.cli.{module}"), function)
    return action


def _as_unexpected(fault: Exception) -> MajordomusError:
    from brief.core.text.sanitize import clean  # noqa: PLC0415 - most commands end without a fault

    return MajordomusError(f"unexpected {type(fault).__name__}: {clean(str(fault), 400)}; please report it")
