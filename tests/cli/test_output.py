from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from impostor import listening, socket_of, write_lease
from sandbox import Lab, until

CALLS = ["brief", "brief --line", "statusline", "policy schema", "--help", "brief --help", "peers list --format json"]


def shell(lab: Lab, script: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `mj` is the command."""
    return subprocess.run(
        ["bash", "-c", f'mj() {{ "$0" -m brief "$@"; }}; {script}', sys.executable],
        cwd=lab.repo,
        env=lab.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        check=False,
    )


@pytest.mark.parametrize("call", CALLS)
def test_reader_that_goes_away(served: Lab, call: str) -> None:
    """A reader that takes one byte and goes away loses only the rest of the answer: no complaint, no traceback."""
    done = shell(served, f"mj {call} | head -c 1; exit ${{PIPESTATUS[0]}}")
    assert done.stderr == ""
    assert len(done.stdout) == 1
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("call", CALLS)
def test_reader_that_is_gone(served: Lab, call: str) -> None:
    """A reader that had gone before is exit code 1, and nothing is said."""
    done = shell(
        served,
        f"mkfifo {served.base}/pipe; exec 3<>{served.base}/pipe; exec 4>{served.base}/pipe; exec 3<&-; rm {served.base}/pipe; mj {call} >&4",
    )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("call", CALLS)
def test_full_disk(served: Lab, call: str) -> None:
    """Output that cannot be written is an error in one sentence, exit code 1."""
    done = shell(served, f"mj {call} > /dev/full")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "majordomus: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("call", [*CALLS, "init"])
def test_closed_output(served: Lab, call: str) -> None:
    """With no standard output nothing is done, and that is said."""
    done = shell(served, f"mj {call} >&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr == "majordomus: standard output is closed, so nothing was done; open it, or send it to /dev/null\n"
    )
    assert not (served.repo / ".ai").exists()


def test_closed_standard_error(served: Lab) -> None:
    """With no standard error a fault is still its exit code."""
    assert shell(served, "mj breif 2>&-").returncode == 2
    assert shell(served, "mj brief --root /nowhere 2>&-").returncode == 2


@pytest.mark.parametrize("locale", ["LANG=C LC_ALL=C", "PYTHONIOENCODING=latin-1", "PYTHONIOENCODING=ascii:strict"])
def test_locale(served: Lab, locale: str) -> None:
    """Answers are UTF-8 whatever the locale, and a fault comes through any encoding."""
    for call in ("brief", "brief --format json", "--help"):
        done = shell(served, f"export {locale}; mj {call}")
        assert (done.returncode, done.stderr) == (0, "")
    assert "óř" in shell(served, f"export {locale}; mj brief").stdout
    done = shell(served, f"export {locale}; mj brief --root ěščř")
    assert done.returncode == 2
    assert done.stderr.startswith("majordomus: ")
    assert "is not a folder" in done.stderr


@pytest.mark.parametrize("call", ["brief", "peers list", "statusline"])
def test_interrupted(lab: Lab, call: str) -> None:
    """Control-C is exit code 130 without a word."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with listening(path, lambda connection, request: (connection.recv(1), None)[1]) as requests:
        argv = [sys.executable, "-m", "brief", *call.split()]
        with subprocess.Popen(
            argv, cwd=lab.repo, env=lab.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as command:
            until(lambda: requests)
            os.kill(command.pid, signal.SIGINT)
            printed, said = command.communicate()
    assert (command.returncode, printed, said) == (130, b"", b"")


STEER = "no-\x1b]0;x\x07\u202e\x9b31m\nevent"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["hook", STEER], 0),
        (["hook", "wake", STEER], 0),
        ([STEER], 2),
        (["brief", STEER], 2),
        (["brief", "--" + STEER], 2),
        (["brief", "--width", STEER], 2),
        (["brief", "--section", STEER], 2),
        (["brief", "--root", STEER], 2),
        (["peers", "list", "--root", STEER], 2),
        (["lock", "release", STEER, "--session", STEER], 1),
        (["serve", STEER], 2),
        (["policy", "check", STEER], 2),
    ],
    ids=lambda value: " ".join(value)[:20].encode("unicode_escape").decode() if isinstance(value, list) else None,
)
def test_a_word_that_a_fault_repeats(lab: Lab, words: list[str], code: int) -> None:
    """The echo of an argument never controls the terminal, whoever passed it."""
    done = lab.majordomus(*words)
    assert done.returncode == code, done
    said = done.stdout + done.stderr
    assert said
    assert [char for char in said if char != "\n" and not char.isprintable()] == []
