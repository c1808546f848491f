from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest

from brief.core.model.errors import ANSWERED, FAILED, NOT_ALL_READ, ConflictError, NotFoundError, StoreError, UsageError
from brief.handlers.alerts import ShowInputs, notice_text, show_alert
from brief.handlers.locks import (
    Locks,
    LocksInputs,
    OneLock,
    PlaceInputs,
    ReleaseInputs,
    audit_exit,
    audit_text,
    list_locks,
    one_text,
    place_lock,
    release_lock,
    status_text,
)
from brief.sessions.board import Board
from repo_fixture import ANN, BOB, Place


def lock(place: Place, session: str | None = ANN, component: str = "koda", **given: Any) -> OneLock:
    """Place a lock."""
    return place.call(place_lock, PlaceInputs, component=component, session=session, **given)


def release(place: Place, session: str | None = ANN, component: str = "koda", **given: Any) -> OneLock:
    """Release a lock."""
    return place.call(release_lock, ReleaseInputs, component=component, session=session, **given)


def locks(place: Place) -> Locks:
    """The locks that stand."""
    return place.call(list_locks, LocksInputs)


def refused(place: Place, session: str = BOB, **given: Any) -> str:
    """The sentence for who comes too late."""
    with pytest.raises(ConflictError) as late:
        lock(place, session, **given)
    return late.value.sentence


def test_life_of_a_lock(place: Place) -> None:
    """It is placed, held against everybody else, held already by its own session, released, and free for the next."""
    place.hook("session-start", session=ANN)
    made = lock(place, title="rebuilding", body="Until the index is there.")
    assert one_text(made) == f"placed: lock on koda, session {ANN}\n{made.path}\n"
    told = f"koda is locked by session {ANN}, owner alive, since 2026-10-11 09:00+00:00: rebuilding ({made.path})"
    assert refused(place) == told
    assert (lock(place, ANN.upper()).did, lock(place).path) == ("held already", made.path)
    assert "- lock on koda, owner alive: rebuilding" in place.hook("user-prompt-submit", session=BOB)
    assert release(place).did == "released"
    assert place.hook("user-prompt-submit", session=BOB) == ""
    assert lock(place, BOB).did == "placed"


def test_place_again_to_hold_it_longer(place: Place) -> None:
    """A later end extends the session's own lock and says until when; without an end it says that it needs none."""
    lock(place, ttl=30)
    longer = one_text(lock(place, ttl=60))
    assert longer.startswith(f"extended: lock on koda, session {ANN}, until 2026-10-11 10:00+00:00\n")
    assert one_text(lock(place, ttl=5)).startswith(
        f"held already: lock on koda, session {ANN}, until 2026-10-11 10:00+00:00\n"
    )
    lock(place, component="kdb")
    assert one_text(lock(place, component="kdb", ttl=5)).startswith(
        f"held already: lock on kdb, session {ANN}, until it is released\n"
    )


def test_a_component_is_shown_as_it_was_written(place: Place) -> None:
    """Another spelling of the name is the same lock, which keeps the spelling of who placed it."""
    lock(place, component="Billing  API")
    assert refused(place, component="billing api").startswith("Billing API is locked by ")
    assert [each.component for each in locks(place).locks] == ["Billing API"]
    assert release(place, component="BILLING API").component == "Billing API"


def test_what_to_do_where_the_session_is_gone(place: Place) -> None:
    """The refusal and the list say how to free a lock whose session is gone, and only such a lock."""
    lock(place, component="Billing API")
    advice = "that session is gone, so majordomus lock release 'Billing API' --force frees it"
    assert advice not in refused(place, component="billing api") + status_text(locks(place))
    for event in ("session-start", "session-end"):
        place.hook(event, session=ANN)
    assert refused(place, component="billing api").endswith(f"; {advice}")
    assert f"\n  Billing API: {advice}\n" in status_text(locks(place))
    shown = place.call(show_alert, ShowInputs, slug=locks(place).locks[0].slug)
    assert f"\n{advice}\n" in notice_text(shown)


def test_a_folder_named_twice_holds_each_lock_once(place: Place) -> None:
    """A policy that names one folder in two ways, or the repository's own, makes no second lock of one."""
    policy = place.lab.repo / ".ai/repo/policy.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text("version: 1\nalerts:\n  folders: [notices, ./notices/, .git/majordomus/notices]\n")
    lock(place)
    (place.lab.repo / "notices/active").mkdir(parents=True)
    (place.lab.repo / "notices/active/hand.md").write_text("---\nkind: lock\ncomponent: kdb\n---\n")
    assert [each.component for each in locks(place).locks] == ["koda", "kdb"]


def test_owner_alive_gone_or_unknown(place: Place) -> None:
    """The refusal says whether the holder lives, in three distinct words."""
    lock(place)
    told = [refused(place)]
    for event in ("session-start", "session-end"):
        place.hook(event, session=ANN)
        told.append(refused(place))
    assert [text.split(", ")[1] for text in told] == ["owner unknown", "owner alive", "owner gone"]


@pytest.mark.parametrize("session", [None, " ", "agent-7", "724929", "11111111-1111-4111-8111-11111111111"])
@pytest.mark.parametrize("held", [False, True])
def test_only_a_session_holds(place: Place, session: str | None, held: bool) -> None:
    """Without the UUID of a session nothing is locked, whether or not somebody holds the lock, and the error says how to give one."""
    if held:
        lock(place, BOB)
    with pytest.raises(UsageError, match="give it with --session, or set CLAUDE_CODE_SESSION_ID"):
        lock(place, session)
    assert [each.session_id for each in locks(place).locks] == ([BOB] if held else [])


def test_ends_by_itself(place: Place) -> None:
    """A lock with a time to live tells until when it holds, and then holds nobody off."""
    lock(place, ttl=30)
    assert ", until 2026-10-11 09:30+00:00: " in refused(place)
    assert "until 2026-10-11 09:30+00:00" in status_text(locks(place))
    place.clock.now += timedelta(minutes=30)
    assert locks(place).locks == ()
    assert lock(place, BOB).did == "placed"


def test_released_by_its_holder_alone(place: Place) -> None:
    """Another session is refused and learns who holds the lock; with --force anybody releases it."""
    lock(place)
    with pytest.raises(
        ConflictError, match=f"is held by session {ANN}; leave it to that session, or release it with --force"
    ):
        release(place, BOB)
    assert release(place, None, force=True).session_id == ANN
    with pytest.raises(NotFoundError, match="there is no lock on koda; see majordomus lock status"):
        release(place)


def test_lock_for_the_owner(place: Place) -> None:
    """It holds for everybody, and its text enters nothing that a model reads."""
    place.put("mine", kind="lock", component="koda", audience="owner", title="secret")
    told = refused(place) + status_text(locks(place)) + audit_text(locks(place))
    assert "secret" not in told
    assert told.count("its text is for the owner alone") == 3


def test_lock_that_names_nobody(place: Place) -> None:
    """A lock written by hand holds too, and the refusal says that it names no session."""
    path = place.put("by-hand", kind="lock", component="koda")
    assert refused(place) == f"koda is locked by a session it does not name, since 2026-10-11: by-hand title ({path})"


def test_damaged_lock(place: Place) -> None:
    """A damaged file of that very lock holds; another file that may be a lock is reported to whoever placed one."""
    made = lock(place)
    with open(made.path, "w", encoding="utf-8") as file:
        file.write("---\nkind: lo")
    assert refused(place).startswith(f"koda may be locked: {made.path} cannot be read (")
    other = lock(place, BOB, "kdb")
    assert f"could not be read, and may be a lock: {made.path}: " in one_text(other)
    assert not locks(place).fully_read
    told = status_text(locks(place))
    assert told.startswith("1 lock is held that could be read; 1 file, possibly a lock, could not be read\n")
    assert "could not be read, and may be a lock" in told
    assert "warn  unread         1 file, possibly a lock, could not be read\n" in audit_text(locks(place))
    assert audit_exit(locks(place)) == ANSWERED


def test_damaged_lock_under_another_name(place: Place) -> None:
    """A file that cannot be parsed and names the component may be its lock, and holds it; any other component is free."""
    path = place.put_raw("hands-off", "---\nkind: lock\ncomponent: koda\ntitle: a: b: c\n---\n")
    assert refused(place).startswith(f"koda may be locked: {path} cannot be read (")
    assert lock(place, BOB, "kdb").did == "placed"
    with pytest.raises(ConflictError, match="the lock on koda cannot be read"):
        release(place, BOB)


def test_folder_that_cannot_be_listed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer never claims that there are no locks, no lock is placed, and a strict audit and status exit 10."""
    lock(place)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    found = locks(place)
    assert not found.fully_read
    assert status_text(found).startswith(
        "0 locks are held that could be read; 1 folder, possibly locks, could not be read\n"
    )
    assert "cannot be listed: Permission denied" in status_text(found)
    assert "ok" not in audit_text(found).split()
    assert audit_exit(found) == NOT_ALL_READ
    with pytest.raises(ConflictError, match=r"kdb may be locked, which is unknown: .* cannot be listed: Permission"):
        lock(place, BOB, "kdb")
    with pytest.raises(
        NotFoundError, match="no lock on kdb was found, but 1 folder, possibly locks, could not be read"
    ):
        release(place, ANN, "kdb")
    assert refused(place).startswith(f"koda is locked by session {ANN}")


def test_board_that_cannot_be_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """If nobody can say whether the holder lives, it is unknown, and the lock holds."""
    lock(place)

    def refuse(*_: object) -> None:
        raise StoreError("no database")

    monkeypatch.setattr(Board, "life_of", refuse)
    assert f"session {ANN}, owner unknown" in refused(place)


# ---------------------------------------------------------------- audit


def test_audit(place: Place) -> None:
    """Each lock is listed by how it names its owner; those that must be ok and are not fail, older ones warn."""
    policy = place.lab.repo / ".ai/repo/policy.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text("version: 1\nalerts:\n  lock_owner_since: 2026-10-01\n")
    lock(place)
    place.put("old", kind="lock", day="2026-09-30", expires="2026-12-01")
    place.put("old-pid", kind="lock", day="2026-09-30", expires="2026-12-01", session="724929")
    assert audit_exit(locks(place)) == ANSWERED
    place.put("named", kind="lock", session_id="agent-7")
    found = locks(place)
    assert audit_exit(found) == FAILED
    told = {each.split()[-1].strip("()"): each.split()[:2] for each in audit_text(found).splitlines()}
    assert told == {
        found.locks[0].slug: ["ok", "ok"],
        "named": ["fail", "ad-hoc-session"],
        "old": ["warn", "anonymous"],
        "old-pid": ["warn", "no-session-id"],
    }
    assert audit_text(Locks(locks=(), unread=())) == "ok    no lock is held\n"


def test_audit_without_a_day(place: Place) -> None:
    """If the policy names no day, a lock that does not name its owner only warns."""
    place.put("old", kind="lock", day="2020-01-01", expires="2026-12-01")
    assert audit_exit(locks(place)) == ANSWERED
    assert audit_text(locks(place)).startswith("warn  anonymous")


def test_priority_of_a_lock(place: Place) -> None:
    """A lock has the priority that it was placed with."""
    with open(lock(place, priority=9).path, encoding="utf-8") as file:
        assert "priority: 9\n" in file.read()
