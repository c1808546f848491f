from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from brief.support.package_data import ResourceError, mod_folder, policy_file, schema_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
POLICY = sorted(path.name for path in (ROOT / "policy").iterdir())


def run(*argv: str | Path) -> str:
    """What a program prints that must not fail, run in the checkout."""
    return subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout


STARTS = re.findall(r"-I -c '(.+)'", (ROOT / "bin/majordomus").read_text())[0]
"""The arguments that the script gives to Python."""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment, in an awkwardly named folder, with the built wheel installed."""
    folder = tmp_path_factory.mktemp("wheel") / "Žofie's own"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder / "dist")
    (wheel,) = (folder / "dist").iterdir()
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "--disable-pip-version-check"]
    run(*pip, "install", "--no-index", "--no-deps", wheel)
    return folder / "bin"


def test_checkout_has_policy_files() -> None:
    """In a checkout the policy files are those of its folder `policy`."""
    assert POLICY
    assert [policy_file(name) for name in POLICY] == [ROOT / "policy" / name for name in POLICY]


def test_checkout_has_the_schema_of_the_brief() -> None:
    """In a checkout the published schema is in the package."""
    assert schema_file("brief-v1.json") == ROOT / "brief/schema/brief-v1.json"


def test_missing_file_is_a_sentence() -> None:
    """A missing policy file is named with its path and what to do."""
    with pytest.raises(ResourceError, match=r"policy/nothing\.yaml is missing.*install") as raised:
        policy_file("nothing.yaml")
    assert raised.value.sentence == str(raised.value)


@pytest.mark.parametrize("name", POLICY)
def test_wheel_has_policy_files(installed: Path, name: str) -> None:
    """An installed wheel holds every policy file as the checkout has it."""
    program = "import sys; from brief.support.package_data import policy_file; print(policy_file(sys.argv[1]))"
    found = Path(run(installed / "python", "-I", "-c", program, name).rstrip("\n"))
    assert found.is_relative_to(installed.parent)
    assert found.read_bytes() == (ROOT / "policy" / name).read_bytes()


def test_wheel_has_the_schema_of_the_brief(installed: Path) -> None:
    """An installed wheel holds the published schema as the checkout has it."""
    program = "from brief.support.package_data import schema_file; print(schema_file('brief-v1.json'))"
    found = Path(run(installed / "python", "-I", "-c", program).rstrip("\n"))
    assert found.is_relative_to(installed.parent)
    assert found.read_bytes() == (ROOT / "brief/schema/brief-v1.json").read_bytes()


def test_command_starts_lean(installed: Path) -> None:
    """Nothing between Python and the fast path imports `re`."""
    done = subprocess.run(
        [installed / "python", "-I", "-X", "importtime", "-c", STARTS, "majordomus", "statusline"],
        input=b"",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    modules = [line.rpartition(b"|")[2].strip() for line in done.stderr.splitlines()]
    assert b"re" not in modules[: modules.index(b"brief.fastpath.main")]


def test_checkout_has_the_mods() -> None:
    """In a checkout a mod is the folder of that name below `mods`."""
    assert mod_folder("claude-code/majordomus-brief") == ROOT / "mods/claude-code/majordomus-brief"


def test_missing_mod_is_a_sentence() -> None:
    """A missing mod is named with its path and what to do."""
    with pytest.raises(ResourceError, match=r"mods/claude-code/nothing/hooks/hooks\.json is missing.*install"):
        mod_folder("claude-code/nothing")


def test_wheel_has_the_mods(installed: Path) -> None:
    """An installed wheel holds every file of a mod as the checkout has it."""
    program = "from brief.support.package_data import mod_folder; print(mod_folder('claude-code/majordomus-brief'))"
    found = Path(run(installed / "python", "-I", "-c", program).rstrip("\n"))
    assert found.is_relative_to(installed.parent)
    tracked = run("git", "ls-files", "mods/claude-code/majordomus-brief").split()
    assert tracked
    for name in tracked:
        inside = Path(name).relative_to("mods/claude-code/majordomus-brief")
        assert (found / inside).read_bytes() == (ROOT / name).read_bytes()
