from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brief.fastpath.process import describe_process
from impostor import answer, listening, saying, socket_in, socket_of, write_lease
from process_helpers import start_of
from readers_reach import SERVER
from sandbox import Lab, until
from serving import (
    SIGNAL_BEFORE,
    answers,
    ask,
    finish,
    has_ended,
    launch,
    lease,
    left_behind,
    python,
    serve,
    unprivileged,
)

_QUICK = """
import brief.server.ensure as ensure
ensure.SILENT_SECONDS, ensure.PING_SECONDS = 0.5, 0.3
from brief.cli.main import main
sys.exit(main(["serve", "ensure"]))
"""
"""`serve ensure` for which half a second of silence is long."""

_IMPATIENT = """
import brief.fastpath.ask as asking
asking.ask.__kwdefaults__["seconds"] = 0.3
from brief.__main__ import main
sys.exit(main())
"""
"""A command that waits a third of a second for the server."""


def _ensure(lab: Lab) -> subprocess.CompletedProcess[str]:
    return lab.majordomus("serve", "ensure")


def test_ten_at_once_get_one_server(lab: Lab) -> None:
    """If ten processes start a server at once, one server runs and all ten find it."""
    starts = [python(lab, "from brief.cli.main import main; sys.exit(main(['serve', 'ensure']))") for _ in range(10)]
    ended = [finish(start, 60.0) for start in starts]
    assert [code for code, _, _ in ended] == [0] * 10, ended
    until(lambda: len(lab.processes()) == 1)
    holder = lease(lab)["pid"]
    assert lab.processes() == [holder]
    assert all(f"pid {holder} holds" in out for _, out, _ in ended)


def test_a_server_that_answers_is_not_started_again(lab: Lab) -> None:
    """The second call finds the first one's server and says so."""
    first, second = _ensure(lab), _ensure(lab)
    assert first.stdout.startswith(f"started: pid {lease(lab)['pid']} holds")
    assert second.stdout.startswith(f"already there: pid {lease(lab)['pid']} holds")


def test_a_killed_server_is_replaced_at_once(lab: Lab) -> None:
    """The kernel frees the lease of a process that was killed, and the next holder has a higher epoch."""
    _ensure(lab)
    before = lease(lab)
    os.kill(before["pid"], signal.SIGKILL)
    until(lambda: has_ended(before["pid"]))
    told = lab.majordomus("serve", "status")
    assert (told.returncode, "is gone and left its lease behind" in told.stderr) == (1, True)
    assert _ensure(lab).returncode == 0
    assert lease(lab)["epoch"] > before["epoch"]
    assert lease(lab)["pid"] != before["pid"]
    assert len(left_behind(lab)) == 3


@pytest.mark.parametrize(
    "place",
    [
        "brief.server.app:serve",
        "brief.server.app:bind_unix",
        "brief.server.registry_entry:RegistryEntry.write",
        "brief.server.lease:Lease.publish",
        "brief.server.web:WebServer.main_loop",
    ],
)
def test_a_start_that_was_killed_is_in_nobodys_way(place: str, lab: Lab) -> None:
    """Wherever between lease, socket and first answer a server was killed, the next one starts and clears up after it."""
    killed = launch(lab, SIGNAL_BEFORE.format(place=place, number=int(signal.SIGKILL)), spawn=True)
    assert finish(killed)[0] == -signal.SIGKILL
    assert _ensure(lab).returncode == 0
    assert answers(lab)
    assert [path for path in left_behind(lab) if path.endswith(".sock")] == [lease(lab)["socket"]]


def test_a_stopped_holder_is_told_as_silent_and_replaced(lab: Lab) -> None:
    """A holder that hangs keeps its lock: a brief says so and comes all the same, and ensure ends it and takes over."""
    _ensure(lab)
    before = lease(lab)
    os.kill(before["pid"], signal.SIGSTOP)
    code, out, _ = finish(python(lab, _IMPATIENT, "brief"))
    assert (code, "holds and is silent; majordomus serve ensure replaces it" in out) == (0, True)
    code, _, err = finish(python(lab, _IMPATIENT, "serve", "stop"))
    assert (code, "not stopped: the server of epoch" in err) == (1, True)
    code, out, err = finish(python(lab, _QUICK), 60.0)
    assert (code, out[:8]) == (0, "started:"), err
    assert has_ended(before["pid"])
    assert lease(lab)["epoch"] > before["epoch"]


def test_a_silent_process_that_is_not_the_holder_is_spared(lab: Lab) -> None:
    """Only the process that holds the lock is ended, be it before it wrote its lease; the one in the lease file lives on."""
    bystander = python(lab, "import time; time.sleep(600)")
    holder = python(
        lab,
        "import time\nfrom datetime import UTC, datetime\nfrom brief.server.lease import Lease\n"
        "lease = Lease.take(sys.argv[2], datetime.now(UTC)); print('held', flush=True); time.sleep(600)",
        "brief.server",
        lab.common_dir,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    write_lease(
        lab.common_dir,
        socket_in(Path("/nowhere"), lab.common_dir, 1),
        pid=bystander.pid,
        process_start=start_of(bystander.pid),
        epoch=1,
    )
    code, out, err = finish(python(lab, _QUICK), 60.0)
    assert (code, out[:8]) == (0, "started:"), err
    assert finish(holder)[0] == -signal.SIGKILL
    assert not has_ended(bystander.pid)
    bystander.kill()
    finish(bystander)


def test_a_silent_holder_that_nobody_can_name_is_spared(lab: Lab) -> None:
    """If the lock file names no process, or one that is not the holder, nobody is killed, and the error says why."""
    bystander = python(lab, "import time; time.sleep(600)")
    lab.state.mkdir()
    with open(lab.state / "lease.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        own = describe_process(bystander.pid)
        for named in ("", "[]", json.dumps(own | {"process_start": 1}), json.dumps(own)):
            (lab.state / "lease.lock").write_text(named)
            code, _, err = finish(python(lab, _QUICK), 60.0)
            assert (code, "was not killed, because" in err, "lslocks names it" in err) == (1, True, True)
    assert not has_ended(bystander.pid)
    bystander.kill()
    finish(bystander)


def test_why_a_start_failed_is_told(lab: Lab) -> None:
    """The output of a server that ended at once is the sentence of the command."""
    (lab.state / "lease.lock").mkdir(parents=True)
    told = _ensure(lab)
    assert told.returncode == 1
    assert f"no server can run: {lab.state}/lease.lock is not a regular file" in told.stderr
    assert "Traceback" not in told.stderr
    assert left_behind(lab) == []


def test_a_file_that_is_in_the_way_is_named(lab: Lab) -> None:
    """One sentence says which it is and what to do."""
    (lab.state / "lease.json").mkdir(mode=0o700, parents=True)
    lab.state.chmod(0o700)
    done = lab.majordomus("serve", "ensure")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"majordomus: no server can run: {lab.state}/lease.json is in the way; move it elsewhere\n")


def test_a_relative_temporary_folder_is_refused(lab: Lab) -> None:
    """It would make the current folder decide where the socket lies."""
    environ = {name: value for name, value in lab.env.items() if name != "XDG_RUNTIME_DIR"}
    done = lab.majordomus("serve", "ensure", env={**environ, "XDG_RUNTIME_DIR": "", "TMPDIR": "."})
    assert (done.returncode, done.stdout) == (1, "")
    assert "the temporary folder is ., which is not an absolute path" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_runtime_folder_open_to_others_is_told(lab: Lab) -> None:
    """No server puts its socket where others could replace it, and the command says what to do."""
    (lab.runtime / "majordomus").mkdir()
    (lab.runtime / "majordomus").chmod(0o777)
    told = _ensure(lab)
    assert told.returncode == 1
    assert "is open to others (mode 777); run chmod 700" in told.stderr


@pytest.fixture
def read_only(lab: Lab) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command in a repository whose git folder cannot be written."""
    lab.commit()
    Path(lab.common_dir).chmod(0o500)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*unprivileged(), sys.executable, "-m", "brief", *words]
        return subprocess.run(command, cwd=lab.repo, env=lab.env, capture_output=True, text=True, check=False)

    return run


def test_a_read_only_repository_has_its_brief(
    lab: Lab, read_only: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """If nothing can be written, no server can run: the brief still comes and says so, and ensure fails with the reason."""
    try:
        brief, ensured = read_only("brief"), read_only("serve", "ensure")
    finally:
        Path(lab.common_dir).chmod(0o700)
    told = f"no server can run: {lab.common_dir}"
    assert (brief.returncode, f"{told} is read-only" in brief.stdout) == (0, True), brief
    assert (ensured.returncode, f"{told}/majordomus cannot be written (Permission denied)" in ensured.stderr) == (
        1,
        True,
    )
    assert not lab.state.exists()


def test_a_server_knows_nothing_of_the_session_that_started_it(lab: Lab) -> None:
    """It answers for all sessions, so the name and the secrets of one do not come with it; its folder neither."""
    lab.majordomus("serve", "ensure", env={"CLAUDE_CODE_SESSION_ID": "abc", "CLAUDE_CODE_OAUTH_TOKEN": "secret"})
    pid = lease(lab)["pid"]
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"abc" not in environment
    assert b"secret" not in environment
    assert f"CLAUDE_CONFIG_DIR={lab.home}".encode() in environment
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) == pid


def test_the_server_of_a_gone_root_still_answers(lab: Lab) -> None:
    """A server started from a checkout that was removed answers for the others."""
    lab.commit()
    koda = lab.worktree("koda")
    lab.majordomus("serve", "ensure", cwd=koda)
    lab.git("worktree", "remove", "--force", str(koda))
    assert ask(lab, "GET", "/brief").status == 200


def test_a_start_that_lost_says_nothing(lab: Lab) -> None:
    """A server that finds the lease taken ends at once, with its own code and without a word."""
    serve(lab)
    assert finish(launch(lab, spawn=True)) == (3, "", "")


_LATE = """
import subprocess
import brief.server.ensure as ensure
real = ensure._start

def start(here):
    real(here)
    silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], **silent)

ensure._start = start
from brief.cli.main import main
sys.exit(main(["serve", "ensure"]))
"""
"""`serve ensure` whose own server is still loading when that of somebody else answers."""


def test_a_server_that_somebody_else_started_was_there(lab: Lab) -> None:
    """Started is only what this very call started, however long that takes to find the lease taken."""
    code, out, err = finish(python(lab, _LATE), 60.0)
    assert (code, out[:15]) == (0, "already there: "), err


def test_a_holder_that_declines_is_not_ended(lab: Lab) -> None:
    """A server that answers that it is busy is not silent: it is asked again, and lives on if the command gives up."""
    lab.state.mkdir(mode=0o700)
    holder = python(lab, SERVER, "brief.server", lab.common_dir)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    path = socket_of(lab)
    write_lease(lab.common_dir, path, pid=holder.pid)
    busy = answer(b'{"error": "too many calls"}', status="503 Service Unavailable")
    with listening(path, saying(busy)) as requests:
        code, _, err = finish(python(lab, "import brief.server.ensure as e\ne.START_SECONDS = 1\n" + _QUICK), 60.0)
    assert (code, "the server answered 503: too many calls" in err) == (1, True), err
    assert len(requests) > 1
    assert holder.poll() is None
