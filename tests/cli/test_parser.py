from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from brief.cli.main import find_action
from brief.cli.parser import build_parser, parser_for
from brief.cli.words import Parser
from brief.install.mods import PROVIDERS, Scope


def commands(whole: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser of every command that can be run."""
    groups = [action.choices for action in whole._actions if isinstance(action, argparse._SubParsersAction)]
    for each in groups:
        for one in each.values():
            yield from commands(one)
    if not groups:
        yield whole


def test_every_command_has_an_action() -> None:
    """The name of each action leads to a function."""
    for one in commands(build_parser()):
        assert callable(find_action(one.get_default("run"))), one.prog


def test_clients_and_scopes_are_those_of_the_mods() -> None:
    """The words of `capture` are the names in the table of mods."""
    args = build_parser().parse_args(["capture", "install"])
    assert (args.provider, args.scope) == (*PROVIDERS, Scope.PROJECT)
    install = next(one for one in commands(build_parser()) if one.prog == "majordomus capture install")
    choices = {action.dest: action.choices for action in install._actions}
    assert choices["provider"] == tuple(PROVIDERS)
    assert choices["scope"] == tuple(Scope)


SUFFIXES: tuple[list[str], ...] = ([], ["--help"], ["--nonsense"], ["--format"], ["--format", "csv"], ["x", "y", "z"])


@pytest.mark.parametrize("suffix", SUFFIXES, ids=" ".join)
def test_one_command_alone_is_read_as_among_all(suffix: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Every command and group, with good and bad words after it: the same values, or the same sentence and exit code."""
    paths = [one.prog.split()[1:] for one in commands(build_parser())]
    groups = [[path[0]] for path in paths if len(path) == 2]
    for words in ([*path, *suffix] for path in (*paths, *groups, ["nonsense"], ["--version"], [])):
        assert _read(parser_for(words), words, capfd) == _read(build_parser(), words, capfd), words


def _read(whole: Parser, words: list[str], capfd: pytest.CaptureFixture[str]) -> object:
    try:
        return vars(whole.parse_args(words))
    except SystemExit as end:
        return end.code, capfd.readouterr()
