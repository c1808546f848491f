from __future__ import annotations

import json
import uuid

import pytest

from brief.capabilities.capability import Capability
from brief.capabilities.table import CAPABILITIES
from brief.cli.main import main
from brief.core.model.answers import Rendered
from brief.core.model.brief import SECTIONS, Brief, Section, Status
from brief.core.model.wire import from_json
from impostor import answer, listening, saying, socket_of, write_lease
from sandbox import Lab
from serving import write_policy
from terminal import in_terminal

QUERIES = [one for one in CAPABILITIES if one.kind == "query" and one.cli != ("alerts", "show")]  # that needs a notice
SECTION_QUERIES = [one for one in QUERIES if issubclass(one.output, Section) and not one.in_memory]
IN_MEMORY = [one for one in QUERIES if one.in_memory]
UNHELD = "no server holds this repository; start one with majordomus serve ensure"


def words(capability: Capability) -> str:
    """The command of a capability."""
    return " ".join(capability.cli)


@pytest.mark.parametrize("capability", QUERIES, ids=words)
def test_json_of_every_query(served: Lab, capability: Capability) -> None:
    """What a query prints as JSON is one document of its own model."""
    done = served.majordomus(*capability.cli, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    model = Brief if capability.output is Rendered else capability.output
    from_json(model, done.stdout)
    assert done.stdout.count("\n") == 1


def test_json_of_every_command(lab: Lab) -> None:
    """What a command did is printed as JSON of its own model."""
    lab.commit(reminders_md="- [ ] 2026-12-01 water the plants\n")
    write_policy(lab, "session:\n  brief_on_interval: true\n")
    arguments: dict[str, list[str]] = {
        "episode open": [],
        "task set": ["mend the login", "--scope", "src", "--scope", "tests"],
        "task next": ["write a test"],
        "task done": [],
        "wake now": [],
        "wake pause": [],
        "wake resume": ["--repository"],
        "peers announce": ["change the login", "--scope", "src"],
        "peers release": [],
        "alerts add": ["Tea is ready", "--kind", "courtesy"],
        "alerts ack": ["tea-is-ready"],
        "alerts done": ["tea-is-ready"],
        "alerts archive": ["tea-is-ready"],
        "alerts migrate": ["reminders.md"],
        "lock place": ["billing", "--session", "11111111-1111-4111-8111-111111111111"],
        "lock release": ["billing", "--session", "11111111-1111-4111-8111-111111111111"],
        "episode close": [],
        "queue refresh": [],
    }
    commands = {words(one): one for one in CAPABILITIES if one.kind == "command" and one.cli}
    assert set(commands) == set(arguments)
    for name, more in arguments.items():
        done = lab.majordomus(*commands[name].cli, *more, "--format", "json")
        assert (done.returncode, done.stderr) == (0, ""), name
        from_json(commands[name].output, done.stdout)


def test_rows_in_a_narrow_terminal(lab: Lab) -> None:
    """A row that is wider than the terminal goes on below itself, whole."""
    lab.majordomus("alerts", "add", " ".join(["word"] * 12))
    told = in_terminal(lab, "alerts", "list", columns=70)
    assert max(map(len, told.splitlines())) <= 78  # the slug is one word
    assert " ".join(["word"] * 12) in " ".join(told.split())
    assert told.splitlines()[2].startswith("               ")


@pytest.mark.parametrize("capability", SECTION_QUERIES, ids=words)
def test_section_of_the_command_is_the_one_of_the_brief(served: Lab, capability: Capability) -> None:
    """A section asked for alone says what it says in a brief, with a server and by this command alone."""
    asked = from_json(capability.output, served.majordomus(*capability.cli, "--format", "json").stdout)
    brief = from_json(Brief, served.majordomus("brief", "--format", "json").stdout)
    assert isinstance(asked, Section)
    there = next(section for section in brief.sections if section.name == asked.name)
    assert (asked.status, asked.headline, asked.data) == (there.status, there.headline, there.data)


@pytest.mark.parametrize("capability", IN_MEMORY, ids=words)
@pytest.mark.parametrize("form", ["text", "json"])
def test_memory_without_a_server(lab: Lab, capability: Capability, form: str) -> None:
    """What only a server knows is unread without one, with the reason, exit code 1, and never an empty list."""
    done = lab.majordomus(*capability.cli, "--format", form)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"majordomus: {words(capability)} unread: {UNHELD}\n"


def test_status_without_a_server(lab: Lab) -> None:
    """`serve status` says likewise why nobody could be asked."""
    done = lab.majordomus("serve", "status", "--format", "json")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"majordomus: serve status unread: {UNHELD}\n")


@pytest.mark.parametrize("capability", SECTION_QUERIES, ids=words)
def test_files_without_a_server(lab: Lab, capability: Capability) -> None:
    """What lies in files is read by the command itself where no server answers."""
    lab.commit()
    done = lab.majordomus(*capability.cli, "--format", "json")
    section = from_json(capability.output, done.stdout)
    assert isinstance(section, Section)
    unread = section.name == "integration"  # nobody has looked at the branches yet
    assert section.status is (Status.UNREAD if unread else Status.READ)
    assert lab.majordomus(*capability.cli, "--strict").returncode == (10 if unread else 0)
    assert lab.processes() == []


def test_strict(lab: Lab) -> None:
    """With --strict a brief is exit code 10 until all that is set up was read, by whomever it is composed."""
    lab.commit()
    assert lab.majordomus("brief", "--strict").returncode == 10
    assert lab.majordomus("brief").returncode == 0
    assert lab.majordomus("queue", "refresh").returncode == 0
    assert lab.majordomus("brief", "--strict").returncode == 0
    assert lab.majordomus("peers", "list", "--strict").returncode == 0
    assert lab.majordomus("serve", "stop").returncode == 0
    assert lab.majordomus("brief", "--strict", "--format", "json").returncode == 10


def test_sections(served: Lab) -> None:
    """A narrowed brief keeps every section's name and status, and counts what it left out."""
    done = served.majordomus("brief", "--section", "peers", "--section=mesh", "--format", "json")
    brief = from_json(Brief, done.stdout)
    assert [section.name for section in brief.sections] == list(SECTIONS)


@pytest.mark.parametrize("server", [False, True])
def test_every_form(lab: Lab, server: bool) -> None:
    """Text, prompt and line are the same brief, with a server and without."""
    if server:
        lab.start_server()
    brief = json.loads(lab.majordomus("brief", "--format", "json").stdout)
    assert lab.majordomus("brief", "--line").stdout == brief["line"] + "\n"
    assert lab.majordomus("brief").stdout.startswith(brief["line"] + "\n\n")
    prompt = lab.majordomus("brief", "--format", "prompt").stdout
    assert prompt.startswith("[brief]\n")
    assert prompt.endswith("[/brief]\n")


def test_episode_that_is_meant(lab: Lab) -> None:
    """A command means the named episode, else the client's, else the only one here, else it asks for one."""
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    done = lab.majordomus("task", "set", "x")
    assert done.returncode == 2
    assert f"no episode is open in {lab.repo}; say which one is meant with --session ID" in done.stderr
    assert lab.majordomus("episode", "open", "--session", first).returncode == 0
    assert first in lab.majordomus("task", "set", "alone").stdout
    assert lab.majordomus("episode", "open", env={"CLAUDE_CODE_SESSION_ID": second}).returncode == 0
    done = lab.majordomus("task", "set", "whose")
    assert done.returncode == 2
    assert "2 episodes are open" in done.stderr
    assert second in lab.majordomus("task", "set", "mine", env={"CLAUDE_CODE_SESSION_ID": second}).stdout
    named = lab.majordomus("task", "set", "theirs", "--session", first, env={"CLAUDE_CODE_SESSION_ID": second})
    assert first in named.stdout


def test_episode_that_is_not_there(lab: Lab) -> None:
    """An episode that nobody opened is exit code 1, with the command that opens it."""
    done = lab.majordomus("task", "done", "--session", "absent")
    assert (done.returncode, done.stdout) == (1, "")
    told = "no episode absent is open here; see majordomus episode list"
    assert done.stderr.startswith(f"majordomus: {told}")
    assert "majordomus episode open --session absent" in done.stderr


@pytest.mark.parametrize("raw", [answer(b"[]"), answer(b"garbage", status="500 Oh"), answer(b"{}", status="404 No")])
def test_server_of_another_version(lab: Lab, raw: bytes) -> None:
    """An answer of no known shape is told in one sentence, with the way out."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with listening(path, saying(raw)):
        done = lab.majordomus("peers", "list")
    told = "this version does not understand the server's answer; run majordomus serve stop, then ask again"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"majordomus: {told}\n")


def test_refusal_of_the_server(lab: Lab) -> None:
    """What the server refuses is its sentence, with the exit code that it names."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    problem = json.dumps({"error": "not like this", "kind": "UsageError", "exit_code": 2}).encode()
    with listening(path, saying(answer(problem, status="400 Bad Request"))):
        done = lab.majordomus("peers", "list")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "majordomus: not like this\n")


def test_fault_that_nobody_foresaw(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Even a fault in the command itself is one sentence and exit code 1."""

    def fail(*_: object) -> int:
        raise ZeroDivisionError("a\nb \x1b]0;c\x07")

    monkeypatch.setattr("brief.cli.projection.run_capability", fail)
    assert main(["brief", "--root", str(lab.repo)]) == 1
    assert capfd.readouterr() == ("", "majordomus: unexpected ZeroDivisionError: a b; please report it\n")


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "503 Service Unavailable"])
@pytest.mark.parametrize("body", [b'{"error": "not today"}', b"<html>", b""], ids=repr)
def test_server_that_declines(lab: Lab, status: str, body: bytes) -> None:
    """What answers without saying anything of the question leaves nobody without a page: code and reason are in it."""
    code, path = status[:3], socket_of(lab)
    write_lease(lab.common_dir, path)
    why = f"the server answered {code}: {'not today' if b'today' in body else 'it gave no reason'}"
    with listening(path, saying(answer(body, status=status))) as requests:
        brief = lab.majordomus("brief", "--format", "json")
        assert len(requests) == 1
        assert (brief.returncode, brief.stderr) == (0, "")
        by = json.loads(brief.stdout)["answered_by"]
        assert (by["kind"], by["reason"]) == ("self", why)
        alerts = lab.majordomus("alerts", "list")
        assert (alerts.returncode, alerts.stderr) == (0, "")
        peers = lab.majordomus("peers", "list")
        assert (peers.returncode, peers.stderr) == (1, f"majordomus: peers list unread: {why}\n")
