from __future__ import annotations

import os
from datetime import timedelta

from brief.handlers.alerts import ListInputs, list_alerts
from brief.notices.read_receipts import mark_seen
from brief.server.housekeeping import tidy
from repo_fixture import ANN, BEGIN, BOB, Place
from sandbox import Lab, until
from serving import FAST_LOOKS, leave_notice, serve


def test_over_is_put_away(place: Place) -> None:
    """Expired notices move to the archive even if no hook ever ran, also in a folder that only one work tree declares."""
    topic = place.lab.worktree("topic")
    (topic / ".ai/repo").mkdir(parents=True)
    (topic / ".ai/repo/policy.yaml").write_text("version: 1\nalerts:\n  folders: [notices]\n")
    (topic / "notices/active").mkdir(parents=True)
    (topic / "notices/active/there.md").write_text("---\nkind: alert\nexpires: 2026-10-11\n---\n")
    over = place.put("over", kind="alert", expires="2026-10-11")
    still = place.put("still", kind="alert", expires="2026-10-12")
    place.call(list_alerts, ListInputs)
    assert over.exists()
    tidy(place.service)
    assert [over.exists(), still.exists()] == [False, True]
    assert (topic / "notices/archive/there.md").exists()


def test_checkout_that_cannot_be_looked_at(place: Place) -> None:
    """A work tree that is broken keeps nobody else's notices from being put away."""
    topic = place.lab.worktree("a-topic")
    (topic / ".git").write_text("rubbish")
    over = place.put("over", kind="alert", expires="2026-10-11")
    tidy(place.service)
    assert not over.exists()


def test_markers_of_long_ago(place: Place) -> None:
    """The read receipts of a session are removed 30 days after its last one."""
    seen = place.lab.state / "seen"
    for session, days in ((ANN, 31), (BOB, 29)):
        before = {*seen.glob("*")}
        mark_seen(str(place.lab.state), session, ["tea"])
        (made,) = {*seen.glob("*")} - before
        moment = (BEGIN - timedelta(days=days)).timestamp()
        os.utime(made, (moment, moment))
    tidy(place.service)
    assert [path.stat().st_mtime for path in seen.iterdir()] == [(BEGIN - timedelta(days=29)).timestamp()]


def test_server_tidies_by_itself(lab: Lab) -> None:
    """A server puts away what is over when it begins to look."""
    lab.commit()
    leave_notice(lab, "over", "---\nkind: alert\nexpires: 2020-01-01\n---\n")
    serve(lab, FAST_LOOKS)
    until((lab.state / "notices/archive/over.md").exists)


def test_what_a_kill_left_is_removed(place: Place) -> None:
    """Half-written notices of long ago go, those under way stay."""
    place.put("fine", kind="alert")
    active = place.lab.state / "notices/active"
    active.chmod(0o700)
    old, young = active / ".abcdefgh.tmp", active / ".bcdefghi.tmp"
    for path, minutes in ((old, 11), (young, 1)):
        path.touch()
        moment = (BEGIN - timedelta(minutes=minutes)).timestamp()
        os.utime(path, (moment, moment))
    tidy(place.service)
    assert [old.exists(), young.exists()] == [False, True]


def test_what_a_kill_left_in_the_folders_of_the_policy(place: Place) -> None:
    """Half-written notices go from every folder that counts, and from no other."""
    (place.lab.repo / ".ai/repo").mkdir(parents=True)
    (place.lab.repo / ".ai/repo/policy.yaml").write_text("version: 1\nalerts:\n  folders: [notices]\n")
    left = []
    for folder in ("notices/active", "others/active"):
        inner = place.lab.repo / folder
        inner.mkdir(parents=True)
        inner.chmod(0o755)
        left.append(inner / ".abcdefgh.tmp")
        left[-1].touch()
        moment = (BEGIN - timedelta(minutes=11)).timestamp()
        os.utime(left[-1], (moment, moment))
    tidy(place.service)
    assert [path.exists() for path in left] == [False, True]
