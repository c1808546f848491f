"""The argument parser of the whole command, and the sentences for its usage errors."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING

from brief.core.model.errors import USAGE
from brief.fastpath.arguments import MAY_BE_BLANK
from brief.fastpath.main import terminal_columns
from brief.fastpath.output import print_error_line, write_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn

    Commands = argparse._SubParsersAction["Parser"]  # noqa: SLF001 - argparse has no public name for it
    """The collection of subparsers to which commands are added."""

_LONGEST_QUOTE = 80
_SAME = {"start": "ensure", "end": "stop", "create": "add", "new": "add", "delete": "remove", "ls": "list"}
"""Words that people try for a command, and the one that means the same here. `start` would otherwise resemble `status`."""

_INVALID_CHOICE = re.compile(
    r"argument (?P<name>\S+): invalid choice: (?P<mark>['\"])(?P<word>.*)(?P=mark) \(choose from (?P<choices>.*)\)",
    re.DOTALL,
)


class HelpFormatter(argparse.HelpFormatter):
    """As wide as the terminal or COLUMNS. Left to itself, argparse would load shutil, which every command would pay."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{"width": _terminal_width() - 2, **options})


class RawHelpFormatter(HelpFormatter, argparse.RawDescriptionHelpFormatter):
    """The same, and descriptions keep their line breaks."""


class Parser(argparse.ArgumentParser):
    """Accepts no abbreviations, and reports a usage error in one sentence with the nearest known word."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": HelpFormatter, **options})

    def parse_known_args(  # type: ignore[override]  # argparse overloads it for namespaces of other types
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the arguments. An unknown one is reported by the subcommand it was given to, not by the whole program."""
        self._first = next(iter(sys.argv[1:] if args is None else args), "")
        read, left = super().parse_known_args(args, namespace)
        if left:
            word = left[0].partition("=")[0]
            self.error(
                _describe_unknown("option", word, self._options())
                if word.startswith("-")
                else f"unexpected argument {_quote(word)}"
            )
        for action in self._actions:
            if action.dest not in MAY_BE_BLANK and _is_blank(getattr(read, action.dest, None)):
                name = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
                way = "give a value" if action.required else "give a value, or leave it out"
                self.error(f"{name} is blank; {way}")
        return read, left

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - help is asked for, so it is an answer
        """Print the help in the same way as every answer; raises OutputError."""
        write_output(self.format_help().encode("utf-8", "backslashreplace"))

    def error(self, message: str) -> NoReturn:
        """Print the sentence and exit 2."""
        from brief.core.text.sanitize import clean, to_wire  # noqa: PLC0415 - only a mistake needs it

        sentence = self._describe_missing(message) or self._unknown_command(message) or _reword(message)
        see = " See" if sentence.endswith("?") else "; see"
        print_error_line(clean(to_wire(f"{sentence}{see} {self.prog} --help"), 2_000))
        self.exit(USAGE)

    def _describe_missing(self, message: str) -> str | None:
        """Return the sentence for a missing command name, which lists the commands; argparse's own sentence does not.

        If an unknown option stands in its place, the sentence is about that.
        """
        for action in self._actions:
            if message.endswith(f"arguments are required: {action.metavar}") and isinstance(action.choices, dict):
                word = self._first.partition("=")[0]
                if word.startswith("-") and word not in self._option_string_actions:
                    return _describe_unknown("option", word, self._options())
                return f"{action.metavar} is missing; choose from {', '.join(action.choices)}"
        return None

    def _options(self) -> list[str]:
        """The options by their long names."""
        return [action.option_strings[-1] for action in self._actions if action.option_strings]

    def _unknown_command(self, message: str) -> str | None:
        """Return the sentence for a command that does not exist, or None where the mistake is another."""
        found = _INVALID_CHOICE.match(message)
        for action in self._actions:
            if found is not None and found["name"] == action.metavar and isinstance(action.choices, dict):
                return _describe_unknown("command", found["word"], action.choices)
        return None


def _is_blank(value: object) -> bool:
    """Whether a given value, or one value of a list, is nothing but white space."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(one, str) and not one.strip() for one in values)


def _reword(message: str) -> str:
    """Return argparse's sentence, reworded and shortened where it would list every choice."""
    found = _INVALID_CHOICE.match(message)
    if found is not None:
        return _describe_unknown(
            "value", found["word"], re.findall(r"[\w-]+", found["choices"]), f" for {found['name']}"
        )
    missing = re.fullmatch(r"the following arguments are required: (.*)", message, re.DOTALL)
    if missing is not None:
        return f"{missing[1].replace(', ', ' and ')} {'are' if ', ' in missing[1] else 'is'} missing"
    message = re.sub(r"^argument (\S+): expected one argument$", r"\1 needs a value", message)
    return re.sub(r"^argument (\S+): invalid int value: (.*)", r"\1 takes a whole number, not \2", message)


def _describe_unknown(kind: str, word: str, known: Iterable[str], place: str = "") -> str:
    import difflib  # noqa: PLC0415 - only a mistake needs it

    names = {one.lstrip("-"): one for one in known}
    nearest = difflib.get_close_matches(_SAME.get(word, word.lstrip("-")), names, 1)
    choices = f"; choose from {', '.join(names.values())}" if names else ""
    hint = f"; did you mean {names[nearest[0]]}?" if nearest else choices
    return f"unknown {kind} {_quote(word)}{place}{hint}"


def _quote(word: str) -> str:
    from brief.core.text.sanitize import clean, to_wire  # noqa: PLC0415 - only a mistake needs it

    return repr(clean(to_wire(word), _LONGEST_QUOTE))


def _terminal_width() -> int:
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    return terminal_columns() or 80
