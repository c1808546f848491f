"""Which policy is in force: the checkout's own, the primary checkout's, the clone's own, or none; one file alone."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from brief.core.policy.names import POLICY_FILE, PolicySource
from brief.policy import PolicyCache, PolicyStatus, read_policy
from brief.support.state_folder import make_state
from sandbox import Lab


@pytest.fixture
def tree(lab: Lab) -> Path:
    """A linked worktree beside the primary checkout. Neither has a policy."""
    lab.commit()
    folder = lab.base / "tree"
    lab.git("worktree", "add", "-q", str(folder), "-b", "old")
    return folder


def write(path: Path, minutes: int | str) -> None:
    """A policy that differs from the others by its interval."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"session: {{brief_interval_minutes: {minutes}}}\n")


def local(lab: Lab) -> Path:
    """The path of the clone's own policy."""
    make_state(str(lab.state))
    return lab.state / "policy.yaml"


def interval(lab: Lab, folder: Path) -> tuple[int, str]:
    """The interval in force in a checkout, and whose policy says so."""
    policy = read_policy(str(folder), str(lab.common_dir))
    return policy.settings.session.brief_interval_minutes, policy.source


def test_the_first_file_that_exists_is_in_force_alone(lab: Lab, tree: Path) -> None:
    """Nothing is merged: the next file counts only where the one before does not exist."""
    assert interval(lab, tree) == (20, PolicySource.DEFAULTS)
    write(local(lab), 5)
    assert interval(lab, tree) == interval(lab, lab.repo) == (5, PolicySource.CLONE)
    write(lab.repo / POLICY_FILE, 6)
    assert interval(lab, tree) == (6, PolicySource.PRIMARY)
    assert interval(lab, lab.repo) == (6, PolicySource.CHECKOUT)
    (tree / POLICY_FILE).parent.mkdir(parents=True)
    (tree / POLICY_FILE).write_text("session: {wake_limit: 3}\n")
    assert interval(lab, tree) == (20, PolicySource.CHECKOUT)


def test_a_running_process_follows_every_change(lab: Lab, tree: Path) -> None:
    """Files come and go, and the policy in force with them, whichever was cached."""
    cache = PolicyCache()

    def now() -> int:
        return cache.read(str(tree), str(lab.common_dir)).settings.session.brief_interval_minutes

    own, primary, clone = tree / POLICY_FILE, lab.repo / POLICY_FILE, local(lab)
    for path, minutes in ((clone, 5), (primary, 6), (own, 7)):
        write(path, minutes)
        assert now() == minutes
    for path, minutes in ((own, 6), (primary, 5), (clone, 20)):
        path.unlink()
        assert now() == minutes


@pytest.mark.parametrize("fault", ["broken", "folder", "link"])
def test_a_file_that_cannot_be_read_is_not_passed_over(fault: str, lab: Lab, tree: Path) -> None:
    """Its settings are unknown, but no other file is followed instead, and the sentence names it."""
    write(lab.repo / POLICY_FILE, 6)
    own = tree / POLICY_FILE
    own.parent.mkdir(parents=True)
    if fault == "broken":
        own.write_text("session: [\n")
    elif fault == "folder":
        own.mkdir()
    else:
        own.symlink_to("missing.yaml")
    policy = read_policy(str(tree), str(lab.common_dir))
    assert (policy.status, policy.source) == (PolicyStatus.UNREADABLE, PolicySource.CHECKOUT)
    assert policy.settings.session.brief_interval_minutes == 20


def test_a_fault_names_the_file_that_it_is_in(lab: Lab, tree: Path) -> None:
    """In a checkout without a policy of its own the whole path tells which file to correct."""
    write(lab.repo / POLICY_FILE, "soon")
    (sentence,) = (fault.sentence for fault in read_policy(str(tree), str(lab.common_dir)).faults)
    assert sentence.startswith(f"{lab.repo}/{POLICY_FILE}: session.brief_interval_minutes is")
    shutil.rmtree(lab.repo / ".ai")
    write(local(lab), "soon")
    (sentence,) = (fault.sentence for fault in read_policy(str(tree), str(lab.common_dir)).faults)
    assert sentence.startswith(f"{lab.state}/policy.yaml: session.brief_interval_minutes is")


def test_the_clones_own_policy_must_be_the_users_own(lab: Lab, tree: Path) -> None:
    """A link in the state folder is not followed, and what it leads to is not in force."""
    elsewhere = lab.base / "elsewhere.yaml"
    elsewhere.write_text("session: {brief_on_interval: true}\n")
    local(lab).symlink_to(elsewhere)
    policy = read_policy(str(tree), str(lab.common_dir))
    assert (policy.status, policy.source) == (PolicyStatus.UNREADABLE, PolicySource.CLONE)
    assert not policy.settings.session.brief_on_interval


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_primary_checkout_of_another_user_decides_nothing(lab: Lab, tree: Path) -> None:
    """A user who may write there must not be able to wake the sessions of this user."""
    write(lab.repo / POLICY_FILE, 6)
    os.chown(lab.repo, 12_345, -1)
    try:
        policy = read_policy(str(tree), str(lab.common_dir))
    finally:
        os.chown(lab.repo, 0, -1)
    assert policy.status is PolicyStatus.UNREADABLE
    assert "belongs to uid 12345, not to you" in policy.faults[0].sentence


def test_the_brief_and_the_commands_name_the_file_in_force(lab: Lab, tree: Path) -> None:
    """A person sees whose policy applies, in the page, in JSON, in `policy show` and in `doctor`."""
    write(lab.repo / POLICY_FILE, 6)
    path = f"{lab.repo}/{POLICY_FILE}"
    page = lab.majordomus("brief", cwd=tree).stdout
    assert f"policy {path} (the primary checkout's, since this one has none)\n" in page
    document = json.loads(lab.majordomus("brief", "--format", "json", cwd=tree).stdout)
    assert document["policy"] == {"source": "primary", "path": path}
    assert document["interval_minutes"] == 6
    shown = lab.majordomus("policy", "show", cwd=tree).stdout
    assert f"note: the policy in force is {path}, since this checkout has none of its own\n" in shown
    assert json.loads(lab.majordomus("policy", "show", "--format", "json", cwd=tree).stdout)["source"] == "primary"
    assert lab.majordomus("policy", "check", cwd=tree).stdout == f"{path}: good\n"
    assert "\npolicy .ai/repo/policy.yaml\n" in lab.majordomus("brief").stdout
    doctor = lab.majordomus("doctor").stdout
    assert f"policy       good: {POLICY_FILE} of this checkout" in doctor
    assert f"worktree     {tree}: policy good: {path}, since this checkout has none of its own" in doctor


def test_init_writes_the_clones_own_policy(lab: Lab, tree: Path) -> None:
    """With `--local` no file lies in a checkout, every worktree follows it, and a second call changes nothing."""
    done = lab.majordomus("init", "--local", cwd=tree)
    path = lab.state / "policy.yaml"
    assert (done.returncode, done.stdout.startswith(f"{path}: written, every key at its default\n")) == (0, True)
    assert lab.git("status", "--porcelain", cwd=tree) == ""
    path.write_text("session: {brief_interval_minutes: 9}\n")
    assert f"{path}: already there; left as it is" in lab.majordomus("init", "--local").stdout
    assert interval(lab, tree) == interval(lab, lab.repo) == (9, PolicySource.CLONE)
    page = lab.majordomus("brief", cwd=tree).stdout
    assert f"policy {path} (this clone's own)\n" in page
