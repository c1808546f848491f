"""`serve stop` holds: nothing but a person starts the server again, until the machine does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brief.core.policy.names import POLICY_FILE
from brief.fastpath.lease import STOPPED
from sandbox import Lab, until

ANN = "11ea511a-0000-4000-8000-000000000001"
AGAIN = "serve stop; majordomus serve ensure starts it again"
MODEL = {"CLAUDECODE": "1"}


@pytest.fixture
def stopped(lab: Lab) -> Lab:
    """A repository with a policy whose server a person stopped."""
    lab.commit()
    path = lab.repo / POLICY_FILE
    path.parent.mkdir(parents=True)
    path.write_text("version: 1\n")
    lab.start_server()
    assert lab.majordomus("serve", "stop").returncode == 0
    return lab


def serves(lab: Lab) -> bool:
    """Whether a server answers."""
    return lab.majordomus("serve", "status").returncode == 0


def test_neither_a_hook_nor_a_model_starts_it(stopped: Lab) -> None:
    """A session's start, a read and a model's writing command leave it stopped; the last one says what to do."""
    event = json.dumps({"session_id": ANN, "cwd": str(stopped.repo), "source": "startup"})
    assert stopped.majordomus("hook", "session-start", stdin=event).returncode == 0
    assert stopped.majordomus("brief").returncode == 0
    written = stopped.majordomus("alerts", "add", "hello", env=MODEL)
    assert (written.returncode, AGAIN in written.stderr) == (1, True)
    automatic = stopped.majordomus("serve", "ensure", "--unless-stopped")
    assert (automatic.returncode, AGAIN in automatic.stderr) == (1, True)
    assert not serves(stopped)


def test_everything_says_so(stopped: Lab) -> None:
    """The line, the page and the client's status line, with or without a last line to show."""
    status = json.dumps({"session_id": ANN, "workspace": {"current_dir": str(stopped.repo)}})
    assert stopped.majordomus("statusline", stdin=status).stdout.startswith("brief ? · stopped · ")
    (stopped.state / "lines").mkdir(exist_ok=True)
    (stopped.state / "lines/primary").write_text("peers 3\n")
    assert stopped.majordomus("statusline", stdin=status).stdout == "stopped, as of just now · peers 3\n"
    assert "stopped" in stopped.majordomus("brief", "--line").stdout.split(" · ")
    assert STOPPED in stopped.majordomus("brief").stdout


@pytest.mark.parametrize("words", [("serve", "ensure"), ("alerts", "add", "hello")])
def test_a_person_starts_it_again(words: tuple[str, ...], stopped: Lab) -> None:
    """From then on it starts by itself as before."""
    assert stopped.majordomus(*words).returncode == 0
    assert serves(stopped)
    assert not (stopped.state / "stopped").exists()


def test_it_holds_for_one_boot(stopped: Lab) -> None:
    """After the machine started anew the mark is another boot's and means nothing."""
    mark = stopped.state / "stopped"
    assert mark.read_text() == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    mark.write_text("another boot")
    assert "stopped" not in stopped.majordomus("brief", "--line").stdout
    assert stopped.majordomus("serve", "ensure", "--unless-stopped").returncode == 0


def test_stopping_what_does_not_run_holds_too(lab: Lab) -> None:
    """A person's word counts also where the server had ended by itself."""
    lab.commit()
    server = lab.start_server()
    server.kill()
    server.wait()
    assert lab.majordomus("serve", "stop").returncode == 0
    until((lab.state / "stopped").exists)
    assert lab.majordomus("serve", "ensure", "--unless-stopped").returncode == 1


def test_a_mark_that_cannot_be_read_holds(stopped: Lab) -> None:
    """Whether a person stopped the server is unknown then, so nothing starts it by itself; and stopping says why it fails."""
    mark = stopped.state / "stopped"
    mark.unlink()
    mark.mkdir()
    assert stopped.majordomus("serve", "ensure", "--unless-stopped").returncode == 1
    assert stopped.majordomus("serve", "ensure").returncode == 0
    done = stopped.majordomus("serve", "stop")
    assert done.returncode == 1
    assert f"a hook may start it again, since {mark} cannot be written (Is a directory)" in done.stderr
