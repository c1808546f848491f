"""A lock is found whatever else lies in its folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.core.notices.notice import Kind
from brief.notices import folder as folders_module
from brief.notices import lock_survey as module
from brief.notices.lock_survey import survey_locks
from brief.notices.locking import Held, Placed, Request, find_held, take_lock
from notice_helpers import SESSION

OTHER = "33333333-3333-4333-8333-333333333333"
NOW = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)


def ask(folder: Path, component: str, session: str) -> Placed | Held:
    """Place a lock."""
    request = Request(component=component, session_id=session)
    return take_lock([str(folder)], request, NOW, lambda notice: notice.kind is Kind.LOCK and notice.status == "active")


def crowd(folder: Path, count: int) -> None:
    """Many notices of another kind."""
    for number in range(count):
        (folder / f"active/many-{number:04}.md").write_text("---\nkind: alert\n---\n")


def test_no_lock_is_taken_beyond_the_bound_of_a_brief(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one that was placed nor one written by hand under any name; all of them are listed, and none archived."""
    monkeypatch.setattr(folders_module, "MOST_FILES", 10)
    components = [f"part-{number}" for number in range(20)]
    for component in components:
        assert isinstance(ask(tmp_path, component, SESSION), Placed)
    (tmp_path / "active/zz-by-hand.md").write_text("---\nkind: lock\ncomponent: koda\n---\n")
    crowd(tmp_path, 50)
    for component in (*components, "koda"):
        assert isinstance(ask(tmp_path, component, OTHER), Held)
    found = find_held([str(tmp_path)], lambda notice: notice.kind is Kind.LOCK)
    assert {lock.component for lock, _ in found.locks} == {*components, "koda"}
    assert not found.unread
    assert not (tmp_path / "archive").exists()


def test_the_lock_of_a_component_is_found_by_its_name_beyond_every_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not looked through is told, and holds nobody's lock free."""
    assert isinstance(ask(tmp_path, "koda", SESSION), Placed)
    for number in range(30):
        (tmp_path / f"active/lock-a-{number}.md").write_text("---\nkind: alert\n---\n")
    for bound in ("MOST_FILES", "MOST_NAMES"):
        with monkeypatch.context() as patch:
            patch.setattr(folders_module, "MOST_FILES", 5)
            patch.setattr(module, "MOST_FILES", 5)
            if bound == "MOST_NAMES":
                patch.setattr(folders_module, bound, 5)
            assert isinstance(ask(tmp_path, "koda", OTHER), Held), bound
            assert survey_locks([str(tmp_path)]).unread.sentence == "1 folder, possibly locks, could not be read"


def test_what_cannot_be_a_lock_is_not_parsed(tmp_path: Path) -> None:
    """A damaged notice whose front matter is whole and names no lock is none; any other damaged file may be one."""
    (tmp_path / "active").mkdir()
    texts = {
        "alert": "---\nkind: alert\ntitle: a: b\n---\nlock\n",
        "lock": "---\nkind: lock\ntitle: a: b\n---\n",
        "escaped": '---\nkind: "lo\\x63k"\ntitle: a: b\n---\n',
        "torn": "---\nkind: al",
        "none": "words\n",
    }
    for slug, text in texts.items():
        (tmp_path / f"active/{slug}.md").write_text(text)
    found = survey_locks([str(tmp_path)]).unread.files
    assert sorted(Path(path).stem for path, _ in found) == ["escaped", "lock", "none", "torn"]


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("hands-off", "---\nkind: lock\ncomponent: koda\ntitle: a: b\n---\n", True),
        ("hands-off", "---\nkind: lock\ncomponent: 'koda'  # why\ntitle: a: b\n---\n", True),
        ("hands-off", "---\nkind: lock\ncomponent: kdb\ntitle: a: b\n---\n", False),
        ("hands-off", "---\nkind: alert\ncomponent: koda\ntitle: a: b\n---\n", False),
        ("lock-koda", "---\nkind: lo", True),
        ("lock-koda-api", "---\nkind: lo", False),
    ],
)
def test_a_damaged_file_holds_the_component_that_it_names(tmp_path: Path, name: str, text: str, held: bool) -> None:
    """By its text or its name."""
    (tmp_path / "active").mkdir()
    (tmp_path / f"active/{name}.md").write_text(text)
    assert isinstance(ask(tmp_path, "koda", SESSION), Held if held else Placed)
