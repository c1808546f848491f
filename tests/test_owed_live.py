"""What a session waits for, told by real commands to real sessions, also after the server that owed it has ended."""

from __future__ import annotations

import os
import signal

import pytest

from repo_fixture import ANN, BOB
from sandbox import Lab, until
from serving import lease

LINE = "fixed in KODA-12 on koda: update and resume (Dates are off)"


def say(lab: Lab, *words: str) -> str:
    """What a command prints, which must succeed."""
    done = lab.majordomus(*words)
    assert (done.returncode, done.stderr) == (0, ""), words
    return done.stdout


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_t8_after_a_restart(lab: Lab, ending: str) -> None:
    """T8: whom the server still owed a line when it ended is told it by the next server, once."""
    lab.commit()
    say(lab, "episode", "open", "--session", ANN)
    add = ["alerts", "add", "Dates are off", "--kind", "bug-dep", "--component", "koda", "--ticket", "KODA-12"]
    say(lab, *add, "--session", ANN)
    assert f"session {ANN} will be told in its next brief" in say(
        lab, "alerts", "done", "dates-are-off", "--session", BOB
    )
    if ending == "stop":
        say(lab, "serve", "stop")
    else:
        os.kill(lease(lab)["pid"], signal.SIGKILL)
    until(lambda: not lab.processes())
    assert LINE not in say(lab, "brief", "--session", ANN)
    say(lab, "serve", "ensure")
    say(lab, "brief", "--line", "--session", ANN)
    assert LINE not in say(lab, "brief", "--session", BOB)
    told = [LINE in say(lab, "brief", "--format", "prompt", "--session", ANN) for _ in range(2)]
    assert told == [True, False]
