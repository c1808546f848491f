"""The policy of a checkout, read from real files."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from brief.core.model.errors import PolicyError
from brief.core.policy.names import POLICY_FILE, PolicySource
from brief.core.policy.settings import Settings
from brief.policy import LIMIT, NO_POLICY, Policy, PolicyCache, PolicyStatus, checked, read_policy, switch_reason
from brief.support.files import any_young, stamp_file
from sandbox import unprivileged, until

ON = "session:\n  brief_on_interval: true\n"

GIT = "/nonexistent/repository.git"
"""A git folder without a primary checkout or a policy of its own."""

UNTIL_FIXED = (
    "; until then its settings are unknown: a server keeps those that it read last, all else uses the defaults"
)


def _write(root: Path, text: str | bytes) -> Path:
    path = root / POLICY_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _only_sentence(policy: Policy) -> str:
    (fault,) = policy.faults
    return fault.sentence


def test_an_absent_policy_is_the_defaults(tmp_path: Path) -> None:
    """A missing file is not a fault: every key has its default and none is declared."""
    policy = read_policy(str(tmp_path), GIT)
    path = str(tmp_path / POLICY_FILE)
    assert policy == Policy(Settings(), (), path, POLICY_FILE, PolicySource.DEFAULTS, PolicyStatus.ABSENT, frozenset())


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_policy_sets_nothing(tmp_path: Path, text: str) -> None:
    """A file of comments alone is read, and sets no key."""
    _write(tmp_path, text)
    policy = read_policy(str(tmp_path), GIT)
    assert (policy.status, policy.settings, policy.declared) == (PolicyStatus.READ, Settings(), frozenset())


def test_a_good_policy_is_read(tmp_path: Path) -> None:
    """What the file sets is in force, and declared."""
    _write(tmp_path, "version: 1\nsession:\n  brief_interval_minutes: 7\n")
    policy = read_policy(str(tmp_path), GIT)
    assert policy.status is PolicyStatus.READ
    assert policy.settings.session.brief_interval_minutes == 7
    assert policy.declared == {"version", "session.brief_interval_minutes"}
    assert checked(policy) is policy


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("0", "0 (whole number)"),
        ("-1", "-1 (whole number)"),
        ("1.5", "1.5 (number)"),
        ('"20"', '"20" (text)'),
        ("1441", "1441 (whole number)"),
        ("1e9", "1e9 (number)"),
        ("true", "true (true/false)"),
        (".nan", ".nan (number)"),
        ("null", "null"),
        ("", "null"),
        ("[]", "[] (list)"),
        ("22:00", "22:00 (text)"),
    ],
)
def test_a_wrong_interval_is_told_as_spelled(tmp_path: Path, value: str, told: str) -> None:
    """An interval that is not a whole number from 1 to 1440 is refused as spelled, and the default is used."""
    _write(tmp_path, f"session:\n  brief_interval_minutes: {value}\n  wake_limit: 3\n")
    policy = read_policy(str(tmp_path), GIT)
    assert policy.status is PolicyStatus.FAULTY
    assert _only_sentence(policy) == (
        f"{POLICY_FILE}: session.brief_interval_minutes is {told}; "
        "write a whole number of minutes from 1 to 1440; the default 20 applies"
    )
    assert policy.settings.session.brief_interval_minutes == 20
    assert policy.settings.session.wake_limit == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("version: 1", f"{POLICY_FILE} does not set it"),
        ("session:\n  brief_on_interval: false", f"{POLICY_FILE} sets it to false"),
        ('session:\n  brief_on_interval: "true"', 'sets it to "true", which is text, and only true turns it on'),
        ("session:\n  brief_on_interval: yes", "sets it to yes, which is text, and only true turns it on"),
        ("session:\n  brief_on_interval: on", "sets it to on, which is text, and only true turns it on"),
        ("session:\n  brief_on_interval: 1", "sets it to 1, which is a whole number, and only true turns it on"),
        ("session:\n  brief_on_interval: null", "sets it to null, and only true turns it on"),
        ("session:\n  brief_on_interval: [true]", "sets it to [1 entry], which is a list, and only true turns it on"),
        ("session: true", f"session is not a mapping in {POLICY_FILE}"),
        ("session.brief_on_interval: true", f"{POLICY_FILE} does not set it"),
    ],
)
def test_the_switch_is_off_and_says_why(tmp_path: Path, text: str, why: str) -> None:
    """Only YAML's true turns the switch on; for anything else the reason names the value."""
    _write(tmp_path, text + "\n")
    reason = switch_reason(read_policy(str(tmp_path), GIT))
    assert reason is not None
    assert reason.startswith("session.brief_on_interval is not true: ")
    assert reason.endswith(why)


def test_the_switch_is_off_where_the_policy_is_unread(tmp_path: Path) -> None:
    """An unreadable policy is not called unset, and the command that says why is named."""
    _write(tmp_path, "session: [\n")
    reason = switch_reason(read_policy(str(tmp_path), GIT))
    told = "session.brief_on_interval is unknown, which counts as off: the policy cannot be read; majordomus policy"
    assert (reason or "").startswith(told)


def test_the_switch_is_off_without_a_policy(tmp_path: Path) -> None:
    """Without a policy the reason names the command that writes one."""
    assert switch_reason(read_policy(str(tmp_path), GIT)) == NO_POLICY


def test_the_switch_is_on_by_true(tmp_path: Path) -> None:
    """A plain true turns the switch on, and there is no reason against it."""
    _write(tmp_path, ON)
    assert switch_reason(read_policy(str(tmp_path), GIT)) is None


def test_an_unknown_zone_is_a_fault_of_the_policy(tmp_path: Path) -> None:
    """A zone unknown to the machine is a fault of the policy, and affects no other key."""
    _write(tmp_path, "timezone: Europe/Prag\n" + ON)
    policy = read_policy(str(tmp_path), GIT)
    assert "timezone is Europe/Prag (text); write the IANA name of a zone" in _only_sentence(policy)
    assert policy.settings.timezone is None
    assert policy.settings.session.brief_on_interval


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version: [1\n", "line 1, column"),
        ("version: 1\nversion: 1\n", "line 2, column 1"),
        ("- 1\n", "line 1, column 1: the file holds [1 entry] (a list); write keys and values"),
        ("words\n", 'line 1, column 1: the file holds "words" (a text)'),
        (b"a: \xff\n", "line 1, column 4"),
        ("# " + "x" * LIMIT, f"at most {LIMIT:,} are read"),
    ],
)
def test_what_is_no_policy_leaves_the_defaults(tmp_path: Path, text: str | bytes, says: str) -> None:
    """An unreadable file is one fault that says where, and all defaults are used."""
    _write(tmp_path, text)
    policy = read_policy(str(tmp_path), GIT)
    assert policy.status is PolicyStatus.UNREADABLE
    assert policy.settings == Settings()
    assert says in _only_sentence(policy)
    assert _only_sentence(policy).startswith(f"{POLICY_FILE} cannot be read: ")
    assert _only_sentence(policy).endswith(UNTIL_FIXED)


def test_what_may_not_be_read_is_no_policy_that_sets_nothing(tmp_path: Path) -> None:
    """If the file or a folder above it is closed, its settings are unknown."""
    tmp_path.chmod(0o755)
    path = _write(tmp_path, ON)
    for closed in (path, path.parent):
        mode = closed.stat().st_mode
        closed.chmod(0)
        found = unprivileged(
            lambda: [str(read_policy(str(tmp_path), GIT).status), read_policy(str(tmp_path), GIT).faults[0].sentence]
        )
        closed.chmod(mode)
        assert found == [
            "unreadable",
            f"{POLICY_FILE} cannot be read: Permission denied; fix it, or remove it{UNTIL_FIXED}",
        ]


def test_what_is_no_file_is_a_fault(tmp_path: Path) -> None:
    """A folder, a pipe, a broken link and a link to itself are reported, and nothing blocks."""
    path = tmp_path / POLICY_FILE
    path.mkdir(parents=True)
    assert "not a file but a folder, a pipe or a device" in _only_sentence(read_policy(str(tmp_path), GIT))
    path.rmdir()
    os.mkfifo(path)
    assert "not a file but a folder, a pipe or a device" in _only_sentence(read_policy(str(tmp_path), GIT))
    path.unlink()
    path.symlink_to("missing.yaml")
    assert "a broken link" in _only_sentence(read_policy(str(tmp_path), GIT))
    path.unlink()
    path.symlink_to("policy.yaml")
    assert "a link that leads to itself" in _only_sentence(read_policy(str(tmp_path), GIT))


def test_a_file_in_the_place_of_a_folder_is_no_policy(tmp_path: Path) -> None:
    """If .ai is a file, there is no policy, and nothing is wrong."""
    (tmp_path / ".ai").write_text("")
    assert read_policy(str(tmp_path), GIT).status is PolicyStatus.ABSENT


def test_a_link_within_the_checkout_is_followed(tmp_path: Path) -> None:
    """A link is followed if its target is in the same checkout."""
    (tmp_path / "shared.yaml").write_text(ON)
    (tmp_path / ".ai/repo").mkdir(parents=True)
    (tmp_path / POLICY_FILE).symlink_to("../../shared.yaml")
    assert read_policy(str(tmp_path), GIT).settings.session.brief_on_interval


@pytest.mark.parametrize("link", [POLICY_FILE, ".ai/repo", ".ai"])
def test_a_link_out_of_the_checkout_is_not_followed(tmp_path: Path, link: str) -> None:
    """A policy outside the checkout, through a link at any depth, is not read."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    _write(outside, ON)
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside / link)
    policy = read_policy(str(root), GIT)
    assert policy.status is PolicyStatus.UNREADABLE
    assert not policy.settings.session.brief_on_interval
    assert "a link leads out of the checkout" in _only_sentence(policy)


def test_the_environment_sets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the shell that started the server is a source of the policy."""
    monkeypatch.setenv("POLICY", '{"session": {"brief_on_interval": true}}')
    monkeypatch.setenv("SESSION__BRIEF_ON_INTERVAL", "true")
    _write(tmp_path, "version: 1\n")
    assert read_policy(str(tmp_path), GIT).settings == Settings()


def test_what_writes_stops_at_every_fault(tmp_path: Path) -> None:
    """A command that writes gets all faults at once and cannot go on."""
    _write(tmp_path, "breif: 1\nsession:\n  wake_limit: -1\n")
    with pytest.raises(PolicyError) as caught:
        checked(read_policy(str(tmp_path), GIT))
    assert caught.value.exit_code == 2
    assert "breif is not a key" in caught.value.sentence
    assert "session.wake_limit is -1 (whole number)" in caught.value.sentence


# ---------------------------------------------------------------- while running


def test_a_change_is_seen_at_the_next_call(tmp_path: Path) -> None:
    """Edits of the same length right after each other are all noticed."""
    shelf = PolicyCache()
    for minutes in [7, 8, 9, 5, 6] * 20:
        _write(tmp_path, f"session:\n  brief_interval_minutes: {minutes}\n")
        assert shelf.read(str(tmp_path), GIT).settings.session.brief_interval_minutes == minutes


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    """While nothing changes, the same policy is returned."""
    path = _write(tmp_path, "version: 1\n")
    until(lambda: not any_young([stamp_file(str(path))]))
    shelf = PolicyCache()
    assert shelf.read(str(tmp_path), GIT) is shelf.read(str(tmp_path), GIT)


def test_a_file_that_could_not_be_read_once_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A passing fault of the machine is forgotten, although the file did not change."""
    path = _write(tmp_path, "session:\n  brief_interval_minutes: 7\n")
    until(lambda: not any_young([stamp_file(str(path))]))
    shelf = PolicyCache()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(errno.EMFILE, "Too many open files")))
        assert shelf.read(str(tmp_path), GIT).status is PolicyStatus.UNREADABLE
    assert shelf.read(str(tmp_path), GIT).settings.session.brief_interval_minutes == 7


def test_the_last_good_value_of_a_key_holds_while_running(tmp_path: Path) -> None:
    """A key that becomes faulty keeps its last good value, however often, and takes the next good one."""
    shelf, root = PolicyCache(), str(tmp_path)
    _write(tmp_path, "session:\n  brief_interval_minutes: 7\n")
    shelf.read(root, GIT)
    for wrong in ["seven", "1.5"]:
        _write(tmp_path, f"session:\n  brief_interval_minutes: {wrong}\n  wake_limit: 3\n")
        policy = shelf.read(root, GIT)
        assert _only_sentence(policy).endswith("the last good value 7 applies")
        assert (policy.settings.session.brief_interval_minutes, policy.settings.session.wake_limit) == (7, 3)
    _write(tmp_path, "session:\n  brief_interval_minutes: 9\n")
    assert shelf.read(root, GIT).settings.session.brief_interval_minutes == 9


def test_the_last_good_policy_stays_while_the_file_is_unreadable(tmp_path: Path) -> None:
    """A file that becomes unreadable changes nothing in force, and the fault says so."""
    shelf, root = PolicyCache(), str(tmp_path)
    _write(tmp_path, "session:\n  brief_interval_minutes: 7\n")
    shelf.read(root, GIT)
    _write(tmp_path, "session: [\n")
    policy = shelf.read(root, GIT)
    assert policy.status is PolicyStatus.UNREADABLE
    assert policy.settings.session.brief_interval_minutes == 7
    assert _only_sentence(policy) == _only_sentence(read_policy(root, GIT))


def test_a_removed_policy_is_the_defaults_again(tmp_path: Path) -> None:
    """Removing the file is a decision: the defaults apply, and no old value comes back."""
    shelf, root = PolicyCache(), str(tmp_path)
    path = _write(tmp_path, "session:\n  brief_interval_minutes: 7\n")
    shelf.read(root, GIT)
    path.unlink()
    assert shelf.read(root, GIT).settings == Settings()
    _write(tmp_path, "session: [\n")
    assert shelf.read(root, GIT).settings == Settings()


def test_a_faulty_switch_is_off_at_once(tmp_path: Path) -> None:
    """A server that wakes sessions stops when the switch is no longer a plain true."""
    shelf, root = PolicyCache(), str(tmp_path)
    _write(tmp_path, ON)
    assert switch_reason(shelf.read(root, GIT)) is None
    _write(tmp_path, "session:\n  brief_on_interval: off\n")
    assert "sets it to off, which is text" in (switch_reason(shelf.read(root, GIT)) or "")


def test_checkouts_do_not_share_what_was_good(tmp_path: Path) -> None:
    """Each root has its own last good values."""
    shelf = PolicyCache()
    _write(tmp_path / "one", "session:\n  brief_interval_minutes: 7\n")
    _write(tmp_path / "two", "session:\n  brief_interval_minutes: x\n")
    assert shelf.read(str(tmp_path / "one"), GIT).settings.session.brief_interval_minutes == 7
    assert shelf.read(str(tmp_path / "two"), GIT).settings.session.brief_interval_minutes == 20


def test_many_threads_read_one_policy(tmp_path: Path) -> None:
    """Callers at the same time all get the whole policy."""
    shelf = PolicyCache()
    _write(tmp_path, "session:\n  brief_interval_minutes: 7\n")
    seen: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: seen.append(shelf.read(str(tmp_path), GIT).settings.session.brief_interval_minutes)
        )
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [7] * 16
