"""What ARCHITECTURE.md names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
_ROW = re.compile(r"^\| (.+?) \| `([\w/]+\.py)` \| `(\w+)` \|$", re.MULTILINE)


def rules() -> list[tuple[str, str, str]]:
    """Question, module and name of each row."""
    return _ROW.findall(PAGE[PAGE.index("## Where is the rule for") :])


def test_rules_are_where_the_table_says() -> None:
    """Every module of the table of rules exists, and defines what the row names."""
    for question, module, name in rules():
        tree = ast.parse((ROOT / "brief" / module).read_text())
        defined = {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        assert name in defined, f"{question}: {module} defines no {name}"


def test_table_of_rules_is_long_enough() -> None:
    """The table answers at least forty questions, each once."""
    questions = [question for question, _, _ in rules()]
    assert len(questions) == len(set(questions)) >= 40


def test_named_modules_exist() -> None:
    """Every module that the page names by its path exists."""
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE))
    missing = {name for name in named if not any((ROOT / base / name).exists() for base in ("brief", "."))}
    assert not missing
