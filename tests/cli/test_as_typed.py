"""Commands as a person types them: without an action, with abbreviated names, asking for help."""

from __future__ import annotations

import json
import re

import pytest

from brief.cli.command_words import COMMANDS
from brief.fastpath.main import DEFAULT_ACTIONS, expand
from sandbox import Lab

ANN = "11ea511a-0000-4000-8000-000000000001"
BOB = "22ea522a-0000-4000-8000-000000000002"


@pytest.fixture
def busy(lab: Lab) -> Lab:
    """A repository with a server and the open episode of ANN."""
    lab.commit()
    lab.start_server()
    assert lab.majordomus("episode", "open", "--session", ANN).returncode == 0
    return lab


@pytest.mark.parametrize("group", DEFAULT_ACTIONS)
def test_a_group_alone_shows_what_there_is(group: str, busy: Lab) -> None:
    """The noun alone is its query, with the same options; by both paths."""
    full = [group, DEFAULT_ACTIONS[group]]
    assert tuple(full) in {words for _, words, *_ in COMMANDS}
    for options in ([], ["--format", "json"]):
        bare, whole = busy.majordomus(group, *options), busy.majordomus(*full, *options)
        assert (bare.returncode, bare.stderr) == (0, "")
        assert len(bare.stdout.splitlines()) == len(whole.stdout.splitlines()) > 0


@pytest.mark.parametrize(
    ("words", "full"),
    [
        ("lock", "lock status"),
        ("lock --strict", "lock status --strict"),
        ("lock --help", "lock --help"),
        ("lock place x", "lock place x"),
        ("help", "--help"),
        ("help lock", "lock --help"),
        ("help lock place", "lock place --help"),
        ("mesh", "brief --section mesh"),
        ("brief", "brief"),
        ("", ""),
    ],
)
def test_short_words(words: str, full: str) -> None:
    """What a short form stands for."""
    assert expand(words.split()) == full.split()


def test_help_of_a_command(lab: Lab) -> None:
    """`help` alone lists the commands, of one it shows that one's, and of none the nearest."""
    assert lab.majordomus("help").stdout == lab.majordomus("--help").stdout
    assert "place" in lab.majordomus("help", "lock").stdout
    mistaken = lab.majordomus("help", "lokc")
    assert (mistaken.returncode, "did you mean lock?" in mistaken.stderr) == (2, True)


def test_a_session_by_its_first_letters(busy: Lab) -> None:
    """The letters that lists show stand for the whole id, wherever a command takes one."""
    assert busy.majordomus("task", "set", "mend the login", "--session", ANN[:8]).returncode == 0
    assert "mend the login" in busy.majordomus("task", "show", "--session", ANN[:8]).stdout
    placed = busy.majordomus("lock", "place", "koda", "--session", ANN[:8])
    assert placed.returncode == 0, placed.stderr
    (lock,) = json.loads(busy.majordomus("lock", "--format", "json").stdout)["locks"]
    assert lock["session_id"] == ANN


def test_letters_of_two_sessions_are_refused_and_both_are_named(busy: Lab) -> None:
    """Nothing is done for one of two; an id that is being opened is taken as it is written."""
    other = ANN[:8] + BOB[8:]
    assert busy.majordomus("episode", "open", "--session", other).returncode == 0
    for words in (("task", "show"), ("lock", "place", "koda")):
        done = busy.majordomus(*words, "--session", ANN[:8])
        assert done.returncode == 2
        assert ANN in done.stderr
        assert other in done.stderr
    assert busy.majordomus("episode", "open", "--session", ANN[:8]).returncode == 0
    assert busy.majordomus("task", "show", "--session", ANN[:8]).returncode == 0  # now it is a whole id itself


def test_the_only_open_episode_places_a_lock(busy: Lab) -> None:
    """As with a task, nobody has to say which session is meant where there is one."""
    placed = busy.majordomus("lock", "place", "search")
    assert placed.returncode == 0, placed.stderr
    assert ANN in busy.majordomus("lock", "status", "--format", "json").stdout


def test_a_notice_by_its_first_letters(busy: Lab) -> None:
    """A slug may be abbreviated where it is shown, ended or archived, and two are never confused."""
    for name in ("koda", "search"):
        assert busy.majordomus("lock", "place", name, "--session", ANN).returncode == 0
    assert "lock-koda-" in busy.majordomus("alerts", "show", "lock-ko").stdout
    torn = busy.majordomus("alerts", "show", "lock-")
    assert torn.returncode == 2
    assert "is the beginning of 2 notices: lock-koda-" in torn.stderr
    assert busy.majordomus("alerts", "archive", "lock-").returncode == 2
    assert busy.majordomus("lock", "release", "search", "--session", ANN).returncode == 0
    assert "lock-koda-" in busy.majordomus("alerts", "show", "lock-").stdout


def test_sections_alone(busy: Lab) -> None:
    """As text only the chosen sections are printed; JSON keeps all six with their status."""
    text = busy.majordomus("brief", "--section", "derive", "--section", "alerts").stdout
    assert text.split()[:3] == ["derive", "read", "free"]
    assert [line.split()[0] for line in text.splitlines()] == ["derive", "alerts"]
    document = json.loads(busy.majordomus("brief", "--section", "derive", "--format", "json").stdout)
    assert len(document["sections"]) == 6


def test_the_page_of_a_person(busy: Lab) -> None:
    """Process, epoch and version are there for who asks, and nothing is said of what went well."""
    page, whole = busy.majordomus("brief").stdout, busy.majordomus("brief", "--verbose").stdout
    assert not {"pid", "epoch", "version"} & set(page.replace("(", " ").split())
    assert "composed by the server of this repository (pid " in whole
    assert "Everything that is set up was read" not in page


def test_the_line_says_whose_lock_it_is_and_until_when(busy: Lab) -> None:
    """By the folder of the session's checkout, and by the clock; by the session where its checkout is unknown."""
    tree = busy.worktree("docs")
    assert busy.majordomus("episode", "open", "--session", BOB, cwd=tree).returncode == 0
    assert busy.majordomus("lock", "place", "parser", "--ttl", "30", "--session", BOB, cwd=tree).returncode == 0
    line = busy.majordomus("brief", "--line", "--session", ANN).stdout
    assert re.match(r"▲1 HIGH lock on parser by docs until \d\d:\d\d · ", line), line
    assert busy.majordomus("episode", "close", "--session", BOB).returncode == 0
    line = busy.majordomus("brief", "--line", "--session", ANN).stdout
    assert line.startswith(f"▲1 HIGH lock on parser by {BOB[:8]} until "), line
