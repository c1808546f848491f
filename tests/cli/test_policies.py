from __future__ import annotations

import json
from pathlib import Path

import pytest

from brief.core.policy.names import POLICY_FILE
from brief.core.policy.settings import keys
from sandbox import Lab

REACHING = """\
version: 1
server:
  port: 8123
integration:
  api_url: https://api.example.org
alerts:
  folders: [meta/notices, ../outside]
"""


INIT = "majordomus init writes one"


def policy(lab: Lab, text: str, *, at: Path | None = None) -> Path:
    """Write a policy."""
    path = (at or lab.repo) / POLICY_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def told(lab: Lab, *words: str) -> str:
    """The output of a command that succeeds."""
    done = lab.majordomus(*words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# ---------------------------------------------------------------- init


def test_init(lab: Lab) -> None:
    """`init` writes a policy that is good, and prints the lines that a session reads first."""
    printed = told(lab, "init")
    path = lab.repo / POLICY_FILE
    assert printed.startswith(f"{path}: written, every key at its default\n")
    assert "Run `majordomus brief`" in printed
    assert "`majordomus alerts list`" in printed
    assert "set session.brief_on_interval: true there, then run majordomus capture install\n" in printed
    assert told(lab, "policy", "check") == f"{POLICY_FILE}: good\n"
    assert lab.git("status", "--porcelain") == "?? .ai/"


@pytest.mark.parametrize(
    "text", ["", "version: 1\n# by hand\n", "- not a policy\n", "session: {brief_interval_minutes: 7}\n"]
)
def test_init_keeps_what_a_person_wrote(lab: Lab, text: str) -> None:
    """An existing file stays byte for byte, whatever it is, and a short sentence says so and names the command that prints the lines."""
    path = policy(lab, text)
    for name in ("CLAUDE.md", "AGENTS.md"):
        (lab.repo / name).write_text("mine\n")
    printed = told(lab, "init")
    assert printed.startswith(f"{path}: already there; left as it is\n")
    assert printed.endswith("majordomus init --lines prints the lines for CLAUDE.md or AGENTS.md\n")
    assert printed.count("\n") == 3
    assert path.read_text() == text
    assert [(lab.repo / name).read_text() for name in ("CLAUDE.md", "AGENTS.md")] == ["mine\n", "mine\n"]


def test_init_names_the_interval_in_force(lab: Lab) -> None:
    """The lines for sessions name the interval that the policy sets."""
    policy(lab, "session: {brief_interval_minutes: 7}\n")
    assert "whenever 7 minutes have passed" in told(lab, "init", "--lines")


def test_init_where_the_switch_is_on(lab: Lab) -> None:
    """Where the policy turns briefing on already, one step is left to do."""
    policy(lab, "session: {brief_on_interval: true}\n")
    assert "is true: majordomus capture install lets sessions be briefed" in told(lab, "init")


def test_the_lines_alone(lab: Lab) -> None:
    """`--lines` prints what a first `init` prints last, and writes nothing."""
    lines = told(lab, "init", "--lines")
    assert lines.startswith("## ")
    assert not (lab.repo / POLICY_FILE).exists()
    assert told(lab, "init").endswith("\n\n" + lines)


def test_init_follows_no_link(lab: Lab) -> None:
    """A link in the way is refused in a sentence, and nothing is written through it."""
    (lab.repo / ".ai").symlink_to(lab.home)
    done = lab.majordomus("init")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a link is in the way and is not followed" in done.stderr
    assert not (lab.home / "repo").exists()


# ---------------------------------------------------------------- policy


def test_check_of_nothing(lab: Lab) -> None:
    """Without a policy there is nothing to check, and the defaults hold."""
    assert (
        told(lab, "policy", "check")
        == f"{POLICY_FILE}: nothing to check, there is none and the defaults apply; {INIT}\n"
    )


def test_check_tells_every_fault(lab: Lab) -> None:
    """Every fault is a line of its own with file, key, value and what to write, exit code 2."""
    policy(lab, "session:\n  breif_on_interval: true\n  wake_limit: -3\nserver: 5\n")
    done = lab.majordomus("policy", "check")
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (2, "", 3)
    assert all(line.startswith(f"majordomus: {POLICY_FILE}") for line in lines)
    for parts in (("breif_on_interval", "session.brief_on_interval"), ("session.wake_limit", "-3"), ("server", "5")):
        assert any(all(part in line for part in parts) for line in lines)


def test_show(lab: Lab) -> None:
    """Every key is shown with its value and where that comes from, faults and the switch beneath."""
    policy(lab, "session:\n  brief_interval_minutes: 7\n  wake_limit: -3\n  brief_on_interval: yes\n")
    document = json.loads(told(lab, "policy", "show", "--format", "json"))
    shown = document["keys"]
    assert tuple(shown) == tuple(keys())
    assert shown["session.brief_interval_minutes"] == {"value": 7, "source": "policy"}
    assert shown["session.wake_limit"] == {"value": 12, "source": "default, since the file's value is faulty"}
    assert shown["server.port"] == {"value": None, "source": "default"}
    assert (document["status"], len(document["faults"])) == ("faulty", 2)
    printed = told(lab, "policy", "show")
    assert all(key in printed for key in keys())
    assert printed.count("note: ") == 3
    assert "only true turns it on" in printed


def test_schema(lab: Lab) -> None:
    """The schema that is printed is a JSON Schema, the same outside of every repository."""
    schema = json.loads(told(lab, "policy", "schema"))
    assert "session" in schema["properties"]
    assert lab.majordomus("policy", "schema", cwd=lab.home).stdout == told(lab, "policy", "schema")


# ---------------------------------------------------------------- trust


def test_trust(lab: Lab) -> None:
    """What reaches outside counts once it is trusted, and no longer when that is revoked."""
    policy(lab, REACHING)
    asked = ("server.port 8123", "integration.api_url https://api.example.org", f"alerts.folders {lab.base}/outside")
    untrusted = "".join(f"{one}: not trusted; majordomus trust lets it count\n" for one in sorted(asked, key=str))
    *listed, file = told(lab, "trust", "--list").splitlines()
    assert sorted(listed) == sorted(untrusted.splitlines())
    assert file == f"what you trust is kept in {lab.home}/.config/majordomus/trust.json, which does not exist yet"
    assert not (lab.home / ".config/majordomus").exists()
    assert all(f"{one} is set by the policy but not trusted here" in told(lab, "brief") for one in asked)
    granted = told(lab, "trust")
    assert sorted(granted.splitlines()) == sorted(f"{one}: trusted" for one in asked)
    assert told(lab, "trust", "--list").startswith(granted)
    assert "not trusted here" not in told(lab, "brief")
    assert told(lab, "trust", "--revoke") == "nothing of this repository is trusted any longer\n"
    assert told(lab, "trust", "--list").splitlines()[:-1] == listed


def test_the_list_says_where_trust_is_kept_and_why_not_elsewhere(lab: Lab) -> None:
    """A relative XDG_CONFIG_HOME is ignored, and one inside the repository trusts nothing; the list says so."""
    kept = f"what you trust is kept in {lab.home}/.config/majordomus/trust.json, which does not exist yet"
    done = lab.majordomus("trust", "--list", env={"XDG_CONFIG_HOME": "./cfg"})
    assert f"{kept} (XDG_CONFIG_HOME is './cfg', which is not an absolute path, so it is ignored)" in done.stdout
    done = lab.majordomus("trust", "--list", env={"XDG_CONFIG_HOME": str(lab.repo / "cfg")})
    assert "trust.json is inside the very repository that it would trust, so nothing is trusted" in done.stdout


def test_trust_is_for_exactly_these_values(lab: Lab) -> None:
    """A policy that asks for another value later is not trusted for it."""
    policy(lab, "server: {port: 8123}\n")
    told(lab, "trust")
    policy(lab, "server: {port: 8124}\n")
    assert told(lab, "trust", "--list").startswith("server.port 8124: not trusted; majordomus trust lets it count\n")


def test_nothing_to_trust(lab: Lab) -> None:
    """No policy, or one that stays inside, needs no trust; which it is is told, and no file is written for it."""
    for words in (["trust"], ["trust", "--list"]):
        assert told(lab, *words).startswith(f"nothing needs trust: no policy here ({INIT})\n")
    policy(lab, "version: 1\n")
    for words in (["trust"], ["trust", "--list"]):
        assert told(lab, *words).startswith(f"{POLICY_FILE} asks for nothing that needs trust\n")
    assert not (lab.home / ".config/majordomus").exists()


def test_trust_keeps_what_a_person_wrote(lab: Lab) -> None:
    """A trust file that is no such file is refused and kept, and so is the person's own configuration."""
    folder = lab.home / ".config/majordomus"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("# mine\n")
    (folder / "trust.json").write_text("mine")
    policy(lab, REACHING)
    done = lab.majordomus("trust")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"majordomus: {folder}/trust.json: it is not a file of" in done.stderr
    assert (folder / "trust.json").read_text() == "mine"
    assert (folder / "config.yaml").read_text() == "# mine\n"
