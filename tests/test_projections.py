"""One declaration, one answer: what HTTP says, a command says too, and text says no more than the JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from brief.capabilities.capability import Capability
from brief.capabilities.table import CAPABILITIES
from brief.cli.main import main
from brief.cli.parser import build_parser
from brief.core.model.answers import Rendered
from brief.core.model.brief import Brief
from brief.core.model.fields import fields_of
from brief.core.model.wire import from_json
from brief.core.text.line import compose_line
from brief.core.text.page import render_page
from brief.core.text.prompt import render_prompt
from brief.handlers.inputs import OwnersOwn, Positional
from sandbox import Lab
from serving import ask, given, leave_notice

QUERIES = [one for one in CAPABILITIES if one.kind == "query"]
_MOMENT = re.compile(r"20\d\d-\d\d-\d\dT[\d:.]+Z")


@pytest.fixture(scope="module")
def held() -> Iterator[Lab]:
    """A repository where something is in every section that this machine alone can fill."""
    with Lab() as lab:
        lab.commit(a_txt="one")
        lab.worktree("koda", "feature/köda-\u202etxt")
        lab.commit("two", cwd=lab.base / "koda", b_txt="two")
        leave_notice(lab, "lock", "---\nkind: lock\n---\n# lock on \x1b[31mkoda\n")
        leave_notice(lab, "broken", "---\nkind: [\n---\n")
        lab.start_server()
        for path, body in (
            ("/episodes", {"session": "here", "provider": "claude-code", "state": "busy"}),
            ("/episodes", {"session": "there", "root": str(lab.base / "koda")}),
            ("/episodes", {"session": "closed"}),
            ("/episodes/close", {"session": "closed"}),
            ("/tasks", {"session": "here", "title": "fix \u202elogin", "next": "test", "scope": ["a.txt"]}),
            ("/queue", {}),
        ):
            assert ask(lab, "POST", path, body).status == 200
        yield lab


def _settled(document: Any) -> Any:
    """A JSON document without what differs between two answers to one question: when, and how long it took."""
    if isinstance(document, dict):
        return {name: _settled(value) for name, value in document.items() if name not in ("took_ms", "at")}
    if isinstance(document, list):
        return [_settled(value) for value in document]
    return _MOMENT.sub("MOMENT", document) if isinstance(document, str) else document


@pytest.fixture
def by_command(held: Lab, capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[[Capability, str], str]:
    """What the command of a capability prints in a form."""

    def run(capability: Capability, form: str) -> str:
        fields = fields_of(capability.input)
        words = [
            value if any(isinstance(mark, Positional) for mark in fields[name].marks) else f"--{name}={value}"
            for name, value in given(capability).items()
        ]
        assert main([*capability.cli, "--format", form, "--root", str(held.repo), *words]) == 0
        return capsysbinary.readouterr().out.decode()

    return run


def _by_http(lab: Lab, capability: Capability) -> bytes:
    answer = ask(lab, "GET", capability.http.path, **given(capability))
    assert answer.status == 200
    return answer.body


def _text(capability: Capability, document: str) -> str:
    """What a person is shown of a JSON answer."""
    if capability.output is Rendered:
        return render_page(from_json(Brief, document), None)
    return capability.text(from_json(capability.output, document))


@pytest.mark.parametrize("capability", QUERIES, ids=lambda one: one.id)
def test_every_projection_gives_one_answer(
    capability: Capability, held: Lab, by_command: Callable[[Capability, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP and the command of a model answer alike, and text is a rendering of that JSON and of nothing else."""
    monkeypatch.setenv("CLAUDECODE", "1")
    document, by_http = by_command(capability, "json"), _by_http(held, capability)
    assert _settled(json.loads(document)) == _settled(json.loads(by_http))
    assert by_command(capability, "text").rstrip("\n") == _text(capability, document).rstrip("\n")


@pytest.mark.parametrize("form", ["line", "prompt", "text"])
def test_every_form_of_a_brief_is_made_of_its_json(form: str, held: Lab) -> None:
    """The line, the prompt and the page that a server sends hold what its JSON holds."""
    document = from_json(Brief, ask(held, "GET", "/brief", session="here").body)
    made = {
        "line": lambda: compose_line(document.sections, document.generated_at, None) + "\n",
        "prompt": lambda: render_prompt(document),
        "text": lambda: render_page(document, None),
    }[form]()
    sent = ask(held, "GET", "/brief", session="here", format=form).body.decode()
    assert _MOMENT.sub("MOMENT", sent) == _MOMENT.sub("MOMENT", made)


def test_the_sections_alone_are_the_sections_of_the_brief(held: Lab) -> None:
    """What is asked for alone and what stands in the brief is the same section."""
    brief = {section["name"]: section for section in ask(held, "GET", "/brief", session="here").json()["sections"]}
    for path in ("/state", "/peers", "/queue", "/derive", "/alerts"):
        alone = ask(held, "GET", path, session="here").json()
        assert _settled(alone) == _settled(brief[alone["name"]])


def test_no_two_capabilities_share_a_name() -> None:
    """Ids, routes and words of commands are each given once."""
    for names in (
        [one.id for one in CAPABILITIES],
        [(one.http.method, one.http.path) for one in CAPABILITIES],
        [one.cli for one in CAPABILITIES if one.cli],
    ):
        assert len(set(names)) == len(names)


def test_a_query_reads_and_a_command_writes() -> None:
    """Over HTTP a query is a GET and a command a POST, so that TCP, which only reads, can tell them apart."""
    assert {(one.kind, one.http.method) for one in CAPABILITIES} == {("query", "GET"), ("command", "POST")}


@pytest.mark.parametrize("capability", [one for one in CAPABILITIES if one.cli], ids=lambda one: one.id)
def test_every_input_can_be_given_to_the_command(capability: Capability, capsys: pytest.CaptureFixture[str]) -> None:
    """The help of a command has its title, every field of its input and every description; `local` is HTTP's alone."""
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args([*capability.cli, "--help"])
    assert ended.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    assert capability.title in told
    for name, field in fields_of(capability.input).items():
        is_no_option = name == "local" or any(isinstance(mark, OwnersOwn) and mark.by_default for mark in field.marks)
        assert is_no_option != (f"--{name.replace('_', '-')}" in told or name.upper() in told)
        assert is_no_option or name == "root" or (field.description or "?") in told.replace("- ", "-")
