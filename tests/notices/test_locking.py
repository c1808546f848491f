from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from brief.core.model.errors import ConflictError, NotFoundError, UsageError
from brief.core.notices.notice import Notice
from brief.core.notices.visibility import is_held
from brief.notices.locking import Held, Placed, Request, find_held, release_locks, take_lock
from notice_helpers import SESSION
from racing import race
from sandbox import Lab

OTHER = "33333333-3333-4333-8333-333333333333"
NOW = datetime(2026, 10, 11, 9, 0, 0, 250_000, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Prague")


def stands_at(moment: datetime = NOW) -> partial[bool]:
    """What the caller judges by."""
    return partial(is_held, now=moment, zone=ZONE)


def ask(
    folder: Path, component: str = "koda", session: str = SESSION, at: datetime = NOW, **more: object
) -> Placed | Held:
    """Place a lock."""
    request = Request(component=component, session_id=session, **more)  # type: ignore[arg-type]  # as a test gives them
    return take_lock([str(folder)], request, at, stands_at(at))


def put(folder: Path, slug: str, **fields: str) -> Path:
    """A lock written by hand."""
    path = folder / f"active/{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f"{key}: {value}\n" for key, value in fields.items())
    path.write_text(f"---\nkind: lock\n{head}---\n# by hand\n")
    return path


def slugs(folder: Path) -> dict[str, list[str]]:
    """The slugs in `active/` and `archive/`."""
    return {inner.name: sorted(path.stem for path in inner.iterdir()) for inner in sorted(folder.iterdir())}


# ---------------------------------------------------------------- place


def test_a_lock_is_a_notice_that_says_whose_it_is(tmp_path: Path) -> None:
    """Component, session and the moment are in the file, and a body where there is one."""
    placed = ask(tmp_path, title="Hands off", body="why\n")
    assert isinstance(placed, Placed)
    assert Path(placed.path).read_text() == (
        f"---\nkind: lock\nstatus: active\ntitle: Hands off\ncomponent: koda\nsession_id: {SESSION}\n"
        "created: 2026-10-11T09:00:00Z\n---\nwhy\n"
    )
    assert placed.notice.slug.startswith("lock-koda-")
    assert [(lock.slug, path) for lock, path in find_held([str(tmp_path)], stands_at()).locks] == [
        (placed.notice.slug, placed.path)
    ]


def test_the_second_is_told_who_holds_it(tmp_path: Path) -> None:
    """Who, since when and in which file; neither spaces nor upper case make another component."""
    placed = ask(tmp_path)
    assert isinstance(placed, Placed)
    held = ask(tmp_path, " KODA ", OTHER)
    assert isinstance(held, Held)
    assert (held.component, held.session_id, held.since, held.path, held.fault) == (
        "koda",
        SESSION,
        datetime(2026, 10, 11, 9, tzinfo=UTC),
        placed.path,
        None,
    )
    assert isinstance(ask(tmp_path, "koda", SESSION), Held)
    assert isinstance(ask(tmp_path, "../../koda/日本", OTHER), Placed)
    assert isinstance(ask(tmp_path, "../../koda/日 本", OTHER), Placed)


def test_of_racing_callers_one_holds_it(tmp_path: Path) -> None:
    """Forty processes ask for one lock at once: one places it, and all others are told that it is that one's."""
    work = """
from datetime import datetime, UTC
from brief.notices.locking import Placed, Request, take_lock
def work(number, folder):
    session = f"{number:08d}-0000-4000-8000-000000000000"
    request = Request(component="koda", session_id=session)
    outcome = take_lock([folder], request, datetime.now(UTC), lambda notice: notice.status == "active")
    return [isinstance(outcome, Placed), outcome.notice.session_id]
"""
    outcomes = race(40, work, str(tmp_path))
    assert sum(placed for placed, _ in outcomes) == 1
    assert len({session for _, session in outcomes}) == 1
    assert len(slugs(tmp_path)["active"]) == 1


def test_a_lock_written_by_hand_counts(tmp_path: Path) -> None:
    """In any of the folders, under any name, without a session and without a date."""
    hand = put(tmp_path / "tracked", "hands-off", component='"koda "')
    folders = [str(tmp_path / "own"), str(tmp_path / "tracked")]
    held = take_lock(folders, Request(component="koda", session_id=SESSION), NOW, stands_at())
    assert isinstance(held, Held)
    assert (held.path, held.session_id, held.since) == (str(hand), None, None)
    assert isinstance(take_lock(folders, Request(component="kdb", session_id=SESSION), NOW, stands_at()), Placed)


@pytest.mark.parametrize(
    "fields", [{"status": "done"}, {"expires": "2026-10-11"}, {"fires_on": "2026-10-12"}, {"component": "kdb"}]
)
def test_what_does_not_stand_is_in_nobodys_way(tmp_path: Path, fields: dict[str, str]) -> None:
    """A lock that is done, over, still to come, or on something else."""
    put(tmp_path, "old", **{"component": "koda", **fields})
    assert isinstance(ask(tmp_path), Placed)


def test_a_lock_ends_by_itself(tmp_path: Path) -> None:
    """It holds for its whole time, and then the next one takes its place; the old one is kept in the archive."""
    placed = ask(tmp_path, ttl=timedelta(minutes=30))
    assert isinstance(placed, Placed)
    assert placed.notice.expires == datetime(2026, 10, 11, 9, 30, 1, tzinfo=UTC)
    assert isinstance(ask(tmp_path, session=OTHER, at=NOW + timedelta(minutes=30)), Held)
    again = ask(tmp_path, session=OTHER, at=NOW + timedelta(minutes=31))
    assert isinstance(again, Placed)
    assert again.notice.session_id == OTHER
    assert slugs(tmp_path) == {"active": [placed.notice.slug], "archive": [placed.notice.slug]}


def test_its_own_session_extends_it(tmp_path: Path) -> None:
    """Placed again with a later end it holds longer, in the same file; an earlier end, or none, changes nothing."""
    placed = ask(tmp_path, ttl=timedelta(minutes=30))
    assert isinstance(placed, Placed)
    longer = ask(tmp_path, "KODA", ttl=timedelta(minutes=40))
    assert isinstance(longer, Held)
    assert (longer.is_extended, longer.component, longer.path) == (True, "koda", placed.path)
    end = datetime(2026, 10, 11, 9, 40, 1, tzinfo=UTC)
    for ttl in (timedelta(minutes=5), timedelta(minutes=40), None):
        held = ask(tmp_path, ttl=ttl)
        assert isinstance(held, Held)
        assert (held.is_extended, held.notice and held.notice.expires) == (False, end)
    assert isinstance(other := ask(tmp_path, session=OTHER, ttl=timedelta(days=9)), Held)
    assert not other.is_extended
    assert [lock.expires for lock, _ in find_held([str(tmp_path)], stands_at()).locks] == [end]


def test_an_extended_date_is_meant_in_the_zone(tmp_path: Path) -> None:
    """A lock by hand that ends at a local midnight is extended only past that moment."""
    put(tmp_path, "hand", component="koda", session_id=SESSION, expires="2026-10-12")
    request = Request(component="koda", session_id=SESSION, ttl=timedelta(hours=13, minutes=30))
    for zone, is_extended in ((ZoneInfo("UTC"), False), (ZONE, True)):
        held = take_lock([str(tmp_path)], request, NOW, stands_at(), zone)
        assert isinstance(held, Held)
        assert held.is_extended is is_extended


def test_a_lock_without_an_end_is_not_given_one(tmp_path: Path) -> None:
    """It holds until it is released."""
    ask(tmp_path)
    held = ask(tmp_path, ttl=timedelta(minutes=40))
    assert isinstance(held, Held)
    assert (held.is_extended, held.notice and held.notice.expires) == (False, None)


def test_a_damaged_lock_of_that_name_is_held(tmp_path: Path) -> None:
    """A file cut in half may be somebody's lock; other damaged files are named to who places one."""
    placed = ask(tmp_path)
    assert isinstance(placed, Placed)
    Path(placed.path).write_text("---\nkind: lock\ncompo")
    held = ask(tmp_path, session=OTHER)
    assert isinstance(held, Held)
    assert (held.notice, held.session_id, held.since, held.path) == (None, None, None, placed.path)
    assert "the front matter is never closed" in (held.fault or "")
    other = ask(tmp_path, "kdb")
    assert isinstance(other, Placed)
    assert [path for path, _ in other.unread.files] == [placed.path]


@pytest.mark.parametrize("component", ["", "  ", "x" * 201, "a\x1b[31mb", "evil\u202e"])
def test_a_component_has_a_name(tmp_path: Path, component: str) -> None:
    """One that is empty, too long or not all visible is refused."""
    with pytest.raises(UsageError, match=r"component: .* cannot be locked; name it in at most 200 characters"):
        ask(tmp_path, component)


def test_a_lock_is_refused_without_a_session_or_a_time(tmp_path: Path) -> None:
    """No UUID, no time, too much time: sentences, and no file."""
    for session in ("", "724929"):
        with pytest.raises(UsageError, match="session_id: a lock needs the UUID"):
            ask(tmp_path, session=session)
    for ttl in (timedelta(0), timedelta(days=-1), timedelta(days=4_000_000)):
        with pytest.raises(UsageError, match="ttl: "):
            ask(tmp_path, ttl=ttl)
    assert find_held([str(tmp_path)], stands_at()).locks == ()


# ---------------------------------------------------------------- release


def let_go(folder: Path, session: str | None = SESSION, component: str = "koda", *, force: bool = False) -> list[str]:
    """Release a lock, and tell where the files are."""
    released = release_locks([str(folder)], component, session, is_held=stands_at(), force=force).locks
    return [os.path.relpath(each.path, folder) for each in released]


def test_who_holds_it_releases_it(tmp_path: Path) -> None:
    """It is done, in the archive, and free for the next; the id's upper case does not matter."""
    session = "abcdefab-2222-4222-8222-222222222222"
    placed = ask(tmp_path, session=session)
    assert isinstance(placed, Placed)
    name = f"{placed.notice.slug}.md"
    assert let_go(tmp_path, session.upper()) == [f"archive/{name}"]
    assert "status: done\n" in (tmp_path / "archive" / name).read_text()
    assert isinstance(ask(tmp_path, session=OTHER), Placed)
    assert let_go(tmp_path, OTHER) == [f"archive/{placed.notice.slug}-2.md"]


def test_nobody_else_releases_it_but_by_force(tmp_path: Path) -> None:
    """The holder is named; force needs no session, and takes every lock on the component, the damaged one too."""
    placed = ask(tmp_path)
    assert isinstance(placed, Placed)
    for session in (OTHER, None, ""):
        with pytest.raises(
            ConflictError, match=f"the lock on koda is held by session {SESSION}; leave it to that session"
        ):
            let_go(tmp_path, session)
    put(tmp_path, "anonymous", component="koda")
    put(tmp_path, "elsewhere", component="kdb")
    Path(placed.path).write_text("---\nkind")
    with pytest.raises(ConflictError, match="is held by a session that it does not name"):
        let_go(tmp_path, OTHER)
    assert let_go(tmp_path, None, force=True) == ["archive/anonymous.md", f"archive/{placed.notice.slug}.md"]
    assert slugs(tmp_path)["active"] == ["elsewhere"]


def test_a_damaged_lock_is_told_to_who_would_release_it(tmp_path: Path) -> None:
    """Whose it is cannot be known, and the sentence says what to do."""
    placed = ask(tmp_path)
    assert isinstance(placed, Placed)
    Path(placed.path).write_text("---\nkind")
    with pytest.raises(
        ConflictError, match=r"the lock on koda cannot be read \(.*\); fix it, or release it with --force"
    ):
        let_go(tmp_path)


def test_what_is_not_locked_cannot_be_released(tmp_path: Path) -> None:
    """Neither a component without a lock, nor one whose lock of another session is over."""
    put(tmp_path, "over", component="koda", expires="2026-10-10", session_id=OTHER)
    for component in ("koda", "kdb"):
        with pytest.raises(NotFoundError, match=f"there is no lock on {component}; see majordomus lock status"):
            let_go(tmp_path, component=component)
    assert let_go(tmp_path, OTHER) == ["archive/over.md"]


def test_a_lock_in_a_tracked_folder_stays_where_it_is(lab: Lab) -> None:
    """It is done there, for a person to commit."""
    folder = lab.repo / "notices"
    path = put(folder, "hand", component="koda", session_id=SESSION)
    lab.git("add", "notices")
    assert let_go(folder) == ["active/hand.md"]
    assert "status: done" in path.read_text()
    assert isinstance(ask(folder), Placed)


def test_racing_releases_release_once(tmp_path: Path) -> None:
    """Of ten processes of the holder one releases it, and the others find no lock."""
    ask(tmp_path)
    work = """
from brief.core.model.errors import NotFoundError
from brief.notices.locking import release_locks
def work(number, folder, session):
    try:
        return len(release_locks([folder], "koda", session, is_held=lambda notice: notice.status == "active").locks)
    except NotFoundError:
        return 0
"""
    assert sum(race(10, work, str(tmp_path), SESSION)) == 1
    assert len(slugs(tmp_path)["archive"]) == 1


def test_only_locks_that_stand_are_listed(tmp_path: Path) -> None:
    """Of all folders; files that could not be read are named, since they may be some."""
    put(tmp_path / "one", "a", component="koda")
    put(tmp_path / "one", "done", component="koda", status="done")
    put(tmp_path / "two", "b", session_id=OTHER, created=str(date(2020, 1, 1)))
    (tmp_path / "two/active/broken.md").write_text("x")
    (tmp_path / "two/active/alert.md").write_text("---\nkind: alert\n---\n")
    found = find_held([str(tmp_path / "one"), str(tmp_path / "two"), str(tmp_path / "gone")], stands_at())
    assert [lock.slug for lock, _ in found.locks] == ["a", "b"]
    assert [os.path.basename(path) for path, _ in found.unread.files] == ["broken.md"]


def test_who_judges_is_the_caller(tmp_path: Path) -> None:
    """A lock whose owner is known to be gone no longer stands if the caller says so."""

    def nobody(_: Notice) -> bool:
        return False

    ask(tmp_path)
    assert isinstance(take_lock([str(tmp_path)], Request(component="koda", session_id=OTHER), NOW, nobody), Placed)
