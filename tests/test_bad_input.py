"""What a first user may meet: each is a clear sentence, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.brief import Brief, IntegrationSection, PeersSection
from brief.core.model.wire import from_json, to_json, to_plain
from brief.core.policy.names import POLICY_FILE
from brief.fastpath.process import describe_process
from brief.policy import NO_POLICY
from impostor import socket_in
from sandbox import Lab, until

HOSTILE_BRANCH = "evil-\u202etopic\u2066"
OFF = "session.brief_on_interval is not true: "


def brief(lab: Lab, at: Path | None = None) -> Brief:
    """The brief of a checkout."""
    done = lab.majordomus("brief", "--format", "json", cwd=at)
    assert (done.returncode, done.stderr) == (0, "")
    return from_json(Brief, done.stdout)


def refused(lab: Lab, *words: str, at: Path | None = None) -> str:
    """The sentence that a command ends with, exit code 2."""
    done = lab.majordomus(*words, cwd=at)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("majordomus: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("majordomus: ").rstrip("\n")


def policy(lab: Lab, text: str, at: Path | None = None) -> None:
    """Write a policy."""
    path = (at or lab.repo) / POLICY_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# ---------------------------------------------------------------- the repository


@pytest.mark.parametrize("words", ["brief", "peers list", "episode open", "serve ensure", "serve run", "init", "trust"])
def test_not_a_repository(lab: Lab, words: str) -> None:
    """Outside of every repository each command says where it looked and what to do."""
    told = f"{lab.home} is not in a git repository; go to a checkout, or name one with --root"
    assert refused(lab, *words.split(), at=lab.home) == told


def test_bare(lab: Lab) -> None:
    """A bare repository is reported as bare."""
    bare = lab.base / "bare"
    lab.git("init", "-q", "--bare", str(bare))
    assert refused(lab, "brief", at=bare).startswith(f"{bare} is a bare repository without a work tree; once it")


def test_worktree_of_a_bare_repository(lab: Lab) -> None:
    """A worktree of a bare repository is a checkout like others, with a server too."""
    lab.commit()
    bare, tree = lab.base / "bare", lab.base / "tree"
    lab.git("clone", "-q", "--bare", str(lab.repo), str(bare))
    lab.git("worktree", "add", "-q", str(tree), "main", cwd=bare)
    assert brief(lab, tree).repository.branch == "main"
    assert lab.majordomus("episode", "open", cwd=tree).returncode == 0
    assert brief(lab, tree).answered_by.kind == "lease-holder"


@pytest.mark.parametrize("server", [False, True])
def test_no_commit(lab: Lab, server: bool) -> None:
    """A repository without a commit has a brief, with and without a server, which says what is known of its queue."""
    if server:
        lab.start_server()
    got = brief(lab)
    assert (got.repository.branch, got.repository.head, got.repository.detached) == ("main", None, False)
    assert "on main with no commit yet" in lab.majordomus("brief").stdout
    done = lab.majordomus("queue", "refresh")
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


def test_detached_head(lab: Lab) -> None:
    """A detached head has a commit and no branch."""
    head = lab.commit()
    lab.git("checkout", "-q", "--detach")
    got = brief(lab)
    assert (got.repository.branch, got.repository.head, got.repository.detached) == (None, head, True)
    assert f"detached at {head[:9]}" in lab.majordomus("brief").stdout
    assert lab.majordomus("episode", "open").returncode == 0


def test_branch_that_would_steer_a_terminal(lab: Lab) -> None:
    """A branch name with bidirectional characters is an identity in the data, and harmless wherever it is shown."""
    lab.commit()
    tree = lab.worktree("evil", HOSTILE_BRANCH)
    lab.commit(cwd=tree)
    lab.majordomus("episode", "open", cwd=tree)
    lab.majordomus("queue", "refresh")
    got = brief(lab)
    peers = next(section for section in got.sections if isinstance(section, PeersSection))
    queue = next(section for section in got.sections if isinstance(section, IntegrationSection))
    assert peers.data is not None
    assert queue.data is not None
    assert peers.data.peers[0].branch == queue.data.queue[0].name == HOSTILE_BRANCH
    commands = ["brief --line", "brief", "brief --format prompt", "brief --format json", "peers list", "episode list"]
    for words in [*commands, "queue show", "queue show --format json"]:
        for at in (lab.repo, tree):
            printed = lab.majordomus(*words.split(), cwd=at).stdout
            assert printed
            assert all(char.isprintable() or char == "\n" for char in printed), words


def test_worktree_whose_folder_is_gone(lab: Lab) -> None:
    """A session in a removed worktree learns that it is gone, and the others see it as gone."""
    lab.commit()
    tree = lab.worktree("gone")
    done = subprocess.run(
        ["sh", "-c", 'rm -r "$1" && exec "$0" -m brief brief', sys.executable, tree],
        cwd=tree,
        env=lab.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "majordomus: the current folder is gone; go to another, or name a checkout with --root\n"
    lab.start_server()
    assert "gone is gone: its folder is missing" in lab.majordomus("brief").stdout
    assert refused(lab, "brief", "--root", str(tree)).startswith(f"{tree} is not a folder")


def test_subdirectory_of_a_worktree(lab: Lab) -> None:
    """Any folder below a checkout means that checkout, for what is read and for what is written."""
    lab.commit()
    tree = lab.worktree("tree")
    deep = tree / "src/deep"
    deep.mkdir(parents=True)
    assert brief(lab, deep).repository.root == str(tree)
    assert lab.majordomus("episode", "open", cwd=deep).stdout.endswith(f"is open in {tree} on tree\n")
    assert lab.majordomus("init", cwd=deep).stdout.startswith(f"{tree / POLICY_FILE}: written")
    assert lab.majordomus("brief", "--root", "src/deep", cwd=tree).stdout.count(str(tree)) == 1


def test_two_worktrees_keep_apart(lab: Lab) -> None:
    """Two worktrees, at one and the same time, never show each other's episode, task, branch or policy as their own."""
    lab.commit()
    trees = [lab.worktree("one"), lab.worktree("two")]
    for tree, minutes in zip(trees, (7, 9), strict=True):
        policy(lab, f"session: {{brief_interval_minutes: {minutes}}}\n", tree)
        lab.majordomus("episode", "open", "--session", f"of-{tree.name}", cwd=tree)
        lab.majordomus("task", "set", f"task of {tree.name}", cwd=tree)
    for tree, minutes in zip(trees * 3, (7, 9) * 3, strict=True):
        got = brief(lab, tree)
        state = to_plain(got.sections[0])["data"]
        assert (got.repository.root, got.repository.branch, got.interval_minutes) == (str(tree), tree.name, minutes)
        assert (state["episode"]["id"], state["task"]["title"]) == (f"of-{tree.name}", f"task of {tree.name}")
        assert got.line.startswith(f"task of {tree.name}")
        peers = next(section for section in got.sections if isinstance(section, PeersSection))
        assert peers.data is not None
        assert [peer.episode for peer in peers.data.peers] == [f"of-{other.name}" for other in trees if other != tree]


def test_spaces_and_letters_of_any_alphabet() -> None:
    """A home, a runtime folder and a repository with spaces and non-ASCII letters work like others."""
    with Lab("můj repo ščř") as lab:
        for name in ("HOME", "XDG_RUNTIME_DIR"):
            folder = lab.base / f"ďom {name.lower()}"
            folder.mkdir(mode=0o700)
            lab.env[name] = str(folder)
        lab.runtime = Path(lab.env["XDG_RUNTIME_DIR"])
        lab.env["XDG_CONFIG_HOME"] = f"{lab.env['HOME']}/.config ě"
        lab.commit()
        tree = lab.worktree("strom s mezerou", "větev")
        policy(lab, "server: {port: 8123}\n", tree)
        assert lab.majordomus("trust", cwd=tree).stdout == "server.port 8123: trusted\n"
        assert lab.majordomus("episode", "open", cwd=tree).returncode == 0
        assert lab.majordomus("task", "set", "příliš žluťoučký", cwd=tree).returncode == 0
        got = brief(lab)
        assert got.answered_by.kind == "lease-holder"
        assert got.repository.root == str(lab.repo)
        assert "příliš žluťoučký" in to_json(got)
        assert "příliš žluťoučký" in lab.majordomus("statusline", cwd=tree).stdout


def test_bytes_that_are_no_utf8() -> None:
    """A repository whose path is not UTF-8 has a server and a brief, with the stray bytes escaped."""
    with Lab(os.fsdecode(b"r\xe9po")) as lab:
        lab.commit()
        assert lab.majordomus("episode", "open", "--session", "one").returncode == 0
        got = brief(lab)
        assert (got.answered_by.kind, got.repository.root) == ("lease-holder", f"{lab.base}/r\\xe9po")
        assert "peers 0" in lab.majordomus("statusline").stdout


# ---------------------------------------------------------------- the lease


def lease(lab: Lab, **changes: Any) -> str:
    """A lease that names this very process, which is not a server, with the changes that the test wants."""
    record = {
        "epoch": 7,
        **describe_process(os.getpid()),
        "common_dir": lab.common_dir,
        "socket": str(socket_in(Path("/nowhere"), lab.common_dir)),
    }
    return json.dumps({**record, **changes})


LEASES: dict[str, tuple[str | dict[str, Any], str]] = {
    "empty": ("", "is damaged, so no server can be found by it"),
    "truncated": ('{"schema": "majordomus.lease/v1", "epo', "is damaged, so no server can be found by it"),
    "another boot": ({"boot_id": "00000000-0000-0000-0000-000000000000"}, "ended with the machine's last run"),
    "a live foreign pid": ({"process_start": 1}, "is gone and left its lease behind"),
    "a live process that is no server": ({}, "does not answer at /nowhere/majordomus/"),
}


@pytest.mark.parametrize("case", LEASES)
def test_lease(lab: Lab, case: str) -> None:
    """A lease that names no server is reported as what it is, and a server takes over without harming the named process."""
    lab.commit()
    written, why = LEASES[case]
    lab.state.mkdir()
    (lab.state / "lease.json").write_text(written if isinstance(written, str) else lease(lab, **written))
    got = brief(lab)
    assert got.answered_by.reason is not None
    assert why in got.answered_by.reason
    assert got.answered_by.reason.endswith("; start one with majordomus serve ensure")
    assert "peers" in got.unread
    assert why in lab.majordomus("peers", "list").stderr
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert brief(lab).answered_by.kind == "lease-holder"
    assert json.loads((lab.state / "lease.json").read_text())["epoch"] > 7


# ---------------------------------------------------------------- the policy


def test_misspelt_key(lab: Lab) -> None:
    """A misspelt key is refused with the nearest one; the brief names it and keeps every other."""
    policy(lab, "session:\n  breif_on_interval: true\n  brief_interval_minutes: 7\n")
    told = refused(lab, "policy", "check")
    assert "breif_on_interval" in told
    assert "brief_on_interval" in told.replace("breif_on_interval", "")
    got = brief(lab)
    assert (got.interval_minutes, got.on_interval) == (7, False)
    assert any("breif_on_interval" in note for note in got.notes)
    assert "breif_on_interval" in got.summary


def test_wrong_type(lab: Lab) -> None:
    """A value of a wrong type is refused by key and value; the brief names it and keeps every other."""
    policy(lab, "session:\n  brief_interval_minutes: 7\n  wake_limit: [1]\nserver: text\n")
    done = lab.majordomus("policy", "check")
    assert done.returncode == 2
    assert "session.wake_limit" in done.stderr
    assert "server" in done.stderr
    got = brief(lab)
    assert got.interval_minutes == 7
    assert len(got.notes) == 2


@pytest.mark.parametrize(
    "value", ["0", "-1", "1.5", '"20"', "1441", "1e9", "true", ".nan", "nan", "20.0", "null", "[]"]
)
def test_interval_refused(lab: Lab, value: str) -> None:
    """An interval that is not a whole number from 1 to 1440 is refused by name and value, never rounded."""
    policy(lab, f"session:\n  brief_interval_minutes: {value}\n")
    told = refused(lab, "policy", "check")
    assert "session.brief_interval_minutes" in told
    assert value.strip('"') in told
    got = brief(lab)
    assert got.interval_minutes == 20
    assert any("session.brief_interval_minutes" in note for note in got.notes)


@pytest.mark.parametrize("value", [1, 20, 1440])
def test_interval_taken(lab: Lab, value: int) -> None:
    """The bounds themselves are taken."""
    policy(lab, f"session:\n  brief_interval_minutes: {value}\n")
    assert lab.majordomus("policy", "check").returncode == 0
    assert brief(lab).interval_minutes == value


@pytest.mark.parametrize(
    ("value", "which"),
    [
        ('"true"', f'{POLICY_FILE} sets it to "true", which is text, and only true turns it on'),
        ("yes", f"{POLICY_FILE} sets it to yes, which is text, and only true turns it on"),
        ("on", f"{POLICY_FILE} sets it to on, which is text, and only true turns it on"),
        ("1", f"{POLICY_FILE} sets it to 1, which is a whole number, and only true turns it on"),
        ("null", f"{POLICY_FILE} sets it to null, and only true turns it on"),
        ("false", f"{POLICY_FILE} sets it to false"),
    ],
)
def test_switch_is_off(lab: Lab, value: str, which: str) -> None:
    """Only true turns the interval on, and the brief says which value did not."""
    policy(lab, f"session:\n  brief_on_interval: {value}\n")
    got = brief(lab)
    assert (got.on_interval, got.on_interval_reason) == (False, OFF + which)
    assert f"Not briefed on an interval: {OFF}{which}\n" in lab.majordomus("brief").stdout


def test_switch_is_absent(lab: Lab) -> None:
    """Without the key, and without a policy, the interval is off, and the brief says which of the two."""
    assert brief(lab).on_interval_reason == NO_POLICY
    policy(lab, "version: 1\n")
    assert brief(lab).on_interval_reason == f"{OFF}{POLICY_FILE} does not set it"


def test_switch_is_on(lab: Lab) -> None:
    """True turns it on."""
    policy(lab, "session:\n  brief_on_interval: true\n")
    got = brief(lab)
    assert (got.on_interval, got.on_interval_reason) == (True, None)
    assert "\nThe policy asks for a brief every 20 minutes; majordomus wake list" in lab.majordomus("brief").stdout


# ---------------------------------------------------------------- around the server


def foreign(folder: Path) -> None:
    """Give the folder to somebody else."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a folder to another user")
    folder.mkdir(mode=0o700)
    os.chown(folder, 12_345, 12_345)


def linked(folder: Path) -> None:
    """Put a link in the folder's place."""
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


def opened(folder: Path) -> None:
    """Let others write into the folder."""
    folder.mkdir()
    folder.chmod(0o777)


def filed(folder: Path) -> None:
    """Put a file in the folder's place."""
    folder.touch()


FOLDERS = {
    "a link": (linked, "is a link, whose target may change; put a real folder there"),
    "too open": (opened, "is open to others (mode 777); run chmod 700"),
    "a file": (filed, "is not a folder; remove it"),
    "another's": (foreign, "belongs to uid 12345, not to you; set XDG_RUNTIME_DIR to a folder of yours"),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_runtime_folder(lab: Lab, case: str) -> None:
    """A runtime folder in which others could put a socket is refused in a sentence; the brief comes all the same."""
    spoil, why = FOLDERS[case]
    spoil(lab.runtime / "majordomus")
    done = lab.majordomus("serve", "ensure")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("majordomus: ")
    assert f"{lab.runtime}/majordomus {why}" in done.stderr
    assert brief(lab).answered_by.kind == "self"
    assert "Traceback" not in lab.majordomus("task", "set", "x").stderr
    assert lab.processes() == []


def test_unlinked_log(lab: Lab) -> None:
    """A server whose log was removed writes it anew and answers as before."""
    lab.commit()
    lab.start_server()
    log = lab.state / "server.log"
    log.unlink()
    assert brief(lab).answered_by.kind == "lease-holder"
    lab.majordomus("serve", "stop")
    until(log.exists)
    assert json.loads(log.read_text().splitlines()[-1])["event"] == "ended"
