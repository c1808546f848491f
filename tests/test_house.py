"""The house rules: what the tools of the project hold, and what they cannot see."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHELL_SCRIPTS = [
    path
    for path in [*sorted((ROOT / "bin").iterdir()), *sorted((ROOT / "scripts").iterdir()), ROOT / ".ci/run"]
    if path.is_file() and path.read_bytes().splitlines()[0].endswith(b"sh")
]


def ours(*patterns: str) -> list[Path]:
    """The files of the checkout that git tracks or would track, of those names."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / os.fsdecode(name) for name in listed.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def run(*argv: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A program of the environment that the tests run in, its two outputs as one text."""
    program = Path(sys.executable).with_name(str(argv[0]))
    return subprocess.run(
        [program, *argv[1:]],
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


UNRUN = {
    "skip": "import pytest\ndef test_it() -> None:\n    pytest.skip('no tmux')\n",
    "mark": "import pytest\n@pytest.mark.skip(reason='no tmux')\ndef test_it() -> None: ...\n",
    "xfail": "import pytest\n@pytest.mark.xfail(reason='no tmux')\ndef test_it() -> None: assert False\n",
    "module": "import pytest\npytest.skip('no tmux', allow_module_level=True)\n",
}


def test_unrun_test_fails(tmp_path: Path) -> None:
    """A test that is skipped or expected to fail fails the run under MAJORDOMUS_NO_SKIPS=1, with its reason."""
    done = run_cases(tmp_path, [*UNRUN], no_skips="1")
    assert done.returncode != 0, done.stdout
    assert done.stdout.endswith(f"\n1 passed, {len(UNRUN)} failed\n")
    for case in UNRUN:
        assert re.search(rf"(FAILED|ERROR) test_{case}\.py", done.stdout), case
    reasons = re.findall(r"(?m)^skipped, where every test must run: .*no tmux", done.stdout)
    assert len(reasons) == len(UNRUN), done.stdout


def test_unrun_test_is_only_told(tmp_path: Path) -> None:
    """Without MAJORDOMUS_NO_SKIPS=1 a person's run passes over what their machine cannot run."""
    done = run_cases(tmp_path, [*UNRUN], no_skips="0")
    assert done.returncode == 0, done.stdout


def run_cases(folder: Path, cases: list[str], *, no_skips: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on those cases and a test that passes, with the conftest of the project and the plugins it names."""
    shutil.copy(ROOT / "tests/conftest.py", folder)
    for case in cases:
        (folder / f"test_{case}.py").write_text(UNRUN[case])
    (folder / "test_other.py").write_text("def test_that_runs() -> None: ...\n")
    return run(
        "pytest",
        "--continue-on-collection-errors",
        cwd=folder,
        MAJORDOMUS_NO_SKIPS=no_skips,
        PYTHONPATH=str(ROOT / "tests"),
    )


def test_layers_are_kept() -> None:
    """Every import of the package goes down the layers, and every module stands in one."""
    linted = run("lint-imports", cwd=ROOT)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize(
    ("module", "text", "contract"),
    [
        ("core/upward.py", "import brief.support.package_data", "layers"),
        ("core/serving.py", "import fastapi", "core"),
        ("core/running.py", "import subprocess", "core"),
        ("fastpath/upward.py", "import brief.core.model.errors", "layers"),
        ("fastpath/heavy.py", "import pydantic", "fastpath"),
        ("stray.py", "", "layers"),
        ("handlers/other.py", "import brief.reminder_import.migration", "reminder_import"),
    ],
)
def test_broken_layer_is_found(module: str, text: str, contract: str, tmp_path: Path) -> None:
    """A module that imports what is above it, or stands in no layer, breaks its contract."""
    shutil.copytree(ROOT / "brief", tmp_path / "brief", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "brief" / module).write_text(f"{text}\n")
    linted = run("lint-imports", "--contract", contract, "--no-cache", cwd=tmp_path)
    assert linted.returncode != 0, linted.stdout
    assert "0 kept, 1 broken" in linted.stdout


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("core", {"brief", "msgspec", "wcwidth", "yaml"}),
        ("fastpath", {"brief", "_sha2"}),  # of the standard library since Python 3.12
    ],
)
def test_imports_from_outside(package: str, allowed: set[str]) -> None:
    """The core imports nothing beyond its three libraries, and the fast path nothing beyond the standard one."""
    for path in ours(f"brief/{package}/*.py"):
        foreign = set(imported(path)) - sys.stdlib_module_names - allowed
        assert not foreign, path


def imported(path: Path) -> Iterator[str]:
    """The first name of everything that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_ignored_rules_have_reasons() -> None:
    """Every rule that ruff is told to ignore has its reason beside it."""
    text = (ROOT / "pyproject.toml").read_text()
    settings = tomllib.loads(text)["tool"]["ruff"]["lint"]
    per_file = [rule for rules in settings["per-file-ignores"].values() for rule in rules]
    with_reason = re.findall(r'^    "([A-Z]+\d*)", +# \w.*$', text, re.MULTILINE)
    assert sorted(with_reason) == sorted(settings["ignore"] + per_file)


def test_ignored_lines_have_reasons() -> None:
    """Every line that ruff, mypy or coverage is told to pass over says why after the rule."""
    bare = re.compile(r"# (noqa|type: ignore|pragma: no cover)(: ?[A-Z]+\d+(, ?[A-Z]+\d+)*|\[[\w, -]+\])?\s*$")
    for path in ours("*.py"):
        lines = enumerate(path.read_text().splitlines(), start=1)
        assert not [number for number, line in lines if bare.search(line)], path


def test_every_test_promises() -> None:
    """Every test has a docstring of one line, which is its promise."""
    for path in ours("tests/test_*.py", "tests/**/test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                promise = ast.get_docstring(node) or ""
                assert promise, f"{path}: {node.name}"
                assert "\n" not in promise, f"{path}: {node.name}"


def test_modules_are_short() -> None:
    """No module is over 400 lines: one idea a module."""
    long = {path: count for path in ours("brief/*.py") if (count := len(path.read_text().splitlines())) > 400}
    assert not long


@pytest.mark.parametrize("script", SHELL_SCRIPTS, ids=lambda path: path.name)
def test_shell_scripts(script: Path) -> None:
    """Every shell script parses, starts by its name, and has nothing that shellcheck would say."""
    shell = script.read_text().splitlines()[0].rpartition("/")[2].split()[-1]
    parsed = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (parsed.returncode, parsed.stderr) == (0, "")
    assert os.access(script, os.X_OK)
    checked = run("shellcheck", script, cwd=ROOT)
    assert checked.returncode == 0, checked.stdout


# Each is spelled with a class of one letter, so that this list is not found by itself.
FOREIGN = {
    "the host of a package registry": r"\bpyp[i]\.org|pythonhoste[d]\.org|npmj[s]\.|deb\.debia[n]\.org",
    "a path of the machine it was written on": r"(?<![\w.])/wor[k]/\w|/roo[t]/\w|/tm[p]/w\b",
    "an issue that readers cannot see": r"\b[iI]ssu[e] [A-Z]\b",
    "work left undone": r"\bTOD[O]\b|\bFIXM[E]\b|\bXX[X]\b|\b[fF]or no[w]\b|\b[sS]implifie[d]\b",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_project_speaks_of_itself(kind: str) -> None:
    """No file of the project names a registry, the machine or the tracker it was made with, or work left undone."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in ours()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if re.search(FOREIGN[kind], line)
    ]
    assert not found, kind
