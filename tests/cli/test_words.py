from __future__ import annotations

import subprocess
import sys

import pytest

from brief.capabilities.table import CAPABILITIES
from brief.cli.main import main
from brief.cli.parser import build_parser
from sandbox import Lab

COMMANDS = [
    *(" ".join(capability.cli) for capability in CAPABILITIES),
    *("peers", "episode", "task", "queue", "derive", "alerts", "serve", "policy"),
    *("statusline", "init", "trust", "doctor", "policy check", "policy show", "policy schema"),
    *("serve run", "serve ensure", "serve status", "serve stop"),
]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Every command says in a sentence what it is for, within 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as end:
        build_parser().parse_args([*command.split(), "--help"])
    assert end.value.code == 0
    printed = capfd.readouterr().out
    assert max(len(line) for line in printed.splitlines()) <= 80
    sentence = printed.split("\n\n")[1]
    assert sentence[0].isupper()
    assert len(sentence.split()) >= 4


def test_no_word_at_all(capfd: pytest.CaptureFixture[str]) -> None:
    """Who names no command is shown which there are, and a script hears that it named none."""
    assert main([]) == 2
    assert capfd.readouterr().out == build_parser().format_help()


def test_words_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    """The help of the whole command tells every word of the trade, and every exit code."""
    with pytest.raises(SystemExit):
        build_parser().parse_args(["--help"])
    printed = capfd.readouterr().out
    words = ["session", "episode", "task", "checkout", "repository", "clone", "server", "board", "peers", "section"]
    words += ["status", "notice", "wake", "heartbeat", "channel", "unread", "undeclared"]
    for word in words:
        assert f" {word} " in printed
    assert "10  answered, but not everything was read" in printed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("breif", "unknown command 'breif'; did you mean brief? See majordomus --help"),
        ("--verion", "unknown option '--verion'; did you mean --version? See majordomus --help"),
        ("serve start", "unknown command 'start'; did you mean ensure? See majordomus serve --help"),
        (
            "trust --grant",
            "unknown option '--grant'; choose from --help, --root, --list, --revoke; see majordomus trust --help",
        ),
        ("peers lst", "unknown command 'lst'; did you mean list? See majordomus peers --help"),
        ("brief --sesion x", "unknown option '--sesion'; did you mean --session? See majordomus brief --help"),
        ("brief --sess=x", "unknown option '--sess'; did you mean --session? See majordomus brief --help"),
        (
            "brief --format xml",
            "unknown value 'xml' for --format; choose from text, json, prompt, line; see majordomus brief --help",
        ),
        ("brief --section peer", "unknown value 'peer' for --section; did you mean peers? See majordomus brief --help"),
        ("brief --width wide", "--width takes a whole number, not 'wide'; see majordomus brief --help"),
        ("brief --width", "--width needs a value; see majordomus brief --help"),
        ("peers list extra", "unexpected argument 'extra'; see majordomus peers list --help"),
        ("task set", "TITLE is missing; see majordomus task set --help"),
        (
            "episode open --state bsy",
            "unknown value 'bsy' for --state; did you mean busy? See majordomus episode open --help",
        ),
        (
            "capture",
            "ACTION is missing; choose from install, status, remove; see majordomus capture --help",
        ),
        (
            "capture install --scope all",
            "unknown value 'all' for --scope; choose from project, user; see majordomus capture install --help",
        ),
        ("statusline now", "unexpected argument 'now'; see majordomus statusline --help"),
        ("trust --list --revoke", "argument --revoke: not allowed with argument --list; see majordomus trust --help"),
    ],
)
def test_mistakes(lab: Lab, words: str, sentence: str) -> None:
    """A mistake in the words is one sentence on standard error with the nearest word, exit code 2."""
    done = lab.majordomus(*words.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"majordomus: {sentence}\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("brief --width -5", "--width -5 is too small; give 0 or more"),
        ("brief --budget 0", "--budget 0 is too small; give 1 or more"),
        ("episode open --pid 0", "--pid 0 is too small; give 1 or more"),
        ("episode open --provider " + "x" * 41, f"--provider {'x' * 41} is too long; give 40 characters or fewer"),
        ("lock place x --ttl 0", "--ttl 0 is too small; give 1 or more"),
        ("lock place x --ttl 999999", "--ttl 999999 is too large; give 525,600 or less"),
        ("alerts add x --fires-on " + "1" * 41, f"--fires-on {'1' * 41} is too long; give 40 characters or fewer"),
        ("peers release " + "x" * 41, f"NAME {'x' * 41} is too long; give 40 characters or fewer"),
    ],
)
def test_values_out_of_bounds(lab: Lab, words: str, sentence: str) -> None:
    """A value that is out of bounds is refused by its option before any server is started."""
    done = lab.majordomus(*words.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"majordomus: {sentence}\n")
    assert lab.processes() == []


@pytest.mark.parametrize("word", [b"\x1b]0;title\x07", b"\xff", "\u202ebrief".encode(), b"a'b\"c", b"x" * 5_000, b"\n"])
def test_mistake_that_would_steer_a_terminal(lab: Lab, word: bytes) -> None:
    """A word is repeated so that it steers no terminal, on one line of bounded length."""
    argv = [sys.executable.encode(), b"-m", b"brief", word]
    done = subprocess.run(argv, cwd=lab.repo, env=lab.env, capture_output=True, check=False)
    told = done.stderr.decode()
    assert done.returncode == 2
    assert told.count("\n") == 1
    assert told[:-1].isprintable()
    assert len(told) < 400
    assert "unknown command" in told


def test_version(lab: Lab) -> None:
    """The version is told with the name."""
    assert lab.majordomus("--version").stdout.startswith("majordomus 0.")
