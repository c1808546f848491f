"""A hostile state folder, tried with real commands and servers, some of them in the git folder of another user."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from cli_helpers import section
from hostile import FOREIGN, FORM_PARAMS, FORMS, needs_root, snapshot, widen
from sandbox import Lab

SESSION = "11111111-1111-4111-8111-111111111111"
OURS = ("state", "alerts", "derive", "integration")


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state that a server left, with a lock, a line, marks and a log."""
    kept = tmp_path_factory.mktemp("state") / "majordomus"
    with Lab() as lab:
        lab.commit()
        lab.majordomus("serve", "ensure")
        lab.majordomus("lock", "place", "koda", "--session", SESSION)
        lab.majordomus("queue", "refresh")
        lab.majordomus("brief", "--line")
        lab.majordomus("serve", "stop")
        shutil.copytree(lab.state, kept)
    (kept / "derive.json").write_text("{}")
    (kept / "seen").mkdir(mode=0o700, exist_ok=True)
    return kept


@pytest.fixture
def hostile(lab: Lab, left_behind: Path) -> Lab:
    """A repository with that state, in which nobody serves."""
    lab.commit()
    shutil.copytree(left_behind, lab.state)
    return lab


def _hook(lab: Lab, event: str) -> str:
    done = lab.majordomus("hook", event, stdin=json.dumps({"session_id": SESSION, "cwd": str(lab.repo)}))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _is_refused(lab: Lab, victim: Path) -> None:
    """Every command names the place; the brief comes with what needs no state folder, and nobody serves."""
    done = lab.majordomus("brief", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["answered_by"]["kind"] == "self"
    assert told["answered_by"]["reason"].startswith(f"no server is asked or started: {victim} ")
    assert told["repository"]["branch"] == "main"
    for name in OURS:
        read = section(told, name)
        assert (read["status"], str(victim) in (read["reason"] or "")) == ("unread", True), read
    for words in ("serve ensure", "lock place zeta", "alerts list", "queue refresh", "serve run", "peers list"):
        done = lab.majordomus(*words.split(), env={"CLAUDE_CODE_SESSION_ID": SESSION})
        assert (done.returncode, done.stdout) == (1, ""), words
        assert str(victim) in done.stderr, words
        assert len(done.stderr.splitlines()) == 1, words
    assert f"fail  state        {victim} " in lab.majordomus("doctor").stdout
    lab.majordomus("serve", "stop")
    _hook(lab, "session-start")
    _hook(lab, "user-prompt-submit")
    line = lab.majordomus("statusline", stdin=json.dumps({"cwd": str(lab.repo)})).stdout
    assert ("koda" in line) is (victim not in (lab.state, lab.state / "lines"))  # what it reads is proven by itself
    assert lab.processes() == []


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("", "link"),
        ("lines", "link"),
        ("seen", "dangling link"),
        ("server.log", "link"),
        ("majordomus.db", "link"),
        ("majordomus.db-wal", "dangling link"),
        ("lease.lock", "pipe"),
        ("notices", "link"),
        ("observation.json", "pipe"),
        pytest.param("", "foreign", marks=needs_root),
        pytest.param("majordomus.db", "foreign", marks=needs_root),
        pytest.param("notices/active", "foreign", marks=needs_root),
    ],
)
def test_nothing_is_touched(hostile: Lab, name: str, form: str) -> None:
    """Nothing there is read, written, started or deleted, and nothing that a link names."""
    victim, elsewhere = hostile.state / name, hostile.base / "elsewhere"
    if name.endswith("-wal"):
        victim.touch(0o600)
    FORMS[form](victim, elsewhere)
    before = snapshot(hostile.state), snapshot(elsewhere)
    _is_refused(hostile, Path(str(victim).rstrip("/")))
    assert (snapshot(hostile.state), snapshot(elsewhere)) == before


@pytest.mark.parametrize("form", FORM_PARAMS)
def test_a_line_of_others_is_replaced_and_not_followed(hostile: Lab, form: str) -> None:
    """A server writes its line by rename; the file that a link names keeps its content."""
    elsewhere = hostile.base / "elsewhere"
    FORMS[form](hostile.state / "lines/primary", elsewhere)
    before = snapshot(elsewhere)
    hostile.majordomus("serve", "ensure")
    assert hostile.majordomus("brief", "--line").returncode == 0
    assert snapshot(elsewhere) == before


def test_a_wider_mode_of_ours_is_mended_and_serves(hostile: Lab) -> None:
    """A state folder that somebody made under umask 000 is the user's alone once a server starts in it."""
    Path(hostile.common_dir).chmod(0o775)
    for path in (hostile.state, *hostile.state.rglob("*")):
        widen(path)
    assert hostile.majordomus("serve", "ensure").returncode == 0
    assert "koda" in hostile.majordomus("lock", "status").stdout
    modes = {stat.S_IMODE(path.lstat().st_mode) & 0o022 for path in (hostile.state, *hostile.state.rglob("*"))}
    assert modes == {0}
    assert stat.S_IMODE(os.stat(hostile.common_dir).st_mode) == 0o775


def test_under_umask_000_nothing_is_writable_by_others(lab: Lab) -> None:
    """Neither in the state nor in the work tree nor in the runtime folder, whoever makes it."""
    lab.commit()
    before = os.umask(0)
    try:
        for words in (
            "serve ensure",
            "lock place koda",
            "init",
            "queue refresh",
            "brief --line",
            "serve stop",
            "alerts list",
        ):
            lab.majordomus(*words.split(), env={"CLAUDE_CODE_SESSION_ID": SESSION})
        _hook(lab, "user-prompt-submit")
        lab.majordomus("capture", "install")
    finally:
        os.umask(before)
    made = [lab.state, *lab.state.rglob("*"), *(path for path in lab.repo.iterdir() if path.name != ".git")]
    made += [*(lab.repo / ".ai").rglob("*"), *(lab.repo / ".claude").rglob("*"), *lab.runtime.rglob("*")]
    assert len(made) > 10
    assert [str(path) for path in made if stat.S_IMODE(path.lstat().st_mode) & 0o022] == []


# ---------------------------------------------------------------- the git folder of another user


@needs_root
def test_a_git_folder_of_another_user_is_not_served(hostile: Lab) -> None:
    """Where git says "dubious ownership", no server is started or asked, and the sentence says what to do."""
    os.chown(hostile.common_dir, FOREIGN, FOREIGN)
    before = snapshot(hostile.state)
    _is_refused_as_foreign(hostile)
    assert snapshot(hostile.state) == before


def _is_refused_as_foreign(lab: Lab) -> None:
    for words in ("serve ensure", "lock place zeta"):
        done = lab.majordomus(*words.split(), env={"CLAUDE_CODE_SESSION_ID": SESSION})
        assert done.returncode == 1
        assert f"{lab.common_dir} belongs to uid {FOREIGN}, not to you" in done.stderr
        assert "safe.directory" in done.stderr
    _hook(lab, "session-start")
    assert lab.processes() == []


@needs_root
def test_a_git_folder_that_git_accepts_is_served(hostile: Lab) -> None:
    """Once `safe.directory` names the work tree, a state folder of our own in it serves commands and hooks."""
    os.chown(hostile.repo, FOREIGN, FOREIGN)
    os.chown(hostile.common_dir, FOREIGN, FOREIGN)
    settings = hostile.home / "gitconfig"
    settings.write_text(f"[safe]\n\tdirectory = {hostile.repo}\n")
    hostile.env["GIT_CONFIG_GLOBAL"] = str(settings)
    assert hostile.majordomus("serve", "ensure").returncode == 0
    told = json.loads(hostile.majordomus("brief", "--format", "json").stdout)
    assert told["answered_by"]["kind"] == "lease-holder"
    _hook(hostile, "session-start")
    assert SESSION in hostile.majordomus("episode", "list").stdout
    _hook(hostile, "session-end")
    assert SESSION not in hostile.majordomus("episode", "list").stdout
    settings.write_text("")
    assert json.loads(hostile.majordomus("brief", "--format", "json").stdout)["answered_by"]["kind"] == "self"


@needs_root
def test_a_repository_accepts_itself_in_vain(hostile: Lab) -> None:
    """What the repository's own configuration says of `safe.directory` counts for nothing."""
    hostile.git("config", "safe.directory", "*")
    os.chown(hostile.repo, FOREIGN, FOREIGN)
    os.chown(hostile.common_dir, FOREIGN, FOREIGN)
    _is_refused_as_foreign(hostile)
