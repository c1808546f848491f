from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from brief.core.model.errors import ConflictError, DocumentError, NotFoundError, UsageError
from brief.core.notices.notice import parse
from brief.notices.folder_lock import NoticeError
from brief.notices.store import NoticeStore
from brief.notices.writing import create_notice, put, set_done
from notice_helpers import SESSION
from racing import race

NOW = datetime(2026, 10, 11, 9, 0, 0, 123_456, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Prague")


def active(folder: Path) -> dict[str, bytes]:
    """The files of `active/`, by name."""
    return {path.name: path.read_bytes() for path in (folder / "active").iterdir()}


def put_text(folder: Path, slug: str, text: str) -> Path:
    """A notice as a person would write it."""
    path = folder / f"active/{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


# ---------------------------------------------------------------- create


def test_a_notice_is_written_whole(tmp_path: Path) -> None:
    """Fields in order, the moment it was made, the body as given; for its owner's eyes alone; nothing else beside it."""
    made = create_notice(
        str(tmp_path / "n"), {"kind": "alert", "title": "Lock: Kůň", "x-own": [1]}, "# a\r\n\ttext", NOW
    )
    assert active(tmp_path / "n") == {
        "lock-kun.md": '---\nkind: alert\ntitle: "Lock: Kůň"\nx-own: [1]\ncreated: 2026-10-11T09:00:00Z\n---\n# a\r\n\ttext'.encode()
    }
    assert made.path == str(tmp_path / "n/active/lock-kun.md")
    assert (made.notice.slug, made.notice.title, made.notice.body) == ("lock-kun", "Lock: Kůň", "# a\r\n\ttext")
    assert stat.S_IMODE(os.stat(made.path).st_mode) == 0o600
    assert NoticeStore([str(tmp_path / "n")]).read().notices == (made.notice,)


def test_a_slug_comes_from_what_names_the_notice(tmp_path: Path) -> None:
    """The title; without one, or with one that has no ASCII, the kind and the component; else the kind."""
    slugs = [
        create_notice(str(tmp_path), fields, "", NOW).notice.slug
        for fields in (
            {"title": "../../Etc/passwd"},
            {"kind": "bug-dep", "component": "koda"},
            {"kind": "courtesy", "title": "日本語"},
            {},
            {"title": "word " * 100},
        )
    ]
    assert slugs == ["etc-passwd", "bug-dep-koda", "courtesy", "alert", "-".join(["word"] * 12)]


def test_the_same_slug_is_never_written_over(tmp_path: Path) -> None:
    """A slug that is in use, or was before it was archived, gets a number."""
    for number in range(3):
        create_notice(str(tmp_path), {"title": "twin"}, str(number), NOW)
    (tmp_path / "archive").mkdir()
    os.rename(tmp_path / "active/twin-3.md", tmp_path / "archive/twin-3.md")
    assert create_notice(str(tmp_path), {"title": "twin"}, "4", NOW).notice.slug == "twin-4"
    assert {name: text[-1:] for name, text in active(tmp_path).items()} == {
        "twin.md": b"0",
        "twin-2.md": b"1",
        "twin-4.md": b"4",
    }


def test_racing_processes_lose_no_notice(tmp_path: Path) -> None:
    """Sixty processes write a notice of one title at once: there are sixty notices, each with its own text."""
    work = """
from datetime import datetime, UTC
from brief.notices.writing import create_notice
def work(number, folder):
    return create_notice(folder, {"title": "twin"}, f"text {number}", datetime.now(UTC)).notice.slug
"""
    slugs = race(60, work, str(tmp_path))
    assert sorted(slugs) == sorted(["twin", *(f"twin-{number}" for number in range(2, 61))])
    bodies = {slug: parse((tmp_path / f"active/{slug}.md").read_bytes(), slug).body for slug in slugs}
    assert bodies == {slug: f"text {number}" for number, slug in enumerate(slugs)}
    assert len(active(tmp_path)) == 60


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"priority": 11}, "priority"),
        ({"expires": "2026-02-30"}, "expires: .2026-02-30. is not a valid day"),
        ({"kind": "thing"}, "kind: .thing. is not one of"),
        ({"title": "x" * 300_000}, "bytes and at most 262,144 are read"),
    ],
)
def test_what_could_not_be_read_is_not_written(tmp_path: Path, fields: dict[str, object], sentence: str) -> None:
    """The strict reader's own sentence, and no file."""
    with pytest.raises(DocumentError, match=sentence):
        create_notice(str(tmp_path), fields, "", NOW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("session_id", [None, "", "724929", "koda"])
def test_a_lock_names_its_session(tmp_path: Path, session_id: str | None) -> None:
    """No way of writing makes a lock without the UUID of a session."""
    with pytest.raises(
        UsageError,
        match=r"session_id: a lock needs the UUID of the session .*, and .*(none is given|is not one); give it with",
    ):
        create_notice(str(tmp_path), {"kind": "lock", "session_id": session_id}, "", NOW)
    assert create_notice(str(tmp_path), {"kind": "lock", "session_id": SESSION}, "", NOW).notice.session_id == SESSION


def test_text_that_is_no_utf_8_is_spelled(tmp_path: Path) -> None:
    """A stray byte of a command line is spelled out, in the front matter and in the body."""
    made = create_notice(str(tmp_path), {"title": "a\udce9"}, "b\udce9", NOW)
    assert (made.notice.body, made.notice.title) == ("b\\xe9", "a\\xe9")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the way, a link that leads out and a full disk are sentences, and nothing half-written stays."""
    (tmp_path / "file").touch()
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked/active").touch()
    (tmp_path / "led").mkdir()
    (tmp_path / "led/active").symlink_to(tmp_path)
    for folder, sentence in (
        ("file", "Not a directory"),
        ("blocked", "/blocked/active cannot be written: File exists; nothing was changed"),
        ("led", "its folder active is a link, and links are not followed for writing; nothing was written"),
    ):
        with pytest.raises(NoticeError, match=sentence):
            create_notice(str(tmp_path / folder), {}, "", NOW)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoticeError, match=r"/n/active/alert.md cannot be written: No space left on device"):
        create_notice(str(tmp_path / "n"), {}, "", NOW)
    assert active(tmp_path / "n") == {}


def test_an_exact_slug_is_taken_once(tmp_path: Path) -> None:
    """Who comes second is told so, and the first notice stays."""
    assert put(str(tmp_path), "one", {}, "first", NOW) is not None
    assert put(str(tmp_path), "one", {}, "second", NOW) is None
    assert active(tmp_path)["one.md"].endswith(b"first")


# ---------------------------------------------------------------- done


def test_done_changes_one_line(tmp_path: Path) -> None:
    """Comments, unknown fields, line ends, byte order mark, body and mode stay as they were."""
    before = (
        "\ufeff---\r\n# ours\r\nkind: bug-dep\r\nstatus: active  # still\r\nx-own: {a: 1}\r\n---\r\nstatus: active\r\n"
    )
    path = put_text(tmp_path, "bug", before)
    path.chmod(0o644)
    done = set_done([str(tmp_path)], "bug", NOW, ZONE)
    assert (done.path, done.fires_on, done.was_done, str(done.notice.status)) == (str(path), None, False, "done")
    assert path.read_bytes().decode() == before.replace("active  #", "done  #")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert len(active(tmp_path)) == 1


def test_done_twice_is_done_once(tmp_path: Path) -> None:
    """The second time changes nothing and says so."""
    path = put_text(tmp_path, "a", "---\nkind: alert\n---\n")
    assert not set_done([str(tmp_path)], "a", NOW, ZONE).was_done
    before = path.stat()
    assert set_done([str(tmp_path)], "a", NOW, ZONE).was_done
    assert path.stat() == before


@pytest.mark.parametrize(
    ("fields", "after"),
    [
        ("fires_on: 2026-10-08\nrecurring: daily", "fires_on: 2026-10-12\nrecurring: daily"),
        ("fires_on: 2026-10-20 # day\nrecurring: weekly", "fires_on: 2026-10-27 # day\nrecurring: weekly"),
        ("recurring: daily", "recurring: daily\nfires_on: 2026-10-12"),
        ("fires_on: '2026-10-09 22:30'\nrecurring: weekdays", "fires_on: 2026-10-12 22:30\nrecurring: weekdays"),
        (
            "fires_on: 2027-01-30\nrecurring: monthly",
            "fires_on: 2027-02-28\nrecurring: monthly\nrecurs_day: 30",
        ),
    ],
)
def test_done_moves_what_recurs(tmp_path: Path, fields: str, after: str) -> None:
    """It stays active and is due again at its next occurrence; a second time before that changes nothing and says so."""
    path = put_text(tmp_path, "a", f"---\n{fields}\n---\nbody\n")
    done = set_done([str(tmp_path)], "a", NOW, ZONE)
    moment = f"{NOW.replace(microsecond=0):%Y-%m-%dT%H:%M:%SZ}"
    assert path.read_text() == f"---\n{after}\ndone_at: {moment}\n---\nbody\n"
    before = path.stat()
    again = set_done([str(tmp_path)], "a", NOW, ZONE)
    assert (again.was_done, again.fires_on, path.stat()) == (True, done.fires_on, before)
    assert done.fires_on == done.notice.fires_on is not None
    assert str(done.notice.status) == "active"


def test_what_recurs_at_the_end_of_the_calendar_is_done(tmp_path: Path) -> None:
    """Where there is no next occurrence it is over."""
    path = put_text(tmp_path, "a", "---\nfires_on: 9999-12-31\nrecurring: yearly\n---\n")
    assert set_done([str(tmp_path)], "a", NOW, ZONE).fires_on is None
    assert "status: done" in path.read_text()


def test_done_follows_no_link(tmp_path: Path) -> None:
    """A notice that is a link is read where its target lies in the folder too, and not written through."""
    real = put_text(tmp_path, "real", "---\nkind: alert\n---\n")
    (tmp_path / "active/link.md").symlink_to("real.md")
    with pytest.raises(NoticeError, match=r"link\.md is a link, and links are not followed for writing"):
        set_done([str(tmp_path)], "link", NOW, ZONE)
    assert real.read_text() == "---\nkind: alert\n---\n"


def test_done_refuses_what_it_cannot_mean(tmp_path: Path) -> None:
    """No such notice, two of them, a broken one, one that is written in a way that cannot be changed: sentences."""
    put_text(tmp_path / "one", "twin", "---\n{}\n---\n")
    put_text(tmp_path / "two", "twin", "---\n{}\n---\n")
    put_text(tmp_path / "one", "broken", "---\nkind: [\n---\n")
    put_text(tmp_path / "one", "alias", "---\nstatus: &s active\nother: *s\n---\n")
    folders = [str(tmp_path / "one"), str(tmp_path / "two")]
    for slug, kind, sentence in (
        ("gone", NotFoundError, "there is no active notice gone"),
        ("twin", ConflictError, "twin may be"),
        ("broken", DocumentError, "/broken.md: line"),
        ("alias", DocumentError, "/alias.md: status cannot be set"),
    ):
        with pytest.raises(kind, match=sentence):
            set_done(folders, slug, NOW, ZONE)
    assert set_done(folders, str(tmp_path / "two/active/twin.md"), NOW, ZONE).path.startswith(str(tmp_path / "two"))


def test_a_full_disk_leaves_the_old_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old text stays whole, and no other file beside it."""
    path = put_text(tmp_path, "a", "---\nkind: alert\n---\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoticeError, match=r"/a.md cannot be written: No space left on device; nothing was changed"):
        set_done([str(tmp_path)], "a", NOW, ZONE)
    assert active(tmp_path) == {"a.md": b"---\nkind: alert\n---\n"}
    assert path.exists()


def test_of_racing_callers_one_sets_it_to_done(tmp_path: Path) -> None:
    """Twenty processes set a daily notice to done: no occurrence is skipped, and the file is whole at the end."""
    put_text(tmp_path, "a", "---\nfires_on: 2026-10-11\nrecurring: daily\n---\nbody\n")
    work = """
from datetime import datetime, UTC
from zoneinfo import ZoneInfo
from brief.notices.writing import set_done
def work(number, folder):
    done = set_done([folder], "a", datetime(2026, 10, 11, 9, tzinfo=UTC), ZoneInfo("UTC"))
    return [done.was_done, str(done.fires_on)]
"""
    told = race(20, work, str(tmp_path))
    assert sorted(told) == [[False, "2026-10-12"], *[[True, "2026-10-12"]] * 19]
    text = b"---\nfires_on: 2026-10-12\nrecurring: daily\ndone_at: 2026-10-11T09:00:00Z\n---\nbody\n"
    assert active(tmp_path) == {"a.md": text}
