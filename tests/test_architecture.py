"""What ARCHITECTURE.md names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
_ROW = re.compile(r"^\| (.+?) \| `([\w/]+\.py)` \| `(\w+)` \|$", re.MULTILINE)

DESIGN_TERMS = (
    *(
        "session",
        "episode",
        "task",
        "handed task",
        "checkout",
        "repository",
        "clone",
        "server",
        "lease",
        "board",
        "peer",
    ),
    *("condition", "section", "status", "notice", "note", "wake", "heartbeat", "channel", "liveness", "epoch"),
)


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


def glossary() -> list[tuple[str, list[str], list[str]]]:
    """Term, places and public types of each entry of the glossary."""
    table = PAGE[PAGE.index("## Glossary") :].partition("\n## ")[0]
    rows = re.findall(r"^\| (\*\*.+?) \| .+? \| ?(.*?) ?\|$", table, re.MULTILINE)
    return [
        (term, re.findall(r"`([\w/]+(?:\.py|/))`", places), re.findall(r"`([A-Z]\w+)`", places))
        for term, places in rows
    ]


def names_in(module: Path) -> set[str]:
    """The names of the types and constants that a module defines."""
    body = ast.parse(module.read_text()).body
    classes = {node.name for node in body if isinstance(node, ast.ClassDef)}
    assigned = {
        target.id
        for node in body
        for target in (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if isinstance(target, ast.Name)
    }
    return classes | assigned


def test_glossary_names_what_exists() -> None:
    """Every module, package and type that an entry of the glossary names exists, the type in a module of the entry."""
    for term, places, types in glossary():
        paths = [ROOT / "brief" / place for place in places]
        assert [path for path in paths if not path.exists()] == [], term
        modules = [module for path in paths for module in (path.rglob("*.py") if path.is_dir() else [path])]
        defined = {name for module in modules for name in names_in(module)}
        assert set(types) <= defined, term


def test_every_module_belongs_to_a_term() -> None:
    """Every module of brief is named in the glossary, or lies in a package that is."""
    named = {place for _, places, _ in glossary() for place in places}
    modules = [path.relative_to(ROOT / "brief") for path in (ROOT / "brief").rglob("*.py")]
    unnamed = [
        str(module)
        for module in modules
        if not module.name.startswith("__") and not named & {str(module), *(f"{parent}/" for parent in module.parents)}
    ]
    assert unnamed == []


def test_glossary_has_the_terms_of_the_design() -> None:
    """Every term on which the design rests has an entry, each term once."""
    terms = [name for term, _, _ in glossary() for name in re.findall(r"\*\*(.+?)\*\*", term)]
    assert len(terms) == len(set(terms))
    text = PAGE[PAGE.index("## Glossary") :].partition("\n## ")[0]
    missing = [name for name in DESIGN_TERMS if f"**{name}**" not in text]
    assert missing == []
