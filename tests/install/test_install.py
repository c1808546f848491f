from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.fastpath.locate import locate
from brief.install import folder
from brief.install.content import make_content
from brief.install.install import Action, CaptureError, find, install, remove
from brief.install.mods import Mod, Scope
from brief.install.place import Place, in_checkout, of_person
from brief.support.folders import LinkInTheWayError
from sandbox import Lab

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
OFF = "session.brief_on_interval is not true: .ai/repo/policy.yaml does not set it"

Tree = Mapping[str, bytes]
Read = Callable[[Path], Tree]


def test_first_run_writes(place: Place, wanted: Tree, tree: Read) -> None:
    """The first run writes the whole mod, says where, and leaves nothing beside it."""
    outcome = install(place, wanted, None, NOW)
    assert outcome.action is Action.WRITTEN
    assert outcome.sentence == f"sample: written: {place.path}"
    assert tree(place.path) == wanted
    assert os.listdir(place.path.parent) == ["sample"]


def test_second_run_leaves_it(place: Place, wanted: Tree) -> None:
    """A second run changes no file, not even its time."""
    install(place, wanted, None, NOW)
    before = {path: path.stat().st_mtime_ns for path in place.path.rglob("*")}
    assert install(place, wanted, None, NOW).sentence == "sample: already present; left as it is"
    assert {path: path.stat().st_mtime_ns for path in place.path.rglob("*")} == before


@pytest.mark.parametrize("edit", ["change", "add", "remove", "link", "nested"])
def test_an_edited_copy_is_kept(place: Place, wanted: Tree, tree: Read, edit: str) -> None:
    """A mod edited by hand is rewritten, and the edited copy is kept in the state folder, whose path is printed."""
    install(place, wanted, None, NOW)
    target = place.path / "hooks/register.ts"
    match edit:
        case "change":
            target.write_text("// mine\n")
        case "add":
            (place.path / "mine.txt").write_text("mine")
        case "remove":
            target.unlink()
        case "link":
            target.unlink()
            target.symlink_to("/etc/hostname")
        case "nested":
            (place.path / "hooks/deep/er").mkdir(parents=True)
            (place.path / "hooks/deep/er/mine.ts").write_text("mine")
    edited = tree(place.path)
    outcome = install(place, wanted, None, NOW)
    copy = place.kept / "sample-20260305T120000Z"
    assert outcome.sentence == f"sample: rewritten: {place.path}; the edited copy is kept at {copy}"
    assert tree(place.path) == wanted
    assert tree(copy) == edited


def test_every_edited_copy_is_kept(place: Place, wanted: Tree) -> None:
    """Two edits within one second are two copies."""
    for text in ("first", "second"):
        install(place, wanted, None, NOW)
        (place.path / "mine.txt").write_text(text)
        install(place, wanted, None, NOW)
    assert [(copy / "mine.txt").read_text() for copy in sorted(place.kept.iterdir())] == ["first", "second"]


def test_a_copy_that_cannot_be_kept_stops_all(place: Place, wanted: Tree, tree: Read) -> None:
    """If the edited copy cannot be kept, nothing is changed, and the error says so."""
    install(place, wanted, None, NOW)
    (place.path / "mine.txt").write_text("mine")
    os.mkfifo(place.path / "pipe")
    with pytest.raises(CaptureError, match=r"cannot be copied to .* nothing was changed"):
        install(place, wanted, None, NOW)
    (place.path / "pipe").unlink()
    assert tree(place.path) == {**wanted, "mine.txt": b"mine"}


def test_another_version_is_no_edit(place: Place, mod: Mod, wanted: Tree, tree: Read) -> None:
    """An unedited mod of another version is rewritten, and no copy of it is kept."""
    install(place, make_content(mod, Path(mod.source), Scope.PROJECT, ("/old/majordomus",)), None, NOW)
    outcome = install(place, wanted, None, NOW)
    assert outcome.action is Action.REWRITTEN
    assert outcome.sentence.endswith("; it was from another version or installation")
    assert tree(place.path) == wanted
    assert not place.kept.exists()


def test_what_the_client_lays_is_no_drift(place: Place, wanted: Tree) -> None:
    """The client's own types in the folder do not count as an edit."""
    install(place, wanted, None, NOW)
    (place.path / ".claude-plugin/types").mkdir()
    (place.path / ".claude-plugin/types/index.d.ts").write_text("// the client's")
    (place.path / "tsconfig.json").write_text("{}")
    assert install(place, wanted, None, NOW).action is Action.PRESENT
    assert find(place).find_edited(place.mod.marker) == ()


# ---------------------------------------------------------------- the switch


def test_without_consent_nothing_is_written(place: Place, wanted: Tree) -> None:
    """If the switch is not true, nothing is created, not even a folder, and the key and its value are named."""
    outcome = install(place, wanted, OFF, NOW)
    assert outcome.sentence == f"sample: not written: {OFF}"
    assert not (place.base / ".claude").exists()


def test_consent_withdrawn_takes_it_out(place: Place, wanted: Tree, tree: Read) -> None:
    """Once the switch is no longer true, our mod is removed, with the reason; true again, it is written again."""
    install(place, wanted, None, NOW)
    assert install(place, wanted, OFF, NOW).sentence == f"sample: removed: {OFF}"
    assert os.listdir(place.path.parent) == []
    assert install(place, wanted, None, NOW).action is Action.WRITTEN
    assert tree(place.path) == wanted


def test_an_edited_copy_is_kept_where_it_is_taken_out(place: Place, wanted: Tree) -> None:
    """Withdrawing consent loses no edit."""
    install(place, wanted, None, NOW)
    (place.path / "mine.txt").write_text("mine")
    assert f"kept at {place.kept}" in install(place, wanted, OFF, NOW).sentence
    assert [(copy / "mine.txt").read_text() for copy in place.kept.iterdir()] == ["mine"]


@pytest.mark.parametrize("off", [None, OFF])
def test_a_foreign_folder_is_left(place: Place, wanted: Tree, tree: Read, off: str | None) -> None:
    """A folder without our marker is left as it is, whether the switch is on or off."""
    place.path.mkdir(parents=True)
    (place.path / "mine.txt").write_text("mine")
    outcome = install(place, wanted, off, NOW)
    assert outcome.sentence == f"sample: present and not this tool's; left as it is: {place.path}"
    assert tree(place.path) == {"mine.txt": b"mine"}
    assert remove(place, NOW).action is Action.FOREIGN
    assert tree(place.path) == {"mine.txt": b"mine"}


@pytest.mark.parametrize("off", [None, OFF])
def test_a_file_in_the_way_is_left(place: Place, wanted: Tree, off: str | None) -> None:
    """A file with the mod's name is not our folder."""
    place.path.parent.mkdir(parents=True)
    place.path.write_text("mine")
    assert install(place, wanted, off, NOW).action is Action.FOREIGN
    assert place.path.read_text() == "mine"


# ---------------------------------------------------------------- links


@pytest.mark.parametrize("off", [None, OFF])
def test_a_link_under_its_name_is_not_followed(place: Place, wanted: Tree, tmp_path: Path, off: str | None) -> None:
    """A link at the mod's place is left alone, and so is its target, even with our marker in it."""
    outside = tmp_path / "outside"
    shutil.copytree(_installed_elsewhere(place, wanted), outside)
    place.path.symlink_to(outside)
    before = sorted(os.listdir(outside))
    assert "a link, which is not followed" in install(place, wanted, off, NOW).sentence
    assert "a link, which is not followed" in remove(place, NOW).sentence
    assert sorted(os.listdir(outside)) == before
    assert place.path.is_symlink()


def _installed_elsewhere(place: Place, wanted: Tree) -> Path:
    install(place, wanted, None, NOW)
    moved = place.path.with_name("moved")
    place.path.rename(moved)
    return moved


@pytest.mark.parametrize("steps", [".claude", ".claude/skills"])
def test_a_link_on_the_way_is_not_followed(place: Place, wanted: Tree, tmp_path: Path, steps: str) -> None:
    """A link on the way to the mod's place is refused in a sentence, and nothing is written through it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    link = place.base / steps
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(LinkInTheWayError, match="a link is in the way and is not followed"):
        install(place, wanted, None, NOW)
    assert list(outside.iterdir()) == []


def test_links_of_the_person_are_theirs(lab: Lab, mod: Mod, wanted: Tree) -> None:
    """The person's own folder of skills may be a link to where they keep such things."""
    kept = lab.base / "dotfiles"
    kept.mkdir()
    (lab.home / ".claude").mkdir()
    (lab.home / ".claude/skills").symlink_to(kept)
    install(of_person(mod, lab.env), wanted, None, NOW)
    assert (kept / "sample/hooks/hooks.json").is_file()


# ---------------------------------------------------------------- scopes


def test_the_persons_own_is_removed_by_its_scope(own_place: Place, place: Place, wanted: Tree) -> None:
    """The person's own mod stays when a checkout's is removed, and is removed only when it is meant itself."""
    install(own_place, wanted, None, NOW)
    assert remove(place, NOW).action is Action.ABSENT
    assert own_place.path.exists()
    assert remove(own_place, NOW).sentence == f"sample: removed: {own_place.path}"
    assert not own_place.path.exists()


def test_a_linked_worktree_has_a_place_of_its_own(lab: Lab, mod: Mod, wanted: Tree) -> None:
    """A checkout's mod is not in another checkout, since the client looks only in the folder it starts in."""
    lab.commit()
    linked = lab.worktree("linked")
    install(in_checkout(mod, locate(str(linked))), wanted, None, NOW)
    assert (linked / ".claude/skills/sample").is_dir()
    assert not (lab.repo / ".claude").exists()


def test_remove_where_nothing_is(place: Place) -> None:
    """Removing a mod that is not there is not an error."""
    assert remove(place, NOW).sentence == f"sample: not there: nothing to remove at {place.path}"


# ---------------------------------------------------------------- all or nothing


@pytest.mark.parametrize("fails_at", ["write", "exchange"])
@pytest.mark.parametrize("old", [True, False])
def test_all_or_nothing(
    place: Place, wanted: Tree, tree: Read, monkeypatch: pytest.MonkeyPatch, fails_at: str, *, old: bool
) -> None:
    """If a write fails midway, the folder is as before, with nothing beside it, and a sentence says so."""
    if old:
        install(place, {**wanted, "old.ts": b"old"}, None, NOW)
    before = tree(place.path)
    real = os.rename

    def rename(source: str, target: str, **at: int) -> None:
        if target == place.name and ".majordomus.json" in os.listdir(place.path.parent / source) and not moved:
            moved.append(source)
            raise OSError(28, "No space left on device")
        real(source, target, **at)

    moved: list[str] = []
    if fails_at == "exchange":
        monkeypatch.setattr(os, "rename", rename)
    else:
        monkeypatch.setattr(os, "fsync", _no_space)
    with pytest.raises(CaptureError, match=r"No space left on device.*left as it was"):
        install(place, wanted, None, NOW)
    assert tree(place.path) == before
    assert os.listdir(place.path.parent) == (["sample"] if old else [])


def _no_space(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def test_what_was_cut_off_is_cleared(place: Place, wanted: Tree) -> None:
    """The next run removes what a killed run left beside the mod, and nothing else."""
    install(place, wanted, None, NOW)
    (place.path.parent / ".sample.0123abcd").mkdir()
    (place.path.parent / ".sample.mine").mkdir()
    install(place, wanted, None, NOW)
    assert sorted(os.listdir(place.path.parent)) == [".sample.mine", "sample"]


def test_many_at_once(place: Place, wanted: Tree, tree: Read) -> None:
    """Many installations at once all succeed, and the folder is whole."""
    ended: list[Action] = []
    threads = [
        threading.Thread(target=lambda: ended.append(install(place, wanted, None, NOW).action)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == sorted([Action.WRITTEN, *[Action.PRESENT] * 7])
    assert tree(place.path) == wanted


def test_a_folder_without_end_is_not_read_without_end(
    place: Place, wanted: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with too many files is read up to the limit and counts as edited."""
    install(place, wanted, None, NOW)
    monkeypatch.setattr(folder, "MOST_FILES", 3)
    assert len(find(place).files) <= 3
