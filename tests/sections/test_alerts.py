"""The alerts section: notices are shown by priority, and a file that cannot be read is named."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from brief.core.model.brief import AlertsSection, Status
from brief.core.model.level import Level
from brief.core.model.wire import to_json
from brief.core.notices.notice import Notice, parse
from brief.core.text.line import compose_line
from brief.core.text.page import section_page
from brief.git.worktrees import Checkout
from brief.notices.store import NoticeSnapshot
from brief.sections.alerts import answer
from brief.sections.notice_folders import notice_folders
from samples import NOW, Known, ask, context, episode


def notice(slug: str, **fields: Any) -> Notice:
    """A notice with that front matter."""
    lines = "".join(f"{name}: {value}\n" for name, value in {"kind": "alert", **fields}.items())
    return parse(f"---\n{lines}---\nbody\n", slug)


def asked(
    *notices: Notice, unparsable: tuple[tuple[str, str], ...] = (), unread: tuple[tuple[str, str], ...] = ()
) -> AlertsSection:
    """The alerts section for folders with this content."""
    return answer(context(notices=lambda folders: NoticeSnapshot(notices, unparsable, unread)), ask())


def test_no_notices() -> None:
    """Folders that were read and are empty have no notices."""
    found = asked()
    assert (found.status, found.headline, found.rows, found.as_of) == (Status.READ, "no notices", (), NOW)
    assert found.data is not None
    assert (found.data.shown, found.data.hidden) == ((), 0)


def test_notices_by_priority_then_slug() -> None:
    """Notices are ordered by priority, then by slug, and counted by kind."""
    found = asked(
        notice("b", kind="courtesy"), notice("a", kind="courtesy"), notice("z", kind="bug-dep", priority=9), notice("m")
    )
    assert found.data is not None
    assert [each.slug for each in found.data.shown] == ["z", "a", "b", "m"]
    assert found.headline == "4 notices: 1 bug-dep, 2 courtesies, 1 alert"


def test_a_lock_stands_out() -> None:
    """A lock is HIGH and names its component; any other notice is NORMAL."""
    found = asked(notice("hands-off", kind="lock", component="koda", title="rebuilding"), notice("tea"))
    assert [(row.level, row.text) for row in found.rows] == [
        (Level.HIGH, "lock on koda, owner unknown: rebuilding (hands-off)"),
        (Level.NORMAL, "alert: tea (tea)"),
    ]


def test_what_is_done_or_for_the_owner_is_hidden_and_counted() -> None:
    """Neither notice appears in a row, the headline or the data; both are counted."""
    found = asked(notice("done", status="done"), notice("mine", audience="owner", title="rotate the key"), notice("x"))
    assert found.data is not None
    assert ([each.slug for each in found.data.shown], found.data.hidden) == (["x"], 2)
    assert "rotate" not in to_json(found)
    assert found.headline == "1 notice: 1 alert"


def test_a_file_that_cannot_be_read_is_named() -> None:
    """The rest is shown, the section is partial, and the file is verbatim in the data and sanitized in its row."""
    found = asked(notice("x"), unparsable=(("/n/a\x1b[31mb.md", "kind: 'lok' is none"),))
    assert (found.status, found.reason) == (Status.PARTIAL, "1 file, possibly a lock, could not be read")
    assert found.data is not None
    assert [each.file for each in found.data.unparsable] == ["/n/a\x1b[31mb.md"]
    assert [row.text for row in found.rows] == ["unreadable: /n/ab.md: kind: 'lok' is none", "alert: x (x)"]


def test_a_folder_that_cannot_be_read_is_named() -> None:
    """A folder that cannot be read is named with its reason, beside the faulty files."""
    found = asked(unparsable=(("/n/a.md", "x"), ("/n/b.md", "y")), unread=(("/n\u202e", "cannot be listed: denied"),))
    assert (found.status, found.headline) == (Status.PARTIAL, "no notices that could be read")
    assert found.reason == "2 files, possibly locks, could not be read; /n: cannot be listed: denied"


def test_text_of_notices_is_harmless_where_it_is_shown() -> None:
    """Titles, components and slugs are other people's text and are sanitized."""
    found = asked(notice("s\x1b[2Jx", component='"k\\u202eo"', title='"\\e[1mt"'))
    assert found.rows[0].text == "alert on ko: t (sx)"


def test_the_more_urgent_come_first_and_the_rest_is_counted() -> None:
    """A brief names eight, the data has all of them, and the others are counted."""
    found = asked(*(notice(f"n{number:02}") for number in range(11)))
    assert (len(found.rows), found.omitted) == (8, 3)
    assert found.data is not None
    assert len(found.data.shown) == 11


def test_a_lock_is_never_cut_before_what_is_less_urgent() -> None:
    """Neither notices of a higher priority nor unreadable files push a lock out of a brief."""
    lock = notice("hands-off", kind="lock", component="koda", priority=0)
    others = [notice(f"n{number}", priority=7) for number in range(8)]
    unparsable = tuple((f"/n/broken-{number}.md", "no front matter") for number in range(8))
    for found in (
        asked(*others, lock),
        asked(lock, unparsable=unparsable),
        asked(*others, lock, unparsable=unparsable),
    ):
        assert found.rows[0].text.startswith("lock on koda")
        assert compose_line([found], NOW).startswith("▲1 HIGH lock on koda")


def test_own_lock_is_never_cut_either() -> None:
    """One's own lock is not a warning, and comes before files that could not be read."""
    lock = notice("hands-off", kind="lock", component="koda", session_id="e1")
    unparsable = tuple((f"/n/broken-{number}.md", "no front matter") for number in range(8))
    notices = NoticeSnapshot((lock,), unparsable, ())
    found = answer(context(Known([episode()]), notices=lambda folders: notices), ask())
    assert found.rows[0].text.startswith("lock on koda, yours")


def test_every_lock_is_counted_before_the_cut() -> None:
    """The line counts all twelve locks, and the section says how many of them have no row."""
    found = asked(*(notice(f"lock-{number:02}", kind="lock", component=f"part-{number}") for number in range(12)))
    assert (len(found.rows), found.omitted, found.omitted_urgent) == (8, 4, 4)
    assert compose_line([found], NOW).startswith("▲12 HIGH lock on part-0")
    assert "and 4 more, 4 of them urgent: majordomus alerts list\n" in section_page(found)


def test_ones_own_lock_does_not_stand_out() -> None:
    """The session that placed a lock sees it as its own and is not warned of it."""
    lock = notice("hands-off", kind="lock", component="koda", session_id="e1")
    found = answer(context(Known([episode()]), notices=lambda folders: NoticeSnapshot((lock,), (), ())), ask())
    assert [(row.level, row.text) for row in found.rows] == [
        (Level.NORMAL, "lock on koda, yours: hands-off (hands-off)")
    ]


@pytest.mark.parametrize(
    ("rule", "shown"),
    [("branch == 'main'", True), ("branch == 'fix'", False), ("branch ==", True), ("paths matches 'src/**'", True)],
)
def test_a_rule_hides_only_what_it_can_judge(rule: str, shown: bool) -> None:
    """A notice that does not apply here is hidden and counted; if that is unknown or invalid, it is shown."""
    ruled = notice("x", applies_when=f'"{rule}"')
    asked = replace(ask(), branch="main")
    found = answer(context(notices=lambda folders: NoticeSnapshot((ruled,), (), ())), asked)
    assert found.data is not None
    assert (len(found.data.shown), found.data.hidden) == ((1, 0) if shown else (0, 1))


@pytest.mark.parametrize("rule", ["branch == 'fix'", "repo == 'other'"])
def test_git_is_not_needed(rule: str) -> None:
    """A rule about branch or repository, which are read from files, hides its notice even while git hangs."""

    def hanging() -> list[Checkout]:
        raise AssertionError("git was asked")

    ruled = notice("x", applies_when=f'"{rule}"')
    world = context(worktrees=hanging, notices=lambda folders: NoticeSnapshot((ruled,), (), ()))
    found = answer(world, replace(ask(), branch="main", primary="/r"))
    assert found.data is not None
    assert (found.data.shown, found.data.hidden) == ((), 1)


def test_where_the_branch_cannot_be_read_every_notice_is_shown() -> None:
    """The branch is then unknown, and a rule about it hides nothing."""
    ruled = notice("x", applies_when="branch == 'fix'")
    found = answer(context(notices=lambda folders: NoticeSnapshot((ruled,), (), ())), ask())
    assert found.status is Status.READ
    assert found.data is not None
    assert [each.slug for each in found.data.shown] == ["x"]


def test_folders_are_those_of_the_repository_then_of_the_policy() -> None:
    """Relative folders are relative to the asking checkout; absolute ones are taken as they are."""
    question = ask("/w/koda", settings={"alerts": {"folders": ["meta/notices", "/shared/notices"]}})
    assert notice_folders("/r/.git/majordomus", question) == (
        "/r/.git/majordomus/notices",
        "/w/koda/meta/notices",
        "/shared/notices",
    )


def test_untrusted_folders_were_not_read() -> None:
    """If the policy names an untrusted folder, the section is partial and never says that there are no notices."""
    asking = replace(ask(), untrusted=(("alerts.folders", "/elsewhere"), ("mesh.url", "nats://x")))
    found = answer(context(), asking)
    assert (found.status, found.headline) == (Status.PARTIAL, "no notices that could be read")
    assert found.reason == (
        "/elsewhere: is outside the checkout and was not read, because it is not trusted; run majordomus trust"
    )


def test_a_brief_does_not_name_what_is_to_come() -> None:
    """Only the list of reminders shows them."""
    found = asked(notice("ahead", kind="reminder", fires_on=(NOW + timedelta(days=5)).date()))
    assert found.data is not None
    assert (found.rows, found.data.upcoming, found.data.hidden) == ((), (), 1)
