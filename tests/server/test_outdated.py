"""A server under which its program was replaced, as real processes that run a copy of the source."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from brief import __version__
from brief.core.model.section_data import EpisodeState
from sandbox import SOURCE, Lab, until
from serving import answers, ask, finish, has_ended, lease, python, serve

pytestmark = pytest.mark.slow

NEW = "99.0.0"
OUTDATED = f"outdated: runs {__version__}, {NEW} is installed"

_WAITING = """
import asyncio, os
from brief.service import RepositoryService
real = RepositoryService.brief
async def wait(self, *args, **named):
    open(sys.argv[2] + "/asked", "w").close()
    while not os.path.exists(sys.argv[2] + "/go"):
        await asyncio.sleep(0.01)
    return await real(self, *args, **named)
RepositoryService.brief = wait
"""


@pytest.fixture
def installed(lab: Lab) -> Path:
    """A copy of the source from which every process of the lab runs."""
    source = lab.base / "source"
    shutil.copytree(SOURCE / "brief", source / "brief", ignore=shutil.ignore_patterns("__pycache__"))
    lab.env["PYTHONPATH"] = str(source)
    return source / "brief"


def upgrade(package: Path) -> None:
    """Install another version over the one that runs."""
    path = package / "__init__.py"
    path.write_text(path.read_text().replace(f'"{__version__}"', f'"{NEW}"'))


def status(lab: Lab) -> dict[str, Any]:
    """The status of the server."""
    told: dict[str, Any] = ask(lab, "GET", "/server").json()
    return told


def test_a_replaced_binary_is_told_and_replaces_the_server(lab: Lab, installed: Path) -> None:
    """Status and brief say what runs and what is installed, and `serve ensure` puts the new one in its place."""
    old = serve(lab)
    ask(lab, "POST", "/episodes", {"session": "kept"})
    assert (status(lab)["outdated"], ask(lab, "GET", "/brief").json()["notes"]) == (None, [])
    upgrade(installed)
    assert OUTDATED in lab.majordomus("serve", "status").stdout
    (note,) = ask(lab, "GET", "/brief").json()["notes"]
    assert note == f"the server is {OUTDATED}; majordomus serve ensure replaces it when idle"
    done = lab.majordomus("serve", "ensure")
    assert (done.returncode, done.stdout[:9]) == (0, "started: "), done
    assert f"version {NEW}" in done.stdout
    assert "outdated" not in done.stdout
    assert finish(old) == (0, "", "")
    (known,) = ask(lab, "GET", "/episodes").json()["open"]
    assert (known["episode"]["id"], known["liveness"]) == ("kept", "unheard")


def test_the_same_version_installed_again(lab: Lab, installed: Path) -> None:
    """If files of the same version replaced the running ones, the server is replaced as for another version."""
    old = serve(lab)
    assert status(lab)["outdated"] is None
    path = installed / "__init__.py"
    again = path.with_name("again")
    again.write_text(path.read_text())
    again.rename(path)
    told = f"outdated: runs {__version__}, which has been reinstalled since"
    assert status(lab)["outdated"] == told
    assert told in lab.majordomus("serve", "status").stdout
    assert lab.majordomus("serve", "ensure").stdout.startswith("started: ")
    assert finish(old)[0] == 0
    assert status(lab)["outdated"] is None


def test_a_command_that_writes_replaces_it_too(lab: Lab, installed: Path) -> None:
    """A command that writes first makes sure of a server that is not outdated."""
    old = serve(lab)
    upgrade(installed)
    assert lab.majordomus("episode", "open", "--session", "new").returncode == 0
    assert has_ended(old.pid)
    assert status(lab)["version"] == NEW


def _reinstall(package: Path) -> None:
    """Install the same version again: each file is another one of the same content."""
    path = package / "__init__.py"
    again = path.with_name("again")
    again.write_text(path.read_text())
    again.rename(path)


def test_a_command_that_writes_replaces_the_same_version_installed_again(lab: Lab, installed: Path) -> None:
    """A write is taken by a server of the files that are there now, and the next one by that very server."""
    old = serve(lab)
    _reinstall(installed)
    assert lab.majordomus("episode", "open", "--session", "first", spawn=True).returncode == 0
    assert has_ended(old.pid)
    pid = lease(lab)["pid"]
    assert lab.majordomus("episode", "open", "--session", "second", spawn=True).returncode == 0
    assert lease(lab)["pid"] == pid
    assert [one["episode"]["id"] for one in ask(lab, "GET", "/episodes").json()["open"]] == ["first", "second"]


def test_a_write_to_one_that_stays_is_done_and_tells_so(lab: Lab, installed: Path) -> None:
    """While a session waits for a person, the old server takes the write, once, and the person is informed."""
    old = serve(lab)
    ask(lab, "POST", "/episodes", {"session": "waits", "state": EpisodeState.WAITING})
    _reinstall(installed)
    done = lab.majordomus("episode", "open", "--session", "new", spawn=True)
    assert done.returncode == 0, done
    told = f"the server is outdated: runs {__version__}, which has been reinstalled since; it stays until it is idle"
    assert told in done.stderr
    assert lease(lab)["pid"] == old.pid
    assert sorted(one["episode"]["id"] for one in ask(lab, "GET", "/episodes").json()["open"]) == ["new", "waits"]


def test_ten_that_replace_it_at_once_leave_one_server(lab: Lab, installed: Path) -> None:
    """However many find it outdated at the same time, it is ended once and nobody ends the new one."""
    old = serve(lab)
    upgrade(installed)
    starts = [python(lab, "from brief.cli.main import main; sys.exit(main(['serve', 'ensure']))") for _ in range(10)]
    ended = [finish(start, 60.0) for start in starts]
    assert [code for code, _, _ in ended] == [0] * 10, ended
    assert finish(old)[0] == 0
    pid = lease(lab)["pid"]
    assert all(f"pid {pid} holds" in out and f"version {NEW}" in out for _, out, _ in ended), ended


def test_it_stays_while_a_session_waits_for_a_human(lab: Lab, installed: Path) -> None:
    """The next server could not tell that somebody waits, so the old one stays until nobody does."""
    old = serve(lab)
    waiting = {"session": "waits", "state": EpisodeState.WAITING}
    ask(lab, "POST", "/episodes", waiting)
    upgrade(installed)
    done = lab.majordomus("serve", "ensure")
    assert (done.returncode, done.stdout[:15]) == (0, "already there: "), done
    assert "it stays until it is idle (sessions that wait for a person: 1)\n" in done.stdout
    assert json.loads(lab.majordomus("serve", "ensure", "--format", "json").stdout)["outdated"] == OUTDATED
    ask(lab, "POST", "/episodes", waiting | {"state": EpisodeState.BUSY})
    assert lab.majordomus("serve", "ensure").stdout.startswith("started: ")
    assert finish(old)[0] == 0


def test_it_stays_while_a_call_is_under_way(lab: Lab, installed: Path) -> None:
    """Nobody who asked is cut off for the sake of a newer version."""
    old = serve(lab, _WAITING)
    with ThreadPoolExecutor() as callers:
        answer = callers.submit(ask, lab, "GET", "/brief")
        until((lab.repo / "asked").exists)
        upgrade(installed)
        assert "it stays until it is idle (calls in progress: 1)\n" in lab.majordomus("serve", "ensure").stdout
        (lab.repo / "go").touch()
        assert answer.result().status == 200
    assert lab.majordomus("serve", "ensure").stdout.startswith("started: ")
    assert finish(old)[0] == 0


def test_files_that_are_gone_are_told(lab: Lab, installed: Path) -> None:
    """A server whose program was removed says so, and a command of another installation replaces it."""
    old = serve(lab)
    shutil.rmtree(installed)
    gone = f"outdated: runs {__version__}, whose files are gone"
    assert status(lab)["outdated"] == gone
    lab.env["PYTHONPATH"] = str(SOURCE)
    assert gone in lab.majordomus("serve", "status").stdout
    assert lab.majordomus("serve", "ensure").stdout.startswith("started: ")
    assert finish(old)[0] == 0
    assert answers(lab)
    assert status(lab)["outdated"] is None
