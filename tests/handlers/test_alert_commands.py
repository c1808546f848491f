from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.brief import Brief
from brief.core.model.errors import ConflictError, DocumentError, MajordomusError, NotFoundError, UsageError
from brief.core.notices.notice import Kind, Notice, parse
from brief.core.text.brief_digest import digest_facts
from brief.handlers.alert_commands import (
    AddInputs,
    ChangedNotice,
    NoticeInputs,
    acknowledge_alert,
    add_alert,
    archive_alert,
    change_text,
    end_alert,
)
from brief.handlers.alerts import ListInputs, list_alerts
from brief.handlers.reminder_import import MigrateInputs, import_text, migrate_reminders
from repo_fixture import ANN, BOB, Place

LIST = """\
# Reminders
## 2026-12-01
- [ ] water the plants
- [x] 2026-01-01 pay the rent
## Every day
- [ ] read the log
## Some day
- [ ] tidy up
- [ ] 01/02/2026 call
"""


def add(place: Place, title: str = "Tea is ready", **given: Any) -> ChangedNotice:
    """Leave a notice."""
    return place.call(add_alert, AddInputs, title=title, **given)


def written(answer: ChangedNotice) -> Notice:
    """The notice in the file that an answer names."""
    path = Path(answer.path)
    return parse(path.read_bytes(), path.stem)


def turn(place: Place, session: str | None = ANN) -> str:
    """The block of a prompt."""
    return place.hook("user-prompt-submit", session=session)


# ---------------------------------------------------------------- add


def test_added(place: Place) -> None:
    """A notice says all that was said of it, by whom and when, and the next prompt shows it."""
    made = add(place, kind="courtesy", body="In the kitchen.", priority=3, session=BOB, component="kitchen")
    assert (made.did, made.slug, made.kind) == ("added", "tea-is-ready", Kind.COURTESY)
    notice = written(made)
    assert (notice.title, notice.body, notice.priority) == ("Tea is ready", "In the kitchen.\n", 3)
    assert (notice.session_id, notice.component, notice.created) == (BOB, "kitchen", place.clock.now)
    assert "- courtesy on kitchen: Tea is ready (tea-is-ready)" in turn(place)
    assert change_text(made) == f"added: courtesy tea-is-ready (Tea is ready)\n{made.path}\n"


def test_same_title_twice(place: Place) -> None:
    """The same title never writes over a notice, also not over one that was archived."""
    slugs = [add(place, body=f"{number}").slug for number in range(2)]
    place.call(archive_alert, NoticeInputs, slug="tea-is-ready")
    slugs.append(add(place, body="2").slug)
    assert slugs == ["tea-is-ready", "tea-is-ready-2", "tea-is-ready-3"]
    bodies = {path.stem: path.read_text()[-2] for path in (place.lab.state / "notices").glob("a*/*.md")}
    assert bodies == {"tea-is-ready": "0", "tea-is-ready-2": "1", "tea-is-ready-3": "2"}


def test_bug_dep(place: Place) -> None:
    """A bug-dep is urgent unless it is said how urgent, and says where it was placed."""
    given = {"kind": "bug-dep", "component": "koda", "ticket": "KODA-12"}
    notice = written(add(place, **given))
    assert (notice.priority, notice.ticket, notice.fields["checkout"]) == (8, "KODA-12", str(place.lab.repo))
    assert written(add(place, **given, priority=0)).priority == 0
    assert "checkout" not in written(add(place)).fields


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kind": "bug-dep", "component": "koda"}, "kind bug-dep needs --component and --ticket"),
        ({"kind": "bug-dep", "ticket": "KODA-12"}, "kind bug-dep needs --component and --ticket"),
        ({"kind": "lock", "component": "koda"}, "kind lock is placed with majordomus lock place COMPONENT"),
        ({"expires": "2026-13-45"}, 'expires: "2026-13-45" is not a valid day'),
        ({"expires": "2026-02-30"}, 'expires: "2026-02-30" is not a valid day'),
        ({"fires_on": "2026-10-11 24:00:00"}, 'fires_on: "2026-10-11 24:00:00" is not a valid day'),
        (
            {"expires": "2026-10-11"},
            "expires: 2026-10-11 is over already: a notice is last shown just before that begins",
        ),
        ({"expires": "2026-10-10"}, "now it is 2026-10-11 09:00+00:00; give a later day or moment, or leave it out"),
        ({"expires": "2026-10-11 09:00Z", "kind": "reminder"}, "expires: 2026-10-11 09:00+00:00 is over already"),
        (
            {"expires": "2026-10-20", "fires_on": "2026-10-20"},
            "expires: 2026-10-20 is not after 2026-10-20, the day or mo",
        ),
        ({"expires": "2026-10-20", "fires_on": "2026-11-01"}, "give a later expires, or leave it out"),
        ({"fires_on": "tomorrow"}, 'fires_on: "tomorrow" is not a valid day'),
        ({"title": "x" * 300_000}, "at most 262,144 are read"),
        ({"title": " \x1b "}, "title: a notice needs one"),
        ({"applies_when": "component === ("}, "applies_when: component === ( cannot be used: the rule has "),
    ],
    ids=str,
)
def test_refused(place: Place, given: dict[str, Any], sentence: str) -> None:
    """Input that could not be read back is refused with one sentence that names it and exit code 2, and nothing is written."""
    with pytest.raises(MajordomusError) as refused:
        add(place, **given)
    assert sentence in refused.value.sentence
    assert "\n" not in refused.value.sentence
    assert refused.value.exit_code == 2
    assert not list((place.lab.state / "notices").glob("*/*"))


def test_what_follows(place: Place) -> None:
    """A notice that is not shown at once says from when it is, and one that is overdue says so, as a mistyped year may be."""
    ahead = change_text(add(place, "Rotate", kind="reminder", fires_on="2026-10-20"))
    what = "it fires on 2026-10-20, and is shown from then on; until then majordomus reminders lists it"
    assert ahead.startswith(f"added: reminder rotate (Rotate); {what}\n")
    assert add(place, "Late", kind="reminder", fires_on="2025-10-11").detail == "due already: \U0001f514 [OVERDUE 365d]"
    assert add(place, "Last day", expires="2026-10-12").detail is None
    assert "last-day" in turn(place)


def test_who_is_told_of_a_bug_dep(place: Place) -> None:
    """The answer to a new bug-dep says who gets its follow-up, and how to name a session if none is named."""
    given = {"kind": "bug-dep", "component": "koda", "ticket": "KODA-12"}
    repo = place.lab.repo
    assert add(place, "a", **given).detail == (
        f"once it is done, the next session of {repo} will be told, since it names none (--session ID names one)"
    )
    assert add(place, "b", **given, session=ANN).detail == (
        f"once it is done, session {ANN} will be told, or the next one of {repo} if that is not open then"
    )
    place.hook("session-start", session=ANN)
    assert add(place, "c", **given, session=ANN).detail == f"once it is done, session {ANN} will be told"


# ---------------------------------------------------------------- done


def test_recurring_moves(place: Place) -> None:
    """A recurring notice becomes due at its next time after now; any other is done."""
    weekly = add(place, "Rotate the key", kind="reminder", fires_on="2026-10-01", recurring="weekly")
    moved = place.call(end_alert, NoticeInputs, slug=weekly.slug)
    assert (moved.did, moved.detail) == ("moved", "due again on 2026-10-15")
    before = Path(weekly.path).read_bytes()
    again = place.call(end_alert, NoticeInputs, slug=weekly.slug)
    assert (again.did, again.detail) == ("was done", "due again on 2026-10-15; nothing was changed")
    assert Path(weekly.path).read_bytes() == before
    assert weekly.slug not in turn(place)
    place.clock.now += timedelta(days=4)
    assert weekly.slug in turn(place)
    due = place.call(end_alert, NoticeInputs, slug=weekly.slug)
    assert (due.did, due.detail) == ("moved", "due again on 2026-10-22")
    once = add(place, "Once", kind="reminder", fires_on="2026-10-01")
    assert [place.call(end_alert, NoticeInputs, slug=once.slug).did for _ in range(2)] == ["done", "was done"]
    assert once.slug not in turn(place)


@pytest.mark.parametrize("handler", [end_alert, archive_alert])
def test_lock_of_another_session(place: Place, handler: Any) -> None:
    """The lock of another session is ended by that one, or by force and by name: neither done nor archive take it away."""
    path = place.put("koda", kind="lock", component="koda", session_id=BOB)
    before = path.read_bytes()
    for session in (ANN, None):
        with pytest.raises(
            ConflictError, match=f"koda is a lock of session {BOB}, which ends it with majordomus lock rel"
        ):
            place.call(handler, NoticeInputs, slug="koda", session=session)
    assert path.read_bytes() == before
    place.call(handler, NoticeInputs, slug="koda", session=BOB)
    assert "koda" not in turn(place)


@pytest.mark.parametrize("handler", [end_alert, archive_alert])
def test_lock_of_nobody(place: Place, handler: Any) -> None:
    """A lock that names no session is anybody's to end."""
    place.put("koda", kind="lock", component="koda")
    place.call(handler, NoticeInputs, slug="koda", session=ANN)
    assert "koda" not in turn(place)


@pytest.mark.parametrize("handler", [end_alert, archive_alert, acknowledge_alert])
def test_notice_that_is_not_there(place: Place, handler: Any) -> None:
    """A slug that is not a name, or leads out of the folder, is refused with the command that lists the names."""
    for slug in ("nothing", "../../../HEAD", "/etc/passwd"):
        with pytest.raises(NotFoundError, match=r"there is no active notice .*; see majordomus alerts list"):
            place.call(handler, NoticeInputs, slug=slug, session=ANN)


# ---------------------------------------------------------------- ack


def test_acknowledged(place: Place) -> None:
    """A courtesy that a session has read is not shown it again, and is shown to every other."""
    add(place, kind="courtesy")
    told = [place.call(acknowledge_alert, NoticeInputs, slug="tea-is-ready", session=ANN).detail for _ in range(2)]
    assert told == [f"by session {ANN}", f"by session {ANN}, who had read it before"]
    assert [turn(place, ANN), "Tea is ready" in turn(place, BOB)] == ["", True]


def test_acknowledged_is_not_told_again(place: Place) -> None:
    """A session that acknowledged an alert no longer sees it in prompt, brief or list, which count it; others still do."""
    add(place, kind="alert")
    for session in (ANN, BOB):
        place.hook("session-start", session=session)
    assert "Tea is ready" in turn(place, ANN)
    assert "Tea is ready" in turn(place, ANN)
    place.call(acknowledge_alert, NoticeInputs, slug="tea-is-ready", session=ANN)
    assert [turn(place, ANN), "Tea is ready" in turn(place, BOB)] == ["", True]
    for session, headline in ((ANN, "no notices, 1 acknowledged by this session"), (BOB, "1 notice: 1 alert")):
        found = place.call(list_alerts, ListInputs, session=session)
        kept = asyncio.run(place.service.brief(str(place.lab.repo), session, local=False))
        of_brief = next(one for one in kept.value.sections if one.name == "alerts")
        assert [found.headline, of_brief.headline] == [headline, headline]
    assert found.data is not None
    assert found.data.hidden == 0


def test_a_brief_that_is_kept_knows_of_it(place: Place) -> None:
    """A brief composed a moment before the acknowledgement is composed anew, and its digest is the same."""
    add(place, kind="alert")
    place.hook("session-start", session=ANN)

    def brief() -> Brief:
        return asyncio.run(place.service.brief(str(place.lab.repo), ANN, local=False)).value

    before = brief()
    place.call(acknowledge_alert, NoticeInputs, slug="tea-is-ready", session=ANN)
    after = brief()
    assert ["Tea is ready" in str(one.sections) for one in (before, after)] == [True, True]
    rows = [next(each.rows for each in one.sections if each.name == "alerts") for one in (before, after)]
    assert [len(each) for each in rows] == [1, 0]
    assert digest_facts(before) == digest_facts(after)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"kind": "reminder"},
            "is of kind reminder, shown until it is done or its time is over: majordomus alerts done t",
        ),
        ({"kind": "alert", "recurring": "weekly"}, "is of kind alert, due by a day, shown until it is done"),
        ({"kind": "alert", "fires_on": "2026-10-11"}, "is of kind alert, due by a day, shown until it is done"),
    ],
)
def test_what_stays_until_it_is_done(place: Place, given: dict[str, Any], sentence: str) -> None:
    """A notice that is due by a day is shown until it is done: the refusal says how to end it, and nothing is marked."""
    add(place, **given)
    with pytest.raises(UsageError, match=sentence):
        place.call(acknowledge_alert, NoticeInputs, slug="tea-is-ready", session=ANN)
    assert not (place.lab.state / "seen").exists()


def test_a_lock_is_not_acknowledged(place: Place) -> None:
    """A lock stands until it is released."""
    place.put("koda", kind="lock", component="koda api")
    with pytest.raises(UsageError, match=r"is of kind lock, .*: majordomus lock release 'koda api' ends it"):
        place.call(acknowledge_alert, NoticeInputs, slug="koda", session=ANN)


def test_who_acknowledges_is_named(place: Place) -> None:
    """If no session is known, the acknowledgement is refused."""
    add(place, kind="alert")
    with pytest.raises(UsageError, match="say which one is meant with --session ID"):
        place.call(acknowledge_alert, NoticeInputs, slug="tea-is-ready")


# ---------------------------------------------------------------- archive


def test_archived(place: Place) -> None:
    """A notice moves to the archive whatever its dates say, and the answer tells what it was and where it is now."""
    add(place, expires="2030-01-01")
    moved = place.call(archive_alert, NoticeInputs, slug="tea-is-ready")
    assert (moved.did, moved.kind, moved.title) == ("archived", Kind.ALERT, "Tea is ready")
    assert moved.path == str(place.lab.state / "notices/archive/tea-is-ready.md")
    assert written(moved).title == "Tea is ready"
    assert turn(place) == ""


def test_archived_though_it_is_none(place: Place) -> None:
    """A file that cannot be read as a notice can be moved out of the way too."""
    place.put_raw("broken", "---\nkind: [\n")
    moved = place.call(archive_alert, NoticeInputs, slug="broken")
    assert (moved.did, moved.kind, moved.title) == ("archived", None, None)
    assert change_text(moved) == f"archived: broken\n{place.lab.state}/notices/archive/broken.md\n"


def test_tracked_stays(place: Place) -> None:
    """A notice that git tracks stays where it is, with the reason, unless the policy lets it go."""
    lab = place.lab
    policy, notice = lab.repo / ".ai/repo/policy.yaml", lab.repo / "notices/active/a.md"
    for path in (policy, notice):
        path.parent.mkdir(parents=True)
    notice.write_text("---\nkind: alert\n---\n")
    policy.write_text("version: 1\nalerts:\n  folders: [notices]\n")
    lab.git("add", "notices")
    with pytest.raises(ConflictError, match=r"a stays: .*is tracked by git, and alerts.archive_tracked is off"):
        place.call(archive_alert, NoticeInputs, slug="a")
    assert notice.exists()
    policy.write_text("version: 1\nalerts:\n  folders: [notices]\n  archive_tracked: true\n")
    assert place.call(archive_alert, NoticeInputs, slug="a").path == str(lab.repo / "notices/archive/a.md")


# ---------------------------------------------------------------- migrate


def test_migrated(place: Place) -> None:
    """A list becomes reminders for the owner alone, what could not be read is printed, and doing it again adds nothing."""
    (place.lab.repo / "reminders.md").write_text(LIST)
    first, again = (place.call(migrate_reminders, MigrateInputs, file="reminders.md") for _ in range(2))
    assert (len(first.added), first.left, first.done) == (2, (), 1)
    assert (again.added, sorted(again.left), again.done) == ((), sorted(first.added), 1)
    made = {notice.title: notice for notice in place.service.context.notices((f"{place.lab.state}/notices",)).notices}
    assert {title: (str(each.fires_on), each.recurring, each.audience) for title, each in made.items()} == {
        "water the plants": ("2026-12-01", None, "owner"),
        "read the log": ("2026-10-11", "daily", "owner"),
    }
    assert turn(place) == ""
    text = import_text(first)
    assert text.startswith("from reminders.md: 2 added, 0 there before, 1 ticked off, 2 not read\n")
    assert "not read: line 8: tidy up: names no day with a year; write it as YYYY-MM-DD\n" in text
    assert "not read: line 9: 01/02/2026 call: 01/02/2026 is ambiguous; write it as YYYY-MM-DD\n" in text
    assert text.endswith("Keep reminders.md: write anew what was not read, and run this again.\n")
    assert "remove" not in text


def test_migrated_whole(place: Place) -> None:
    """Only a list of which every line was read may be removed."""
    (place.lab.repo / "reminders.md").write_text("- [ ] 2026-12-01 water the plants\n")
    text = import_text(place.call(migrate_reminders, MigrateInputs, file="reminders.md"))
    assert text.endswith(
        "To retire the list: remove reminders.md, and name majordomus reminders wherever it was named.\n"
    )


def test_list_that_is_none(place: Place) -> None:
    """A missing list, a folder, and bytes that are not text are each refused by name."""
    (place.lab.repo / "bytes.md").write_bytes(b"- [ ] 2026-12-01 \xff\n")
    for name, kind in (("none.md", NotFoundError), (".git", MajordomusError), ("bytes.md", DocumentError)):
        with pytest.raises(kind, match=f"{place.lab.repo}/{name}"):
            place.call(migrate_reminders, MigrateInputs, file=name)
