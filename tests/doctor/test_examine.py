from __future__ import annotations

import os
import resource
import shutil
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

import brief
from brief.core.model.health import Diagnosis
from brief.core.model.wire import from_json, to_json
from brief.doctor.examine import examine
from brief.doctor.machine import check_descriptors
from brief.fastpath.known import ABSENT
from brief.fastpath.lease import read_lease
from brief.fastpath.locate import locate
from brief.fastpath.process import recorded_process
from sandbox import Lab, until

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def served(lab: Lab) -> Lab:
    """A lab whose repository has a server."""
    lab.start_server()
    return lab


def levels(lab: Lab) -> dict[str, str]:
    """The level of every check."""
    return {name: level for name, (level, _) in findings(lab).items()}


def findings(lab: Lab) -> dict[str, tuple[str, str]]:
    """The level and sentence of every check."""
    diagnosis = examine(locate(str(lab.repo)), "", NOW)
    return {finding.name: (finding.level, finding.sentence) for finding in diagnosis.findings}


def test_all_is_well_with_a_server(served: Lab) -> None:
    """In a healthy repository with a server every check is ok."""
    assert {level for level, _ in findings(served).values()} == {"ok"}
    assert "answers" in findings(served)["server"][1]


def test_all_is_well_with_no_server(lab: Lab) -> None:
    """In a healthy repository without a server every check is ok, and nothing is created in it."""
    assert set(levels(lab).values()) == {"ok"}
    assert not lab.state.exists()


def test_server_that_was_killed(served: Lab) -> None:
    """A killed server leaves a lease and a socket behind: both are reported, but nothing is broken."""
    record = read_lease(served.common_dir)
    os.kill(record["pid"], signal.SIGKILL)
    until(lambda: recorded_process(record) is ABSENT)
    told = levels(served)
    assert (told["lease"], told["server"]) == ("warn", "warn")
    assert "fail" not in told.values()


def test_server_that_is_silent(served: Lab) -> None:
    """A stopped server holds the lease and is silent: that is broken, and the sentence says what ends it."""
    os.kill(read_lease(served.common_dir)["pid"], signal.SIGSTOP)
    level, sentence = findings(served)["server"]
    assert level == "fail"
    assert "serve ensure" in sentence


def test_outdated_server(served: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of another version is reported as outdated."""
    monkeypatch.setattr(brief.doctor.serving, "__version__", "99.0")
    assert findings(served)["server"][0] == "warn"
    assert "outdated" in findings(served)["server"][1]


def test_socket_that_is_open_or_gone(served: Lab) -> None:
    """A socket that others could open is broken, and so is a missing one under a running server."""
    path = Path(read_lease(served.common_dir)["socket"])
    path.chmod(0o666)
    assert "chmod 600" in findings(served)["socket"][1]
    path.unlink()
    told = levels(served)
    assert (told["socket"], told["server"]) == ("fail", "fail")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"socket": 1}', b"\xff" * 100])
def test_damaged_lease(lab: Lab, content: bytes) -> None:
    """A damaged lease file is broken, since no command finds a server by it."""
    lab.state.mkdir()
    (lab.state / "lease.json").write_bytes(content)
    assert levels(lab)["lease"] == "fail"


def test_lease_of_odd_values(lab: Lab) -> None:
    """A lease with impossible values is reported, and no check crashes."""
    lab.state.mkdir()
    (lab.state / "lease.json").write_text('{"socket": "/a\\u0000b", "epoch": 1, "pid": "x", "version": []}')
    told = findings(lab)
    assert told["lease"][0] == "fail"
    assert not any("could not be checked" in sentence for _, sentence in told.values())


@pytest.mark.parametrize("damage", ["garbage", "truncated", "newer", "foreign", "folder"])
def test_damaged_database(served: Lab, damage: str) -> None:
    """An unusable database is broken, with the remedy, and everything else is checked."""
    assert served.majordomus("serve", "stop").returncode == 0
    path = served.state / "majordomus.db"
    content = bytearray(path.read_bytes())
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        made: dict[str, bytes | bytearray] = {
            "garbage": content[:100] + b"\xab" * (len(content) - 100),
            "truncated": content[: len(content) // 2],
            "newer": content[:60] + (99).to_bytes(4, "big") + content[64:],
            "foreign": b"not a database at all, only some words" * 50,
        }
        path.write_bytes(made[damage])
    told = findings(served)
    assert told["database"][0] == "fail", told["database"]
    assert "move the file away" in told["database"][1]
    assert {name for name, (level, _) in told.items() if level == "fail"} == {"database"}


def test_state_folder_that_may_be_anothers(served: Lab) -> None:
    """A state folder with a link in it is broken; nothing in it is checked, but everything else is."""
    assert served.majordomus("serve", "stop").returncode == 0
    path = served.state / "majordomus.db"
    path.rename(served.base / "elsewhere")
    path.symlink_to(served.base / "elsewhere")
    told = findings(served)
    assert told["state"] == (
        "fail",
        f"{path} is a symbolic link, so nothing is read or written there; remove it",
    )
    assert told["database"][0] == "warn"
    assert {name for name, (level, _) in told.items() if level == "fail"} == {"state"}


def test_policy_and_trust(lab: Lab) -> None:
    """A faulty key, an untrusted port and an unknown zone are each reported by their own check."""
    (lab.repo / ".ai/repo").mkdir(parents=True)
    (lab.repo / ".ai/repo/policy.yaml").write_text("timezone: Mars/Phobos\nserver: {port: 8080}\n")
    told = findings(lab)
    assert {name for name, (level, _) in told.items() if level != "ok"} == {"policy", "trust", "zones"}
    assert "server.port 8080" in told["trust"][1]
    assert "Mars/Phobos" in told["zones"][1]


def test_unreadable_policy_and_open_trust(lab: Lab) -> None:
    """A policy that is not YAML, and a trust file that others may write to, are broken."""
    (lab.repo / ".ai/repo").mkdir(parents=True)
    (lab.repo / ".ai/repo/policy.yaml").write_text("a: [")
    trust = lab.home / ".config/majordomus/trust.json"
    trust.parent.mkdir(parents=True)
    trust.write_text("{}")
    trust.chmod(0o666)
    told = levels(lab)
    assert (told["policy"], told["trust"]) == ("fail", "fail")


def test_lost_worktree(lab: Lab) -> None:
    """A work tree whose folder was removed is named."""
    lab.commit()
    shutil.rmtree(lab.worktree("lost"))
    level, sentence = findings(lab)["worktrees"]
    assert level == "warn"
    assert "/lost missing: mount the drive if it lies on one" in sentence


def test_worktree_that_is_away(lab: Lab) -> None:
    """A locked work tree whose folder is missing, as on an unmounted drive, is not a fault and not to be pruned."""
    lab.commit()
    tree = lab.worktree("stick")
    lab.git("worktree", "lock", str(tree))
    shutil.move(tree, lab.base / "unmounted")
    level, sentence = findings(lab)["worktrees"]
    assert (level, "prune" in sentence, "unlock" in sentence) == ("ok", False, False)
    assert "/stick locked, with the folder away" in sentence


def test_notices_that_cannot_be_read(lab: Lab) -> None:
    """A file that is not a notice is named with its fault, since it may be a lock, and with how to remove it."""
    folder = lab.state / "notices/active"
    folder.mkdir(parents=True)
    (folder / "good.md").write_text("---\nkind: alert\n---\n")
    assert findings(lab)["notices"] == ("ok", "1 readable")
    (folder / "bad.md").write_text("---\nkind: loc\n---\n")
    level, sentence = findings(lab)["notices"]
    assert level == "warn"
    assert f"1 not read, possibly locks: {folder}/bad.md" in sentence
    assert sentence.endswith("; correct each, or move it away with majordomus alerts archive PATH")


def test_runtime_folder_that_is_open(lab: Lab) -> None:
    """A runtime folder that others may write to is broken: somebody could put a socket there."""
    lab.runtime.chmod(0o777)
    assert levels(lab)["runtime"] == "fail"


def test_git_that_is_missing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git its own check and that of the work trees fail, and everything else is checked."""
    monkeypatch.setenv("PATH", str(lab.base))
    assert {name for name, level in levels(lab).items() if level == "fail"} == {"git", "worktrees"}


def test_no_checkout() -> None:
    """Without a checkout that is the failure, and the checks of a checkout are reported as skipped."""
    diagnosis = examine(None, "this is no repository", NOW)
    told = {finding.name: finding.level for finding in diagnosis.findings}
    assert diagnosis.failed
    assert (told["repository"], told["database"], told["git"]) == ("fail", "warn", "ok")
    assert (diagnosis.root, diagnosis.common_dir) == (None, None)


def test_check_that_falls_over(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that raises is itself a finding and affects no other."""

    def fall(folder: str) -> None:
        raise RuntimeError(f"what of {folder}")

    monkeypatch.setattr(os, "statvfs", fall)
    told = findings(lab)
    assert told["disk"][0] == "fail"
    assert "could not be checked: unexpected RuntimeError" in told["disk"][1]
    assert {level for name, (level, _) in told.items() if name != "disk"} == {"ok"}


def test_unlimited_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """No limit on descriptors is ok."""
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert check_descriptors().level == "ok"


def test_diagnosis_travels(lab: Lab) -> None:
    """The JSON report can be read back unchanged."""
    diagnosis = examine(locate(str(lab.repo)), "", NOW)
    assert from_json(Diagnosis, to_json(diagnosis)) == diagnosis
