"""The integration section: the queue as it was last read, and how long ago that was."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.brief import IntegrationSection, Status
from brief.core.model.section_data import QueueEntry
from brief.core.text.line import compose_line
from brief.integration.observation import Observation, ObservationError
from brief.sections.integration import answer
from samples import NOW, ago, ask, context


def entry(name: str = "fix", **fields: Any) -> QueueEntry:
    """A branch three commits ahead."""
    known: dict[str, Any] = {
        "name": name,
        "number": None,
        "lane": "base",
        "disposition": "open",
        "conflicts_with": None,
        "ahead": 3,
        "behind": 0,
        "committed_at": ago(hours=2),
        "worktree": None,
    }
    return QueueEntry(**{**known, **fields})


def observe(folder: Path, *entries: QueueEntry, omitted: int = 0, at: datetime = NOW) -> None:
    """Write an observation into a state folder."""
    Observation(observed_at=at, base="main", base_sha="0" * 40, provider="git", entries=entries, omitted=omitted).write(
        f"{folder}/observation.json"
    )


def asked(folder: Path, **integration: Any) -> IntegrationSection:
    """The integration section for a state folder, under those settings."""
    return answer(context(state_dir=str(folder)), ask(settings={"integration": integration}))


@pytest.mark.parametrize(
    ("provider", "status", "reason"),
    [
        ("none", Status.UNDECLARED, "integration.provider is none"),
        ("github", Status.UNREAD, "integration.provider is github, which this version"),
        ("auto", Status.UNREAD, "the branches were never read; run majordomus queue refresh"),
        ("git", Status.UNREAD, "the branches were never read; run majordomus queue refresh"),
    ],
)
def test_a_queue_nobody_looked_at_has_no_length(tmp_path: Path, provider: str, status: Status, reason: str) -> None:
    """Not set up, not possible and not done yet have three different reasons, no data, and never 0 branches."""
    found = asked(tmp_path, provider=provider)
    assert (found.status, found.data, found.as_of) == (status, None, None)
    assert (found.reason or "").startswith(reason)


def test_a_queue_that_is_not_set_up_is_not_shown_from_an_older_look(tmp_path: Path) -> None:
    """With the provider switched off, an earlier observation is not repeated."""
    observe(tmp_path, entry())
    assert asked(tmp_path, provider="none").data is None


def test_the_queue_as_it_was_seen(tmp_path: Path) -> None:
    """Branches are in merge order, with ahead, behind, age and checkout, as of when they were read."""
    observe(tmp_path, entry("fix", behind=1, worktree="/w/koda"), entry("docs", committed_at=None), at=ago(minutes=3))
    found = asked(tmp_path)
    assert (found.status, found.as_of) == (Status.READ, ago(minutes=3))
    assert found.headline == "2 branches ahead of main, next fix (read 3m ago)"
    assert [row.text for row in found.rows] == ["fix: 3 ahead, 1 behind, last commit 2h ago, in koda", "docs: 3 ahead"]
    assert found.data is not None
    assert (found.data.open, found.data.next, len(found.data.queue)) == (2, "fix", 2)


def test_an_empty_queue_was_read(tmp_path: Path) -> None:
    """The branches were read, and none waits."""
    observe(tmp_path)
    found = asked(tmp_path)
    assert (found.status, found.headline) == (Status.READ, "0 branches ahead of main (read just now)")
    assert found.data is not None
    assert (found.data.open, found.data.next) == (0, None)


def test_an_old_look_says_that_it_is_old(tmp_path: Path) -> None:
    """Past integration.refresh_minutes it is partial and names the command to refresh, and the line shows its age."""
    observe(tmp_path, entry(), at=ago(hours=3))
    found = asked(tmp_path, refresh_minutes=60)
    assert (found.status, found.headline) == (Status.PARTIAL, "1 branch ahead of main, next fix (read 3h ago)")
    assert found.reason == (
        "the branches were read 3h ago, longer ago than 60 minutes (integration.refresh_minutes); "
        "run majordomus queue refresh"
    )
    assert compose_line([found], NOW) == "queue 1, next fix 3h ago…?"


def test_a_look_from_the_future_has_no_age(tmp_path: Path) -> None:
    """An observation from the future, beyond the difference of clocks, is unread with the reason, never fresh."""
    observe(tmp_path, entry(), at=NOW + timedelta(days=2))
    found = asked(tmp_path)
    assert (found.status, found.data) == (Status.UNREAD, None)
    assert found.reason == (
        "the branches were read at 2026-03-07T12:00:00Z, which is ahead of this clock; run majordomus queue refresh"
    )
    assert compose_line([found], NOW) == "queue ?"
    observe(tmp_path, entry(), at=NOW + timedelta(seconds=30))
    assert asked(tmp_path).status is Status.READ


def test_branches_that_were_not_looked_at_are_counted(tmp_path: Path) -> None:
    """Branches beyond the limit make it partial and are counted in the headline and the data; no command has their rows."""
    observe(tmp_path, entry(), omitted=7)
    found = asked(tmp_path)
    assert (found.status, found.omitted) == (Status.PARTIAL, 0)
    assert found.reason == "7 more branches are ahead: only the latest 1 are compared"
    assert found.headline.startswith("8 branches ahead")
    assert found.data is not None
    assert found.data.open == 8


def test_a_branch_name_is_an_identity(tmp_path: Path) -> None:
    """A branch name is verbatim in the data, and sanitized in headline and rows."""
    hostile = "a\x1b[31mb\u202ec"
    observe(tmp_path, entry(hostile, worktree=f"/w/{hostile}"))
    found = asked(tmp_path)
    assert found.data is not None
    assert (found.data.next, found.data.queue[0].name) == (hostile, hostile)
    assert found.headline == "1 branch ahead of main, next abc (read just now)"
    assert found.rows[0].text == "abc: 3 ahead, last commit 2h ago, in abc"


def test_an_observation_that_cannot_be_read_is_no_empty_queue(tmp_path: Path) -> None:
    """A damaged file raises an error, for the composer to report, that names the command to repair it."""
    (tmp_path / "observation.json").write_text("{")
    with pytest.raises(ObservationError, match="majordomus queue refresh"):
        asked(tmp_path)


def test_branches_that_could_not_be_read_are_named(tmp_path: Path) -> None:
    """The section is partial, with the first names sanitized, and says what else may be missing."""
    names = ("feat", "e\x1b[31mvil", "c", "d", "e", "f")
    for unread, told in ((names[:1], "1 branch could not be read (feat)"), (names, "6 branches could not be read")):
        Observation(
            observed_at=NOW,
            base="main",
            base_sha="0" * 40,
            provider="git",
            entries=(),
            omitted=0,
            unread=unread,
            gaps=("git said: warning: odd",),
        ).write(f"{tmp_path}/observation.json")
        found = asked(tmp_path)
        assert found.status is Status.PARTIAL
        assert found.headline.startswith("0 branches ahead of main")
        assert (found.reason or "").startswith(told)
        assert (found.reason or "").endswith("; git said: warning: odd")
        assert "\x1b" not in (found.reason or "")
    assert "(feat, evil, c, d, e and 1 more)" in (found.reason or "")
