from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from brief.capture import mods
from brief.capture.mods import Mod
from brief.cli import capture
from brief.cli.main import main
from lab import Lab
from serving import write_policy

ON = "session: {brief_on_interval: true}\n"
PATH = ".claude/skills/majordomus-brief"


def test_project_scope(lab: Lab) -> None:
    """The mod goes into the checkout; the line to ignore it is printed, and that other folders do not load it."""
    write_policy(lab, ON)
    done = lab.majordomus("capture", "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"majordomus-brief: written: {lab.repo / PATH}\n")
    assert f"    /{PATH}/\n" in done.stdout
    assert "in the folder a session starts in alone" in done.stdout
    assert "capture install --scope user" in done.stdout
    assert (lab.repo / PATH / "hooks/register.ts").is_file()
    assert not list(lab.repo.rglob("settings*.json"))
    assert not (lab.home / ".claude").exists()


def test_the_ignore_line_ignores(lab: Lab) -> None:
    """The printed line keeps the mod out of git."""
    write_policy(lab, ON)
    told = lab.majordomus("capture", "install").stdout
    (lab.repo / ".gitignore").write_text(next(line.strip() for line in told.splitlines() if PATH + "/" in line) + "\n")
    assert lab.git("status", "--porcelain", "--untracked-files=all").splitlines() == [
        "?? .ai/repo/policy.yaml",
        "?? .gitignore",
    ]


def test_user_scope(lab: Lab) -> None:
    """For the person it goes into their own folder of skills, and it is said that waking needs their trust."""
    write_policy(lab, ON)
    done = lab.majordomus("capture", "install", "--scope", "user")
    assert done.stdout.startswith(f"majordomus-brief: written: {lab.home / PATH}\n")
    assert "majordomus trust" in done.stdout
    assert not (lab.repo / ".claude").exists()


def test_the_person_needs_no_repository_to_remove(lab: Lab) -> None:
    """What is installed for the person is looked at and removed from anywhere."""
    write_policy(lab, ON)
    lab.majordomus("capture", "install", "--scope", "user")
    assert "as written" in lab.majordomus("capture", "status", "--scope", "user", cwd=lab.home).stdout
    done = lab.majordomus("capture", "remove", "--scope", "user", cwd=lab.home)
    assert done.stdout == f"majordomus-brief: removed: {lab.home / PATH}\n"
    assert lab.majordomus("capture", "remove", cwd=lab.home).returncode == 2


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("version: [1\n", "policy.yaml"),
        ("session: {brief_on_intervall: true}\n", "brief_on_interval"),
        ('session: {brief_on_interval: "true"}\n', "write true or false"),
    ],
)
def test_a_policy_with_a_fault_installs_nothing(lab: Lab, policy: str, said: str) -> None:
    """Where the policy has any fault nothing is written or removed, exit 2 with the sentence."""
    write_policy(lab, policy)
    done = lab.majordomus("capture", "install")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (lab.repo / ".claude").exists()


def test_remove(lab: Lab) -> None:
    """`remove` takes the mod out whatever the policy says, and once it is gone says that nothing is there."""
    write_policy(lab, ON)
    lab.majordomus("capture", "install")
    assert lab.majordomus("capture", "remove").stdout == f"majordomus-brief: removed: {lab.repo / PATH}\n"
    assert "not there" in lab.majordomus("capture", "remove").stdout


def test_a_second_row(lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A further mod is one row more: it is installed, shown and removed by its own key, beside the first."""
    second = Mod("second", "claude-code", "claude-code/majordomus-brief", "skills/second", "alerts.archive_tracked")
    monkeypatch.setattr(capture, "MODS", (*mods.MODS, second))
    write_policy(lab, ON)
    root = ["--root", str(lab.repo)]
    assert main(["capture", "install", *root]) == 0
    told = capsys.readouterr().out
    assert "majordomus-brief: written" in told
    assert "second: not written: alerts.archive_tracked is not true" in told
    write_policy(lab, ON + "alerts: {archive_tracked: true}\n")
    main(["capture", "install", *root])
    told = capsys.readouterr().out
    assert "majordomus-brief: already present" in told
    assert "second: written" in told
    assert sorted(os.listdir(lab.repo / ".claude/skills")) == ["majordomus-brief", "second"]
    main(["capture", "status", "--format", "json", *root])
    assert [mod["mod"] for mod in json.loads(capsys.readouterr().out)["mods"]] == ["majordomus-brief", "second"]


def test_nothing_is_written_where_a_shipped_file_is_missing(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one mod of several does not ship, none is written, and what is missing is said."""
    lost = Mod("lost", "claude-code", "claude-code/lost", "skills/lost", "session.brief_on_interval")
    monkeypatch.setattr(capture, "MODS", (*mods.MODS, lost))
    write_policy(lab, ON)
    assert main(["capture", "install", "--root", str(lab.repo)]) == 1
    assert "ships with majordomus; install majordomus-brief again" in capsys.readouterr().err
    assert not (lab.repo / ".claude").exists()


def test_status(lab: Lab) -> None:
    """`status` tells absent, as written, edited with the files, and foreign; the reasons of the client beneath."""
    write_policy(lab, ON)

    def standing() -> str:
        return lab.majordomus("capture", "status").stdout.splitlines()[0].split(": ")[1]

    target = lab.repo / PATH
    assert standing() == "absent"
    lab.majordomus("capture", "install")
    assert standing() == "as written"
    (target / "hooks/register.ts").write_text("// mine\n")
    assert standing() == "edited (hooks/register.ts)"
    (target / ".majordomus.json").unlink()
    assert standing() == "foreign"


def test_status_tells_that_trust_is_missing(lab: Lab) -> None:
    """What is installed for the person and may not wake here says so, until it is trusted."""
    write_policy(lab, ON)
    lab.majordomus("capture", "install", "--scope", "user")
    assert "until you run majordomus trust" in lab.majordomus("capture", "status", "--scope", "user").stdout
    assert "until you run majordomus trust" not in lab.majordomus("capture", "status").stdout
    lab.majordomus("trust")
    assert "until you run majordomus trust" not in lab.majordomus("capture", "status", "--scope", "user").stdout


def test_status_changes_nothing(lab: Lab) -> None:
    """Looking makes no folder and no file."""
    write_policy(lab, ON)
    lab.majordomus("capture", "status")
    assert not (lab.repo / ".claude").exists()


def test_status_as_json(lab: Lab, tmp_path: Path) -> None:
    """As JSON every mod has its place, its standing, why it may not be there, and what keeps it from loading."""
    status = json.loads(lab.majordomus("capture", "status", "--format", "json").stdout)
    (mod,) = status["mods"]
    assert status["schema"] == "majordomus.capture/v1"
    assert (mod["mod"], mod["scope"], mod["standing"]) == ("majordomus-brief", "project", "absent")
    assert mod["off"] == "session.brief_on_interval is not true: there is no .ai/repo/policy.yaml"
    assert any("does not trust" in reason for reason in mod["reasons"])


def test_the_hooks_are_printed_alone(lab: Lab) -> None:
    """`--carrier hooks` prints settings for the client and writes nothing at all."""
    done = lab.majordomus("capture", "install", "--carrier", "hooks")
    assert set(json.loads(done.stdout)) == {"hooks", "statusLine"}
    assert os.listdir(lab.repo) == [".git"]
    assert not (lab.home / ".claude").exists()
