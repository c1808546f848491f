"""Every reader of a file, a process or a socket has three answers, and each of the three is tried.

A reader is a function whose return annotation is `Reading[...]`. `readers_AREA.py` beside this file registers each
with three ways to arrange its source. A reader that nobody registered fails the first test.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.known import ABSENT, Absent, Known, Unknown
from reader_case import ReaderCase

PACKAGE = Path(__file__).resolve().parents[1] / "brief"


CASES: dict[str, ReaderCase] = {
    name: case
    for path in sorted(Path(__file__).parent.glob("readers_*.py"))
    for name, case in importlib.import_module(path.stem).CASES.items()
}
"""By `module.function` or `module.Class.method`, without the leading `brief.`."""


def declared_readers() -> list[str]:
    """The names of all functions of the package whose return annotation begins with `Reading[`."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for owner in ast.walk(ast.parse(path.read_text())):
            prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
            if isinstance(owner, ast.Module | ast.ClassDef):
                found += [
                    f"{module}.{prefix}{one.name}"
                    for one in owner.body
                    if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
                    and one.returns is not None
                    and ast.unparse(one.returns).startswith("Reading[")
                ]
    return found


def test_every_reader_is_registered() -> None:
    """A function that returns a `Reading` has its three cases here, and no case is left of one that is gone."""
    assert sorted(CASES) == sorted(declared_readers())


def test_registered_modules_can_be_imported() -> None:
    """Each name leads to a function."""
    for name in CASES:
        steps = name.split(".")
        module = next(".".join(steps[:count]) for count in range(len(steps) - 1, 0, -1) if _is_module(steps[:count]))
        target: Any = importlib.import_module(f"brief.{module}")
        for step in steps[len(module.split(".")) :]:
            target = getattr(target, step)
        assert callable(target), name


@pytest.mark.parametrize("name", sorted(CASES))
def test_three_answers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that is present is known, one that is absent is absent, and one that cannot be read is unknown."""
    case = CASES[name]
    for kind, call, answer in (
        ("present", case.present, Known),
        ("absent", case.absent, Absent),
        ("unreadable", case.unreadable, Unknown),
    ):
        folder = tmp_path / kind
        folder.mkdir()
        with monkeypatch.context() as patch:
            found = call(folder, patch)
        assert isinstance(found, answer), f"{name}, {kind}: {found!r}"


def test_the_three_answers_are_told_apart() -> None:
    """Equal answers are equal, and no two kinds are."""
    assert Known(None) == Known(None)
    assert Known(0) != Known(1)
    assert Known(None) != ABSENT != Unknown("")
    assert Unknown("a") == Unknown("a") != Unknown("b")
    assert {Known(1), Known(1), Unknown("a"), Unknown("a"), ABSENT} == {Known(1), Unknown("a"), ABSENT}


def _is_module(steps: list[str]) -> bool:
    path = PACKAGE.joinpath(*steps)
    return path.is_dir() or path.with_suffix(".py").is_file()
