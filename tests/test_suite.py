"""How a run of the suite begins and ends, tried by runs of small suites of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
CASES = {
    "passes": "def test_it() -> None: ...\n",
    "fails": "def test_it() -> None: assert False\n",
    "errs": "import pytest\n@pytest.fixture\ndef broken() -> None: raise OSError\ndef test_it(broken: None) -> None: ...\n",
    "skips": "import pytest\ndef test_it() -> None: pytest.skip('no tmux')\n",
    "breaks": "raise OSError('not collected')\n",
    "crashes": "import os\ndef test_it() -> None: os._exit(3)\n",
    "interrupts": (
        "import signal, subprocess, sys\n"
        "def test_it() -> None:\n"
        "    code = 'import os, signal; os.kill(os.getpid(), signal.SIGINT)'\n"
        "    assert subprocess.run([sys.executable, '-c', code], capture_output=True).returncode == -signal.SIGINT\n"
    ),
    "root": "import pytest\n@pytest.mark.skipif(True, reason='needs root, to give a file away')\ndef test_it() -> None: ...\n",
}


def ran(
    folder: Path, *cases: str, words: tuple[str, ...] = (), no_skips: str = "0", before: str = ""
) -> tuple[int, str]:
    """How a run of those cases ended, after a line of shell: its exit code and all that it printed."""
    shutil.copy(ROOT / "tests/conftest.py", folder)
    for case in cases:
        (folder / f"test_{case}.py").write_text(CASES[case])
    done = subprocess.run(
        ["sh", "-c", f'{before}\nexec "$@"', "sh", sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**os.environ, "MAJORDOMUS_NO_SKIPS": no_skips, "PYTHONPATH": f"{ROOT}/tests:."},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def last_line(printed: str) -> str:
    """The last line, which must end like one."""
    assert printed.endswith("\n")
    return printed.splitlines()[-1]


TWO = ("-n2", "--dist=loadfile", "--max-worker-restart=0")


@pytest.mark.parametrize(
    ("cases", "words", "no_skips", "code", "line"),
    [
        (("passes",), (), "1", 0, "1 passed, 0 failed"),
        (("passes", "fails", "errs", "skips"), (), "0", 1, "1 passed, 2 failed, 1 skipped"),
        (("passes", "fails", "errs", "skips"), TWO, "1", 1, "1 passed, 3 failed"),
        (("passes", "breaks"), ("--continue-on-collection-errors",), "0", 1, "1 passed, 1 failed"),
        ((), (), "1", 5, "0 passed, 0 failed"),
        ((), TWO, "1", 5, "0 passed, 0 failed"),
    ],
)
def test_last_line(
    tmp_path: Path, cases: tuple[str, ...], words: tuple[str, ...], no_skips: str, code: int, line: str
) -> None:
    """A run ends with its counts on a line of their own, and with a non-zero exit code if a test failed or none ran."""
    ended, printed = ran(tmp_path, *cases, words=words, no_skips=no_skips)
    assert (ended, last_line(printed)) == (code, line), printed


def test_file_that_cannot_be_collected(tmp_path: Path) -> None:
    """A file that no process can collect is a failure, however many of them say so."""
    ended, printed = ran(tmp_path, "passes", "breaks", words=TWO)
    assert (ended, last_line(printed).endswith(" 0 failed")) == (1, False), printed


def test_process_that_crashes(tmp_path: Path) -> None:
    """A test that takes its process with it has failed, and the tests of the others have run."""
    ended, printed = ran(tmp_path, "passes", "crashes", words=TWO)
    assert (ended, last_line(printed)) == (1, "1 passed, 1 failed"), printed


@pytest.mark.parametrize("words", [(), TWO], ids=["one process", "two"])
def test_signals_that_are_ignored(tmp_path: Path, words: tuple[str, ...]) -> None:
    """If a run is started in the background, which ignores interrupts, the processes of a test still receive them."""
    ended, printed = ran(tmp_path, "interrupts", words=words, before='trap "" INT QUIT HUP')
    assert (ended, last_line(printed)) == (0, "1 passed, 0 failed"), printed


@pytest.mark.parametrize(
    ("uid", "code", "line"), [(1_000, 0, "1 passed, 0 failed, 1 skipped"), (0, 1, "1 passed, 1 failed")]
)
def test_what_needs_root_may_be_skipped_by_others(tmp_path: Path, uid: int, code: int, line: str) -> None:
    """If every test must run, a test that needs root is skipped for others with the reason, and fails for root."""
    (tmp_path / "somebody.py").write_text(f"import os\nos.geteuid = lambda: {uid}\n")
    ended, printed = ran(tmp_path, "passes", "root", words=("-ra", "-p", "somebody"), no_skips="1")
    assert (ended, last_line(printed)) == (code, line), printed
    assert "needs root, to give a file away" in printed
