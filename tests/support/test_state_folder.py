from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

import pytest

from brief.sessions.database import Database
from brief.support.state_folder import (
    UnprovenStateError,
    is_of_state,
    make_state,
    prove_state,
    refuse_unproven,
)
from hostile import FOREIGN, FORM_PARAMS, FORMS, needs_root, snapshot, widen

FILES = (
    "lease.json",
    "lease.lock",
    "majordomus.db",
    "majordomus.db-wal",
    "majordomus.db-shm",
    "server.log",
    "server.log.1",
    "observation.json",
    "derive.lock",
    "derive.json",
    "policy.yaml",
)
FOLDERS = ("lines", "seen", "notices", "notices/active", "notices/archive", "notes", "kept")
INNER = ("lines/primary", "seen/" + "0" * 32, "notices/active/lock.md")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with everything in it that there can be, in a git folder."""
    folder = tmp_path / ".git/majordomus"
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, mode=0o700)
    for name in (*FILES, *INNER):
        (folder / name).write_text(name)
        (folder / name).chmod(0o600)
    folder.chmod(0o700)
    return folder


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_what_is_ours_passes_and_is_left_as_it_is(state: Path) -> None:
    """The folder that a server creates is proven, and so is a missing one."""
    before = snapshot(state)
    prove_state(str(state))
    assert snapshot(state) == before
    prove_state(str(state.parent / "nothing"))
    prove_state("/nowhere/at/all/majordomus")


def test_tightening_drops_no_lock_of_the_database(state: Path) -> None:
    """A process that has the database open keeps SQLite's locks, which closing another descriptor of it would drop."""
    for name in ("majordomus.db", "majordomus.db-wal", "majordomus.db-shm"):
        (state / name).unlink()
    with contextlib.closing(Database(state / "majordomus.db", 1)):
        locks = _locks(state / "majordomus.db")
        for name in ("majordomus.db", "majordomus.db-wal", "majordomus.db-shm"):
            (state / name).chmod(0o666)
        prove_state(str(state))
        assert {_mode(each) for each in state.glob("majordomus.db*")} == {0o600}
        assert _locks(state / "majordomus.db") == locks != []


def _locks(path: Path) -> list[str]:
    """The locks on a file, as the kernel lists them."""
    inode = f":{path.stat().st_ino} "
    return [line.partition(": ")[2] for line in Path("/proc/locks").read_text().splitlines() if inode in line]


@pytest.mark.parametrize("form", FORM_PARAMS)
@pytest.mark.parametrize("name", [".", *FOLDERS, *FILES])
def test_what_may_be_anothers_is_refused(state: Path, name: str, form: str) -> None:
    """A hostile form of the folder or of anything in it changes nothing, and the sentence names the place."""
    victim, elsewhere = state / name, state.parent.parent / "elsewhere"
    FORMS[form](victim, elsewhere)
    before = snapshot(state), snapshot(elsewhere)
    if form == "other kind" and name != ".":
        prove_state(str(state))
        assert snapshot(state) == before[0]
        return
    with pytest.raises(UnprovenStateError) as caught:
        prove_state(str(state))
    assert str(victim).removesuffix("/.") in caught.value.sentence
    assert (snapshot(state), snapshot(elsewhere)) == before


@needs_root
def test_the_sentence_says_whose_it_is(state: Path) -> None:
    """The sentence has the owner's name if the machine knows one, and the number."""
    os.chown(state / "lines", FOREIGN, FOREIGN)
    with pytest.raises(UnprovenStateError, match=rf"lines belongs to uid {FOREIGN}, not to you, so nothing is read"):
        prove_state(str(state))
    os.chown(state / "lines", 1, 1)
    with pytest.raises(UnprovenStateError, match=r"lines belongs to \w+ \(uid 1\), not to you"):
        prove_state(str(state))


@pytest.mark.parametrize("name", [".", *FOLDERS, *FILES, *INNER])
def test_a_wider_mode_of_ours_is_mended(state: Path, name: str) -> None:
    """Others can no longer write to it, and a file keeps its content."""
    widen(state / name)
    prove_state(str(state))
    assert _mode(state / name) == (0o700 if (state / name).is_dir() else 0o600)
    assert all((state / each).read_text() == each for each in (*FILES, *INNER))


IN_PLACE = ("lease.lock", "derive.lock", "majordomus.db", "majordomus.db-wal", "majordomus.db-shm", "server.log")


@pytest.mark.parametrize("name", FILES)
def test_what_is_written_in_place_has_one_name(state: Path, name: str, tmp_path: Path) -> None:
    """A write would reach the other name of a hard link; what is only ever replaced by rename may have more."""
    os.link(state / name, tmp_path / "elsewhere")
    before = snapshot(state)
    if name in IN_PLACE:
        with pytest.raises(
            UnprovenStateError, match=rf"{name} has 2 names \(hard links\), .* remove {state}, otherwise replace"
        ):
            prove_state(str(state))
    else:
        prove_state(str(state))
    assert snapshot(state) == before


def test_a_database_whose_making_was_cut_short_is_ours(state: Path, tmp_path: Path) -> None:
    """A file is created beside its place and linked there: a kill leaves two names; a third is somebody else's."""
    os.link(state / "majordomus.db", state / ".majordomus.db.abc.tmp")
    prove_state(str(state))
    os.link(state / "majordomus.db", tmp_path / "elsewhere")
    with pytest.raises(UnprovenStateError, match="has 2 names"):
        prove_state(str(state))


@pytest.mark.parametrize("mode", [0o775, 0o2775, 0o777, 0o755])
def test_the_mode_of_the_git_folder_is_the_persons(state: Path, mode: int) -> None:
    """`core.sharedRepository` and umask 002 are fine, and nothing but the state folder is changed."""
    state.parent.chmod(mode)
    prove_state(str(state))
    assert _mode(state.parent) == mode


def test_links_on_the_way_to_the_git_folder_count_as_for_git(state: Path) -> None:
    """A work tree whose `.git` is a link has its state where git has its repository."""
    way = state.parent.parent / "way"
    way.symlink_to(state.parent)
    prove_state(str(way / "majordomus"))


@needs_root
def test_a_git_folder_of_another_user_is_refused(state: Path) -> None:
    """In another user's git folder even our own state folder is refused, and none is created."""
    os.chown(state.parent, FOREIGN, FOREIGN)
    for prove in (prove_state, make_state):
        with pytest.raises(UnprovenStateError, match=rf"\.git belongs to uid {FOREIGN}, not to you"):
            prove(str(state))


def test_made_for_the_user_alone(tmp_path: Path) -> None:
    """The folder is private whatever the umask, and is not created through a link."""
    before = os.umask(0)
    try:
        make_state(str(tmp_path / "majordomus"))
    finally:
        os.umask(before)
    assert _mode(tmp_path / "majordomus") == 0o700
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnprovenStateError, match="linked is a symbolic link"):
        make_state(str(tmp_path / "linked"))
    assert not (tmp_path / "elsewhere").exists()


def test_what_was_refused_is_proven_anew(state: Path) -> None:
    """Once the person has fixed it, the next request is answered."""
    (state / "lines").rename(state.parent / "elsewhere")
    (state / "lines").symlink_to(state.parent / "elsewhere")
    with pytest.raises(UnprovenStateError):
        refuse_unproven(str(state))
    (state / "lines").unlink()
    refuse_unproven(str(state))


def test_which_folders_are_of_a_state(state: Path) -> None:
    """A person's folder that merely has that name is not a state folder."""
    (state.parent / "HEAD").touch()
    assert is_of_state(str(state / "notices"))
    assert not is_of_state(str(state.parent.parent / "majordomus/notices"))
    assert not is_of_state(str(state.parent.parent / "notices"))


def test_a_folder_that_nobody_may_list_is_still_ours(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mode that denies even the owner makes a folder unreadable, which is not unproven."""
    listdir = os.listdir

    def refused(folder: int) -> list[str]:
        if os.path.samestat(os.fstat(folder), (state / "notices/active").stat()):
            raise PermissionError
        return listdir(folder)

    monkeypatch.setattr(os, "listdir", refused)
    prove_state(str(state))


def test_what_goes_away_meanwhile_hides_nothing(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is removed while the folder is being proven does not end the proof."""
    (state / "zzz").symlink_to("lease.json")
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: ["gone", *listed(folder)])
    with pytest.raises(UnprovenStateError, match="zzz is a symbolic link"):
        prove_state(str(state))
