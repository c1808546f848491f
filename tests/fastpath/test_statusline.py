from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from brief.fastpath.locate import Located
from brief.fastpath.statusline import fit, last_known, line_file
from sandbox import Lab, until
from serving import write_policy

UUID = "11111111-1111-4111-8111-111111111111"
HOSTILE = ["../../x", "/etc/passwd", "..", 5, True, None, [], "x" * 5_000, "ě" * 120, "\ud800", "a\0b", "a\nb", "", " "]


def refreshed(lab: Lab, stdin: bytes | str = b"", *, cwd: Path | None = None, **env: str) -> str:
    """The one line of a status line that ends well, or nothing."""
    raw = stdin.encode("utf-8", "surrogatepass") if isinstance(stdin, str) else stdin
    argv = [sys.executable, "-m", "brief", "statusline"]
    done = subprocess.run(
        argv, cwd=cwd or lab.repo, env={**lab.env, **env}, input=raw, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    printed = done.stdout.decode()
    assert not printed or (printed.strip() and printed.count("\n") == 1)
    return printed[:-1]


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"[1, {}]",
        b"5",
        b'"text"',
        b"{}",
        b'{"model": 3, "workspace": "text"}',
        b'{"workspace": {"current_dir": 5}, "cwd": []}',
        b'{"workspace": {"current_dir": "/no such folder"}, "cwd": "/neither\\u0000"}',
        b'{"cwd": "\\ud800"}',
        b"\x00\xff\xfe",
        b"\xef\xbb\xbf{}",
        b"[" * 200_000,
        b"9" * 10_000,
        b'{"padding": "' + b"x" * 3_000_000 + b'"}',
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_any_input(served: Lab, stdin: bytes) -> None:
    """Empty, cut, wrong, binary or huge input still gets the server's line."""
    assert refreshed(served, stdin) == "peers 0 · queue ? · derive free · alerts 0"


@pytest.mark.parametrize("session", HOSTILE, ids=lambda one: repr(one)[:20])
def test_any_session(served: Lab, session: object) -> None:
    """A session id that no episode can have is as good as none, and names no file outside of the folder of lines."""
    assert "peers 0" in refreshed(served, json.dumps({"session_id": session}))
    kept = {path.relative_to(served.state).parts[0] for path in served.state.rglob("*")}
    assert kept <= {
        "lease.json",
        "lease.lock",
        "lines",
        "majordomus.db",
        "majordomus.db-shm",
        "majordomus.db-wal",
        "server.log",
    }


@pytest.mark.parametrize("session", HOSTILE, ids=lambda one: repr(one)[:20])
def test_any_session_without_a_server(lab: Lab, session: object) -> None:
    """Without a server such input does not matter either."""
    write_policy(lab, "version: 1\n")
    assert refreshed(lab, json.dumps({"session_id": session})) == "brief ? · no server has answered here yet"


def test_standard_input_closed(served: Lab) -> None:
    """A closed standard input, or one that cannot be read, is empty."""
    for redirection in ("0<&-", "0>/dev/null"):
        argv = ["sh", "-c", f'exec "$0" -m brief statusline {redirection}', sys.executable]
        done = subprocess.run(argv, cwd=served.repo, env=served.env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("peers 0")


def test_pipe_that_nobody_fills(served: Lab) -> None:
    """A client that writes nothing, or half of it, and keeps the pipe open is not waited for."""
    for written in (b"", b'{"cwd": '):
        ours, theirs = os.pipe()
        os.write(theirs, written)
        argv = [sys.executable, "-m", "brief", "statusline"]
        printed = subprocess.run(
            argv, cwd=served.repo, env=served.env, stdin=ours, stdout=subprocess.PIPE, check=True, timeout=60
        ).stdout
        os.close(ours)
        os.close(theirs)
        assert printed.startswith(b"peers 0")


def test_checkout_that_the_client_names(served: Lab) -> None:
    """The folder in the client's JSON counts before the one that the process stands in."""
    linked = served.base / "linked"
    for told in ({"workspace": {"current_dir": str(linked)}}, {"cwd": str(linked)}):
        assert "peers 0" in refreshed(served, json.dumps(told), cwd=served.home)
    until((served.state / "lines/worktree-linked").exists)


def test_outside_of_every_repository(served: Lab) -> None:
    """Outside a checkout there is no line."""
    assert refreshed(served, cwd=served.home) == ""


def test_repository_that_has_nothing_to_do_with_it(lab: Lab) -> None:
    """A repository without a policy and in which no server ever answered gets no line; with either it gets one."""
    assert refreshed(lab) == ""
    write_policy(lab, "version: 1\n")
    assert refreshed(lab) == "brief ? · no server has answered here yet"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ("200", "peers 0 · queue ? · derive free · alerts 0"),
        ("46", "peers 0 · queue ? · derive free · alerts 0"),
        ("45", "peers 0 · queue ? · alerts 0"),
        ("24", "queue ? · alerts 0"),
        *(
            (odd, "peers 0 · queue ? · derive free · alerts 0")
            for odd in ("", "0", "-1", "²", "x", "9" * 5_000, "99999")
        ),
    ],
)
def test_columns(served: Lab, columns: str, line: str) -> None:
    """The line fits into COLUMNS less the client's padding where that is a width; it is whole where it is none."""
    assert refreshed(served, COLUMNS=columns) == line


def test_locale(served: Lab) -> None:
    """The line is UTF-8 whatever the locale."""
    assert " · " in refreshed(served, LANG="C", LC_ALL="C")
    assert " · " in refreshed(served, PYTHONIOENCODING="latin-1")


def test_last_line_known(lab: Lab) -> None:
    """After kill -9 the last line of the session, else of the checkout, comes with its age, cut to fit."""
    lab.start_server()
    assert lab.majordomus("task", "set", "x", "--session", UUID).returncode == 1
    lab.majordomus("episode", "open", "--session", UUID)
    lab.majordomus("task", "set", "mend the login", "--session", UUID)
    mine = json.dumps({"session_id": UUID})
    assert refreshed(lab, mine).startswith("mend the login")
    others = json.dumps({"session_id": "another"})
    assert refreshed(lab, others).startswith("peers 1")
    pid = json.loads((lab.state / "lease.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: not lab.processes())
    an_hour_ago = (lab.state / f"lines/primary~{UUID}").stat().st_mtime - 3_600
    os.utime(lab.state / f"lines/primary~{UUID}", (an_hour_ago, an_hour_ago))
    assert refreshed(lab, mine).startswith("no answer, as of 1h ago · mend the login")
    assert refreshed(lab, mine, COLUMNS="29") == "no answer, as of 1h ago"
    assert "peers 1" in refreshed(lab, others)


# ---------------------------------------------------------------- without a process

HERE = Located("/repo", "/repo/.git", "/repo/.git")


def test_line_files_are_one_a_checkout() -> None:
    """No two checkouts, and no two sessions in one, share a file."""
    linked = Located("/b", "/repo/.git/worktrees/primary", "/repo/.git")
    files = {line_file(place, session) for place in (HERE, linked) for session in (None, "a", "b")}
    assert len(files) == 6
    assert {os.path.dirname(name) for name in files} == {"/repo/.git/majordomus/lines"}


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-61, "an unknown time ago"),
        (-5, "just now"),
        (59, "just now"),
        (60, "1m ago"),
        (3_599, "59m ago"),
        (3_600, "1h ago"),
        (172_800, "2d ago"),
    ],
)
def test_age(tmp_path: Path, seconds: int, told: str) -> None:
    """The age of a line is one short word, and unknown for a file dated ahead of the clock."""
    here = Located(str(tmp_path), str(tmp_path), str(tmp_path))
    (tmp_path / "majordomus/lines").mkdir(parents=True)
    (tmp_path / "majordomus/lines/primary").write_bytes(b"peers 1 \xff\nsecond\n")
    os.utime(tmp_path / "majordomus/lines/primary", (1_000_000, 1_000_000))
    assert last_known(here, "no/file", 1_000_000 + seconds, None) == f"no answer, as of {told} · peers 1 \udcff"


def test_a_kept_line_is_printed_clean(lab: Lab) -> None:
    """Nothing in a file can control the terminal, whoever wrote it, and its cells are counted as printed."""
    (lab.state / "lines").mkdir(parents=True, mode=0o700)
    (lab.state / "lines/primary").write_text("kept \x1b]0;x\x07\u202e\x9b31m line · more\n")
    assert refreshed(lab) == "no answer, as of just now · kept ]0;x31m line · more"
    assert refreshed(lab, COLUMNS="51").endswith("kept ]0;x31m line")


def test_empty_line_file(tmp_path: Path) -> None:
    """A file without a line, or a folder in its place, gives no line."""
    here = Located(str(tmp_path), str(tmp_path), str(tmp_path))
    (tmp_path / "majordomus/lines/primary~s").mkdir(parents=True)
    (tmp_path / "majordomus/lines/primary").write_text("\n")
    assert last_known(here, "s", 0.0, None) is None


@pytest.mark.parametrize(
    ("columns", "line"), [(None, "▲1 漢字 · b · c"), (10, "▲1 漢字"), (11, "▲1 漢字 · b"), (0, "▲1 漢字")]
)
def test_fit(columns: int | None, line: str) -> None:
    """Whole parts are dropped from the end, by the cells they take; the first part always stays."""
    assert fit("▲1 漢字 · b · c", columns) == line
