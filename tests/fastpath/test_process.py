from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath import process as processes
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.process import (
    describe_process,
    may_have_ended,
    process_start,
    process_table,
    recorded_process,
)
from process_helpers import IN_ANOTHER_PID_NAMESPACE, WITHOUT_PROC, mount_namespace_refusal, start_of

OTHER_BOOT = "00000000-0000-0000-0000-000000000000"
ME = os.getpid()


def record(**changes: Any) -> dict[str, Any]:
    """A record of this process."""
    return {**describe_process(ME), **changes}


def ended() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        pass
    return child.pid


def no_descriptor(*_: object) -> int:
    """The answer of the system once this process has as many open files as it may."""
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def answers(before: tuple[str, ...], pid: int) -> list[str]:
    """The answers about a process, and about a number that no process has, from a command that runs elsewhere."""
    told = f"""
from brief.fastpath.process import *
for one in (process_start({pid}), process_start({ended()}), recorded_process({record(pid=pid, process_start=1)!r})):
    print(type(one).__name__)
"""
    done = subprocess.run([*before, sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_own_process() -> None:
    """A record of a process that runs is known to be of that very process."""
    assert recorded_process(record()) == Known(ME)
    assert recorded_process(record(boot_id=None, process_table=None)) == Known(ME)


@pytest.mark.parametrize("changes", [{"process_start": 1}, {"boot_id": OTHER_BOOT}, {"pid": 2**31 - 1}], ids=str)
def test_later_process_of_the_same_number(changes: dict[str, Any]) -> None:
    """A process that began at another time or in another run of the machine is gone, whoever has its number now."""
    assert recorded_process(record(**changes)) is ABSENT


@pytest.mark.parametrize("pid", [None, "1", 0, -1, 10**30, 1.5, True], ids=repr)
def test_pid_that_is_none(pid: object) -> None:
    """A number that no process can have is that of a process that has ended."""
    assert recorded_process(record(pid=pid)) is ABSENT


def test_process_that_ended() -> None:
    """A number that no process has any more is that of one that has ended."""
    pid = ended()
    assert process_start(pid) is ABSENT
    assert recorded_process(record(pid=pid)) is ABSENT


def test_child_that_nobody_waited_for() -> None:
    """A process that has ended and was not waited for does not run."""
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as child:
        told = describe_process(child.pid)
        assert child.stdout is not None
        child.stdout.read()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert process_start(child.pid) is ABSENT
        assert recorded_process(told) is ABSENT


def test_name_of_a_process_with_parentheses(tmp_path: Path) -> None:
    """The start of a process is found whatever its name contains."""
    name = tmp_path / "a) 1 2 (b"
    name.symlink_to(sys.executable)
    with subprocess.Popen(
        [name, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as one:
        assert one.stdout is not None
        one.stdout.readline()
        assert start_of(one.pid) >= start_of(ME) > 0
        one.communicate(b"\n")


def test_without_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no file can be opened any more, a running process is unknown, and one that has ended is known to have ended."""
    gone, own = ended(), record()
    monkeypatch.setattr(os, "open", no_descriptor)
    assert isinstance(process_start(ME), Unknown)
    assert isinstance(recorded_process(own), Unknown)
    assert recorded_process({**own, "pid": gone}) is ABSENT


def test_hidden_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process that the kernel knows and /proc does not show (`hidepid`) is unknown."""
    (tmp_path / "self").symlink_to(str(ME))
    monkeypatch.setattr(processes, "PROC", str(tmp_path))
    assert process_start(ME) == Unknown(f"{tmp_path}/{ME}/stat cannot be read: No such file or directory")


def test_stat_that_is_not_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stat of another shape proves nothing."""
    (tmp_path / "self").symlink_to(str(ME))
    (tmp_path / str(ME)).mkdir()
    (tmp_path / str(ME) / "stat").write_text("1 (a")
    monkeypatch.setattr(processes, "PROC", str(tmp_path))
    assert isinstance(process_start(ME), Unknown)


def test_record_of_another_process_table() -> None:
    """Nothing is said about a process of a container by its number, whichever process has that number here."""
    assert recorded_process(record(process_table="pid:[1]", process_start=1)) == Unknown(
        f"process {ME} is in another process table"
    )


def test_record_without_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without a recorded start is not confused with a later one of its number, nor proven to be it."""
    assert isinstance(recorded_process(record(process_start=None)), Unknown)
    assert recorded_process(record(process_start=None, pid=ended())) is ABSENT


def test_system_with_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system without boot id, process tables or /proc, only a free number is proof."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(processes, "PROC", "/nowhere")
    assert process_table() is ABSENT
    assert describe_process(ME) == {"pid": ME, "process_start": None, "boot_id": None, "process_table": ""}
    assert isinstance(recorded_process(describe_process(ME)), Unknown)
    assert recorded_process(describe_process(ended())) is ABSENT


@pytest.mark.skipif(mount_namespace_refusal() is not None, reason=str(mount_namespace_refusal()))
def test_without_proc() -> None:
    """A command whose /proc is empty tells a number that is free, and nothing of a process that runs."""
    assert answers(WITHOUT_PROC, ME) == ["Unknown", "Absent", "Unknown"]


@pytest.mark.skipif(mount_namespace_refusal() is not None, reason=str(mount_namespace_refusal()))
def test_proc_of_another_namespace() -> None:
    """If /proc shows another process table than our own, its entry for a number is that of another process."""
    with subprocess.Popen(["sleep", "60"]) as other:
        assert answers(IN_ANOTHER_PID_NAMESPACE, 1)[0] == "Unknown"
        other.kill()


def test_doubt() -> None:
    """A process that runs is not doubted; one that has ended is, whether or not somebody waited for it."""
    with subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as child:
        assert not may_have_ended(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert may_have_ended(child.pid)
    assert may_have_ended(child.pid)
