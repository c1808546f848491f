"""A server in a process and mount namespace of its own, as a development container has them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from sandbox import Lab, until
from serving import has_ended

_UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc"]
_OWN_RUNTIME = 'mount -t tmpfs -o mode=700 none "$XDG_RUNTIME_DIR" && exec "$@"'


@pytest.fixture
def contained(lab: Lab) -> Iterator[Lab]:
    """A lab whose server runs in a container that has the repository, and a runtime folder of its own."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare, to make a container")
    if subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no namespaces")
    argv = [*_UNSHARE, "sh", "-c", _OWN_RUNTIME, "sh", sys.executable, "-m", "brief", "serve", "run"]
    silent = subprocess.DEVNULL
    with subprocess.Popen(argv, cwd=lab.repo, env=lab.env, stdin=silent, stdout=silent, stderr=silent) as outer:
        until((lab.state / "lease.json").exists)
        yield lab
        for pid in lab.processes():
            os.kill(pid, 9)
        outer.wait(10)


def test_it_is_out_of_reach_and_lives_on(contained: Lab) -> None:
    """Every command says so, with what to do, and none waits for it, starts another or ends it."""
    held = set(contained.processes())
    for words, code in (
        (("serve", "ensure"), 1),
        (("serve", "status"), 1),
        (("serve", "stop"), 1),
        (("episode", "open", "--session", "s"), 1),
        (("peers", "list"), 1),
        (("brief",), 0),
    ):
        done = contained.majordomus(*words)
        said = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == code, (words, done)
        assert f"a server holds {contained.common_dir} and is out of reach from here" in said, (words, said)
        assert "stop it there with majordomus serve stop" in said, (words, said)
    assert set(contained.processes()) == held
    assert not any(has_ended(pid) for pid in held)
