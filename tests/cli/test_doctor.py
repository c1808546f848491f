from __future__ import annotations

import json

import pytest

from sandbox import Lab


def test_well(lab: Lab) -> None:
    """In a sound repository the command exits 0 and every line begins with ok."""
    done = lab.majordomus("doctor")
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines()} == {"ok"}
    assert done.stderr == ""


@pytest.mark.parametrize("form", ["text", "json"])
def test_broken(lab: Lab, form: str) -> None:
    """With a damaged database the command tells it on standard output and exits 1."""
    lab.state.mkdir()
    (lab.state / "majordomus.db").write_text("no database")
    done = lab.majordomus("doctor", "--format", form)
    assert done.returncode == 1
    if form == "json":
        document = json.loads(done.stdout)
        assert document["schema"] == "majordomus.doctor/v1"
        assert [one["name"] for one in document["findings"] if one["level"] == "fail"] == ["database"]
    else:
        assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("fail")] == ["database"]


def test_broken_repository(lab: Lab) -> None:
    """Where git's own folder is broken, and outside of any, the command still tells what it could look at."""
    (lab.repo / ".git/HEAD").unlink()
    for folder in (lab.repo, lab.home):
        done = lab.majordomus("doctor", cwd=folder)
        assert done.returncode == 1
        assert done.stdout.startswith("fail  repository")
        assert "\nok    git " in done.stdout


def test_root(lab: Lab) -> None:
    """The checkout may be named from elsewhere."""
    done = lab.majordomus("doctor", "--root", str(lab.repo), "--format", "json", cwd=lab.home)
    assert json.loads(done.stdout)["root"] == str(lab.repo)
