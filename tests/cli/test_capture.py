from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from brief.cli import capture
from brief.cli.main import main
from brief.install import mods
from brief.install.mods import Mod
from sandbox import Lab
from serving import write_policy
from terminal import in_terminal

ON = "session: {brief_on_interval: true}\n"
PATH = ".claude/skills/majordomus-brief"


def test_project_scope(lab: Lab) -> None:
    """The mod goes into the checkout; the line to ignore it is printed, and that other folders do not load it."""
    write_policy(lab, ON)
    done = lab.majordomus("capture", "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"majordomus-brief: written: {lab.repo / PATH}\n")
    assert f"    /{PATH}/\n" in done.stdout
    assert "only in the folder a session starts in" in done.stdout
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


@pytest.mark.parametrize("policy", [ON, "version: 1\n", "version: [1\n", None])
def test_no_repository_decides_what_is_for_all(lab: Lab, policy: str | None) -> None:
    """What is for all sessions of a person is installed by their word, whatever the policy around says, and renewed so."""
    if policy is not None:
        write_policy(lab, policy)
    for action in ("written", "already present"):
        done = lab.majordomus("capture", "install", "--scope", "user")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"majordomus-brief: {action}")


def test_the_person_needs_no_repository(lab: Lab) -> None:
    """What is for all sessions of a person is installed, looked at and removed from anywhere."""
    done = lab.majordomus("capture", "install", "--scope", "user", cwd=lab.home)
    assert done.stdout.startswith(f"majordomus-brief: written: {lab.home / PATH}\n")
    assert "as written" in lab.majordomus("capture", "status", "--scope", "user", cwd=lab.home).stdout
    done = lab.majordomus("capture", "remove", "--scope", "user", cwd=lab.home)
    assert done.stdout == f"majordomus-brief: removed: {lab.home / PATH}\n"
    for action in ("install", "remove"):
        assert lab.majordomus("capture", action, cwd=lab.home).returncode == 2


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


def test_what_could_not_be_done_is_a_failure(lab: Lab) -> None:
    """Exit 1, with what is missing and the next command, where the mod is not where it was asked for afterwards."""
    done = lab.majordomus("capture", "install")
    assert (done.returncode, "not written: no policy here (majordomus init writes one)" in done.stdout) == (1, True)
    write_policy(lab, ON)
    foreign = lab.repo / PATH
    foreign.mkdir(parents=True)
    (foreign / "mine.txt").write_text("mine")
    for words in ("install", "remove"):
        assert lab.majordomus("capture", words).returncode == 1
    assert [file.name for file in foreign.iterdir()] == ["mine.txt"]


def test_a_second_row(lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A further mod is one row more: it is installed, shown and removed by its own key, beside the first."""
    second = Mod("second", "claude-code", "claude-code/majordomus-brief", "skills/second", "alerts.archive_tracked")
    monkeypatch.setattr(capture, "MODS", (*mods.MODS, second))
    write_policy(lab, ON)
    root = ["--root", str(lab.repo)]
    assert main(["capture", "install", *root]) == 1
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
    """`status` tells not installed, as written, edited with the files, and foreign."""
    write_policy(lab, ON)

    def state() -> str:
        return lab.majordomus("capture", "status").stdout.splitlines()[0].split(": ")[1]

    target = lab.repo / PATH
    assert state() == "not installed; majordomus capture install puts it there"
    lab.majordomus("capture", "install")
    assert state() == "as written"
    (target / "hooks/register.ts").write_text("// mine\n")
    assert state() == "edited (hooks/register.ts)"
    (target / ".majordomus.json").unlink()
    assert state() == "foreign"


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
    """As JSON every mod has its place, its state, why it may not be there, and what keeps it from loading."""
    status = json.loads(lab.majordomus("capture", "status", "--format", "json").stdout)
    (mod,) = status["mods"]
    assert status["schema"] == "majordomus.capture/v1"
    assert (mod["mod"], mod["scope"], mod["state"]) == ("majordomus-brief", "project", "absent")
    assert mod["off"] == "no policy here (majordomus init writes one)"
    assert (mod["client"], mod["reasons"], mod["instead"], status["settings"]) == (None, [], None, [])
    write_policy(lab, ON)
    lab.majordomus("capture", "install")
    (mod,) = json.loads(lab.majordomus("capture", "status", "--format", "json").stdout)["mods"]
    assert (mod["state"], mod["off"]) == ("as written", None)
    assert any("does not trust" in reason for reason in mod["reasons"])


def test_three_words_for_whether_it_is_loaded(lab: Lab) -> None:
    """It is loaded, it is not, or that is unknown, each by a word of its own; a reason outweighs a doubt."""
    client = lab.base / "bin/claude"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\necho '2.1.332 (Claude Code)'\n")
    client.chmod(0o755)
    env = {"PATH": f"{client.parent}:{lab.env['PATH']}"}
    write_policy(lab, ON)
    lab.majordomus("capture", "install")

    def told() -> str:
        return lab.majordomus("capture", "status", env=env).stdout

    own = lab.home / ".claude/.claude.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text(json.dumps({"projects": {str(lab.repo): {"hasTrustDialogAccepted": True}}}))
    assert "claude-code 2.1.332: loads it; nothing in its files prevents that\n" in told()
    own.write_text("{")
    assert "claude-code 2.1.332: whether it loads it is unknown:\n" in told()
    assert f"    unknown: {own} is not JSON, and may keep the mod from loading; fix it\n" in told()
    (lab.home / ".claude/settings.json").write_text('{"disableAllHooks": true}')
    assert "claude-code 2.1.332: does not load it:\n" in told()


def test_hooks_in_settings_that_cannot_be_read(lab: Lab) -> None:
    """Where a settings file cannot be read, nobody says that it names no hook."""
    settings = lab.repo / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text("{")
    done = lab.majordomus("capture", "remove", "--channel", "hooks")
    sentence = f"whether hooks are there is unknown: {settings} is not JSON; fix it, and try again"
    assert (done.returncode, done.stderr) == (1, f"majordomus: {sentence}\n")
    status = lab.majordomus("capture", "status").stdout
    assert f"{settings} is not JSON, so whether it names majordomus is unknown; fix it\n" in status


@pytest.mark.parametrize("scope", ["project", "user"])
def test_status_gives_no_verdict_of_what_is_not_there(lab: Lab, scope: str) -> None:
    """Of a mod that is not installed only that is told, with the command that installs it there and why it would not."""
    told = lab.majordomus("capture", "status", "--scope", scope).stdout
    assert "not installed; majordomus capture install" in told
    assert "load" not in told
    assert ("once the policy consents" in told, "no policy here" in told) == (scope == "project", scope == "project")


def test_status_where_the_persons_own_is_there_instead(lab: Lab) -> None:
    """Where the person has the mod, the project's absence is told with that, and nobody is sent to install a second."""
    lab.majordomus("capture", "install", "--scope", "user")
    told = lab.majordomus("capture", "status").stdout
    assert f"not installed; your own is, and the project needs no second one: {lab.home / PATH}\n" in told
    assert "puts it there" not in told


@pytest.mark.parametrize("link", [False, True])
def test_status_judges_nothing_of_anothers(lab: Lab, *, link: bool) -> None:
    """A folder or a link that is not ours is told as that, and whether the client loads it is not."""
    write_policy(lab, ON)
    target = lab.repo / PATH
    target.parent.mkdir(parents=True)
    target.symlink_to(lab.home) if link else target.mkdir()
    told = lab.majordomus("capture", "status").stdout
    assert told.splitlines()[0].endswith(f"foreign: {target}")
    assert "this tool did not put it there" in told
    assert "load" not in told


def test_status_in_a_terminal(lab: Lab) -> None:
    """In a terminal the lines break between words, so that no word but a path goes on in the next."""
    write_policy(lab, ON)
    lab.majordomus("capture", "install")
    told = in_terminal(lab, "capture", "status", columns=60)
    assert told.split() == lab.majordomus("capture", "status").stdout.split()
    assert all(len(line) <= 60 for line in told.splitlines() if "/" not in line)


def test_status_tells_hooks(lab: Lab) -> None:
    """Settings of the person and of the project that name hooks of ours are told, each in a line with which they are."""
    assert "majordomus hook" not in lab.majordomus("capture", "status").stdout
    settings(lab.home, {"statusLine": {"command": "/opt/bin/majordomus statusline"}})
    settings(lab.repo, {"hooks": {"Stop": [{"hooks": [{"command": "majordomus hook wake"}]}]}})
    told = lab.majordomus("capture", "status").stdout.splitlines()[-2:]
    assert told == [
        f"{lab.home}/.claude/settings.json names majordomus statusline; while this status line is in force, the mod draws none",
        f"{lab.repo}/.claude/settings.json names majordomus hook wake; these hooks stay silent while the mod serves the session",
    ]
    assert str(lab.repo) not in lab.majordomus("capture", "status", "--scope", "user", cwd=lab.home).stdout


def test_hooks_are_removed_by_hand(lab: Lab) -> None:
    """Who asks to remove the hooks is told which settings name them, exit 2, and that there are none where there are none."""
    done = lab.majordomus("capture", "remove", "--channel", "hooks")
    assert (done.returncode, done.stdout) == (0, "hooks: not there: no settings file of the client names one\n")
    text = lab.majordomus("capture", "install", "--channel", "hooks").stdout
    settings(lab.repo, json.loads(text))
    done = lab.majordomus("capture", "remove", "--channel", "hooks")
    assert (done.returncode, done.stdout) == (2, "")
    assert "taken out of the settings by hand" in done.stderr
    assert (
        "names majordomus hook session-start, hook wake, hook user-prompt-submit, hook session-end and" in done.stderr
    )
    assert json.loads((lab.repo / ".claude/settings.json").read_text()) == json.loads(text)


def settings(folder: Path, document: Mapping[str, object]) -> None:
    """Settings of the client in a folder."""
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude/settings.json").write_text(json.dumps(document))


def test_the_hooks_are_printed_alone(lab: Lab) -> None:
    """`--channel hooks` prints settings for the client and writes nothing at all."""
    done = lab.majordomus("capture", "install", "--channel", "hooks")
    assert set(json.loads(done.stdout)) == {"hooks", "statusLine"}
    assert os.listdir(lab.repo) == [".git"]
    assert not (lab.home / ".claude").exists()
