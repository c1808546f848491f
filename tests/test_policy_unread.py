"""A policy that cannot be read is judged alike everywhere: what it sets is unknown, and nothing that rests on it is empty."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from brief.core.policy.names import POLICY_FILE
from sandbox import Lab

CANNOT = "the policy cannot be read"


def folder(path: Path) -> None:
    """A folder in the place of the file."""
    path.mkdir(parents=True)


def broken(path: Path) -> None:
    """YAML that ends too early."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mesh: [\n")


def other_bytes(path: Path) -> None:
    """Bytes that are not UTF-8."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"mesh: \xff\n")


def told(lab: Lab, words: str, code: int) -> str:
    """What a command says, on either stream."""
    done = lab.majordomus(*words.split())
    assert done.returncode == code, (words, done)
    return done.stdout + done.stderr


def judged_alike(lab: Lab) -> None:
    """Every command that looks at the policy says the same of it, and what depends on it was not read in full."""
    sentence = told(lab, "policy check", 2).removeprefix("majordomus: ").removesuffix("\n")
    assert sentence.startswith(f"{POLICY_FILE} cannot be read: ")
    for words, code in (("brief --strict", 10), ("policy show", 0), ("trust", 2), ("trust --list", 2), ("doctor", 1)):
        assert sentence in " ".join(told(lab, words, code).split()), words
    document = json.loads(lab.majordomus("brief", "--format", "json").stdout)
    status = {one["name"]: (one["status"], one["reason"] or "") for one in document["sections"]}
    assert status["mesh"][0] == "unread"
    assert status["mesh"][1].startswith(f"whether mesh.url is set is unknown: {CANNOT}")
    assert status["alerts"][0] == "partial"
    assert "so alerts.folders is unknown" in status["alerts"][1]
    for words in ("alerts list --strict", "reminders --strict", "lock status --strict", "lock audit --strict"):
        assert "so alerts.folders is unknown" in " ".join(told(lab, words, 10).split()), words
    assert sentence in told(lab, "queue refresh", 2)
    assert sentence in told(lab, "capture install", 2)
    assert f"is unknown, which counts as off: {CANNOT}" in told(lab, "capture status", 0)
    assert CANNOT in told(lab, "init", 0)
    for check in ("trust", "zones"):
        line = next(line for line in told(lab, "doctor", 1).splitlines() if line.split()[1] == check)
        assert line.startswith("warn")
        assert CANNOT in line


@pytest.mark.parametrize("make", [folder, broken, other_bytes])
def test_with_a_server(lab: Lab, make: Callable[[Path], None]) -> None:
    """Where a server answers."""
    lab.commit()
    make(lab.repo / POLICY_FILE)
    lab.start_server()
    judged_alike(lab)


def test_without_a_server(lab: Lab) -> None:
    """A command by itself judges as a server does; it reads, and starts none."""
    lab.commit()
    broken(lab.repo / POLICY_FILE)
    sentence = told(lab, "policy check", 2).removeprefix("majordomus: ").removesuffix("\n")
    assert sentence in " ".join(told(lab, "brief --strict", 10).split())
    assert "so alerts.folders is unknown" in " ".join(told(lab, "alerts list --strict", 10).split())


def test_a_server_that_read_it_before(lab: Lab) -> None:
    """The same sentence holds for a server that goes on with what it read last."""
    lab.commit()
    path = lab.repo / POLICY_FILE
    path.parent.mkdir(parents=True)
    path.write_text("session: {brief_interval_minutes: 7}\n")
    lab.start_server()
    assert json.loads(told(lab, "brief --format json", 0))["interval_minutes"] == 7
    broken(path)
    judged_alike(lab)
    assert json.loads(told(lab, "brief --format json", 0))["interval_minutes"] == 7
