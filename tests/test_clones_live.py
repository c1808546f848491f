"""Servers of one repository in several clones, as real processes: they find each other and ask each other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.ask import ask
from brief.fastpath.lease import NoServerError, read_lease
from neighbourhood import entry, listed, listening, saying, silent
from sandbox import Lab, until
from serving import exchange

pytestmark = pytest.mark.slow


@pytest.fixture
def clones(lab: Lab) -> tuple[Path, Path]:
    """The repository and a clone of it, each with a server and a session: `own` and `other`."""
    lab.commit()
    other = clone_of(lab, "other")
    for checkout, session in ((lab.repo, "own"), (other, "other")):
        lab.start_server(root=checkout)
        opened(lab, checkout, session)
    return lab.repo, other


def clone_of(lab: Lab, name: str) -> Path:
    """A clone of the repository."""
    folder = lab.base / name
    lab.git("clone", "-q", str(lab.repo), str(folder))
    return folder


def opened(lab: Lab, checkout: Path, session: str) -> None:
    """Open a session, which starts the server of the checkout."""
    done = lab.majordomus("episode", "open", "--session", session, cwd=checkout)
    assert done.returncode == 0, done.stderr


def ensured(lab: Lab, checkout: Path) -> dict[str, Any]:
    """The server that holds the repository, started if need be."""
    done = lab.majordomus("serve", "ensure", "--format", "json", cwd=checkout)
    assert done.returncode == 0, done.stderr
    status: dict[str, Any] = json.loads(done.stdout)
    return status


def peers(lab: Lab, checkout: Path) -> dict[str, Any]:
    """The section that a command in the checkout gets of its server."""
    done = lab.majordomus("peers", "list", "--format", "json", cwd=checkout)
    assert done.returncode == 0, done.stderr
    section: dict[str, Any] = json.loads(done.stdout)
    return section


def conditions(section: dict[str, Any]) -> dict[str, tuple[str, int | None]]:
    """Every board of another server by its path: how it stands, and its count."""
    boards = section["data"]["boards"]
    return {board["path"]: (board["condition"], board["count"]) for board in boards if board["kind"] != "checkout"}


def sessions(section: dict[str, Any]) -> set[str]:
    """The peers in the answer."""
    return {peer["episode"] for peer in section["data"]["peers"]}


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that does not run for a while."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_clones_see_each_other(lab: Lab, clones: tuple[Path, Path]) -> None:
    """Each server tells the other's board and sessions, and a repository of another history is nobody."""
    own, other = clones
    stranger = lab.base / "stranger"
    stranger.mkdir()
    lab.git("init", "-q", cwd=stranger)
    lab.commit("another beginning", cwd=stranger, at=1)
    opened(lab, stranger, "stranger")
    for here, there, met in ((own, other, "other"), (other, own, "own")):
        section = peers(lab, here)
        assert (section["status"], section["headline"]) == ("read", "1 other session in 1 checkout and 1 clone")
        assert conditions(section) == {str(there): ("ready", 1)}
        assert sessions(section) == {met}
    assert conditions(peers(lab, stranger)) == {}


def test_a_server_asked_by_another_asks_nobody(lab: Lab, clones: tuple[Path, Path]) -> None:
    """With `local` a server tells its own boards and everybody on them, and says that it holds."""
    own, _ = clones
    answer = ask(lab.common_dir, "GET", "/peers", [("root", str(own)), ("local", "true")])
    section = answer.json()
    assert answer.headers["majordomus-lease"] == "holds"
    assert [board["kind"] for board in section["data"]["boards"]] == ["checkout"]
    assert sessions(section) == {"own"}


def test_local_is_no_option_of_the_command(lab: Lab) -> None:
    """It is a word between servers."""
    done = lab.majordomus("peers", "list", "--local")
    assert done.returncode == 2
    assert "--local" in done.stderr


def test_a_clone_that_ended_leaves_no_board(lab: Lab, clones: tuple[Path, Path]) -> None:
    """A server that was killed leaves its entry behind, and the next one that looks removes it."""
    own, other = clones
    killed = ensured(lab, other)
    entry_file = lab.runtime / f"majordomus/servers/{killed['epoch']}.json"
    assert entry_file.exists()
    os.kill(killed["pid"], signal.SIGKILL)
    until(lambda: conditions(peers(lab, own)) == {})
    assert not entry_file.exists()
    assert peers(lab, own)["status"] == "read"


def told_peers(lab: Lab, checkout: Path, session: str) -> dict[str, Any]:
    """The section of the brief that a session reads in a checkout."""
    done = lab.majordomus("brief", "--format", "json", "--session", session, cwd=checkout)
    section: dict[str, Any] = next(one for one in json.loads(done.stdout)["sections"] if one["name"] == "peers")
    return section


def all_standings(section: dict[str, Any]) -> set[tuple[str, str, str, int | None]]:
    """Every board: its kind, its path, how it stands, and its count."""
    return {(one["kind"], one["path"], one["condition"], one["count"]) for one in section["data"]["boards"]}


def test_three_worktrees_and_two_clones_one_stopped_and_one_superseded(lab: Lab) -> None:
    """The brief of each session names every board with its condition, counts those really read, and is partial."""
    lab.commit()
    trees = [lab.repo, lab.worktree("one"), lab.worktree("two")]
    hung, replaced = clone_of(lab, "hung"), clone_of(lab, "replaced")
    for checkout, session in zip([*trees[:2], hung, replaced], ["s0", "s1", "s2", "s3"], strict=True):
        opened(lab, checkout, session)
    old = ensured(lab, replaced)
    (replaced / ".git/majordomus/lease.lock").unlink()
    (replaced / ".git/majordomus/lease.json").unlink()
    assert ensured(lab, replaced)["epoch"] > old["epoch"]
    silent_board: tuple[str, str, str, int | None] = ("clone", str(hung), "silent", None)
    superseded_board = ("clone", str(replaced), "superseded", 1)
    with stopped(ensured(lab, hung)["pid"]):
        for checkout, session, met in ((trees[0], "s0", "s1"), (trees[1], "s1", "s0"), (trees[2], "s0", "s1")):
            section = told_peers(lab, checkout, session)
            counts = zip(trees, (1, 1, 0), strict=True)
            own = {("checkout", str(path), "ready", count) for path, count in counts}
            assert all_standings(section) == {
                *own,
                silent_board,
                superseded_board,
                ("clone", str(replaced), "ready", 1),
            }
            assert (section["status"], section["data"]["count"]) == ("partial", 2)
            assert sessions(section) == {met, "s3"}
            assert f"clone {hung} is silent" in section["reason"]
        section = told_peers(lab, replaced, "s3")
        met_boards = {("checkout", str(replaced), "ready", 1), ("clone", str(lab.repo), "ready", 2)}
        superseded_board = ("server", str(replaced), "superseded", 1)
        assert all_standings(section) == {*met_boards, silent_board, superseded_board}
        assert (section["status"], section["data"]["count"]) == ("partial", 2)
        assert sessions(section) == {"s0", "s1"}
        section = told_peers(lab, hung, "s2")
        assert (section["status"], section["data"]) == ("unread", None)
        assert "holds and is silent" in section["reason"]


def test_a_line_says_that_somebody_may_be_missing(lab: Lab, clones: tuple[Path, Path]) -> None:
    """The number of peers is marked where a clone could not be read."""
    own, other = clones
    with stopped(ensured(lab, other)["pid"]):
        assert "peers 0…?" in lab.majordomus("brief", "--line", "--session", "own", cwd=own).stdout
        assert lab.majordomus("peers", "list", "--strict", cwd=own).returncode == 10


def test_a_copied_repository_gets_a_server_of_its_own(lab: Lab, clones: tuple[Path, Path]) -> None:
    """The original's server never answers for the copy; each then sees the other as a clone, every session once."""
    own, other = clones
    copy = lab.base / "copy"
    subprocess.run(["cp", "-a", str(own), str(copy)], check=True)
    with pytest.raises(NoServerError, match=rf"lease.json was written for {own}/.git: this repository was moved or "):
        ask(f"{copy}/.git", "GET", "/peers", [("root", str(copy))])
    brief = json.loads(lab.majordomus("brief", "--format", "json", cwd=copy).stdout)
    assert brief["answered_by"]["kind"] == "self"
    original, server = ensured(lab, own), ensured(lab, copy)
    assert server["epoch"] > original["epoch"]
    assert server["pid"] != original["pid"]
    assert server["socket"] != original["socket"]
    assert conditions(peers(lab, own)) == {str(copy): ("ready", 0), str(other): ("ready", 1)}
    section = peers(lab, copy)
    assert conditions(section) == {str(own): ("ready", 1), str(other): ("ready", 1)}
    assert [board["path"] for board in section["data"]["boards"] if board["kind"] == "checkout"] == [str(copy)]
    assert sessions(section) == {"own", "other"}


def test_a_moved_repository_gets_its_server_back(lab: Lab, clones: tuple[Path, Path]) -> None:
    """The server of the old path ends, since what it stored lies there no more, and one at the new path can hold."""
    own, other = clones
    before = ensured(lab, own)
    moved = lab.base / "moved"
    own.rename(moved)
    after = ensured(lab, moved)
    assert after["pid"] != before["pid"]
    assert after["epoch"] > before["epoch"]
    assert after["common_dir"] == f"{moved}/.git"
    assert read_lease(f"{moved}/.git")["common_dir"] == f"{moved}/.git"
    told = conditions(peers(lab, other))
    assert told[str(moved)] == ("ready", 1)
    assert told.get(str(own), ("superseded", 1))[0] == "superseded"


def test_a_path_that_is_taken_again_is_another_repository(lab: Lab, clones: tuple[Path, Path]) -> None:
    """A clone made where a repository was moved away from has a server of its own at once."""
    own, other = clones
    before = ensured(lab, own)
    own.rename(lab.base / "moved")
    lab.git("clone", "-q", str(other), str(own), cwd=other)
    after = ensured(lab, own)
    assert after["pid"] != before["pid"]
    told = conditions(peers(lab, own))
    assert told[str(own)][0] == "superseded"
    assert told[str(other)] == ("ready", 1)


def test_whatever_answers_a_brief_comes(lab: Lab, clones: tuple[Path, Path]) -> None:
    """Servers that answer nothing, garbage, 50 MB or like an older version spoil no answer, and all are reported."""
    own, _ = clones
    runtime = lab.runtime / "majordomus"
    roots = (lab.git("rev-parse", "HEAD"),)
    fakes = {
        "mute": silent,
        "garbage": lambda connection: connection.sendall(b"\x00\xff\n"),
        "flood": lambda connection: [connection.sendall(b"x" * 1_048_576) for _ in range(50)],
    }
    with contextlib.ExitStack() as running:
        for name, behave in fakes.items():
            made = entry(runtime, name, roots=roots)
            listed(runtime, made)
            running.enter_context(listening(made, behave))
        old = entry(runtime, "old", roots=roots, version="0.0.1")
        listed(runtime, old)
        body = json.dumps({"error": "local is not a parameter here", "kind": "UsageError", "exit_code": 2}).encode()
        running.enter_context(listening(old, saying(old, body, status=400)))
        (runtime / "servers/1.json").write_text("{")
        section = peers(lab, own)
    named = {Path(path).name: told for path, told in conditions(section).items()}
    assert named == {
        "mute": ("silent", None),
        "garbage": ("refused", None),
        "flood": ("refused", None),
        "old": ("other-version", None),
        "other": ("ready", 1),
    }
    assert section["status"] == "partial"
    assert section["data"]["count"] == 1
    assert "servers/1.json is not a server's entry" in section["reason"]


def test_a_superseded_server_tells_its_board_and_its_holders(lab: Lab) -> None:
    """It says what it is and that its peers are partial; neither it nor its holder takes the other for a clone."""
    opened(lab, lab.repo, "first")
    old = read_lease(lab.common_dir)
    (lab.state / "lease.lock").unlink()
    (lab.state / "lease.json").unlink()
    opened(lab, lab.repo, "second")
    told = json.loads(_body(old["socket"], f"/brief?root={lab.repo}&session=asks"))
    assert told["answered_by"]["kind"] == "superseded"
    section = next(one for one in told["sections"] if one["name"] == "peers")
    assert (section["status"], sessions(section)) == ("partial", {"first", "second"}), section
    assert "its own board is out of reach" in section["reason"]
    assert [board["kind"] for board in section["data"]["boards"]] == ["checkout", "server"]
    page = _body(old["socket"], f"/brief?root={lab.repo}&format=text").decode()
    assert "composed by a superseded server" in page
    assert "this command alone" not in page
    section = peers(lab, lab.repo)
    assert [board["kind"] for board in section["data"]["boards"]] == ["checkout", "server"]


def test_a_superseded_server_asks_its_holder_alone(lab: Lab, clones: tuple[Path, Path]) -> None:
    """No clone is asked, and the holder is asked for its own board: no question goes round."""
    own, other = clones
    old = read_lease(f"{own}/.git")
    (own / ".git/majordomus/lease.lock").unlink()
    ensured(lab, own)
    section = json.loads(_body(old["socket"], f"/peers?root={own}"))
    assert [board["kind"] for board in section["data"]["boards"]] == ["checkout", "server"]
    assert str(other) not in [board["path"] for board in section["data"]["boards"]]


def _body(socket: str, path: str) -> bytes:
    """The answer of the server at a socket, even if no lease names it any more."""
    request = f"GET /api/v1{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    return exchange(socket, request.encode()).partition(b"\r\n\r\n")[2]
