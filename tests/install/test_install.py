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
from brief.install.content import content
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
    """The first run writes the mod whole, says where, and leaves nothing beside it."""
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
    """What was edited by hand is written anew, and the edited copy kept in the state folder, whose place is printed."""
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
    """Where the edited copy cannot be kept, nothing is changed, and that is said."""
    install(place, wanted, None, NOW)
    (place.path / "mine.txt").write_text("mine")
    os.mkfifo(place.path / "pipe")
    with pytest.raises(CaptureError, match=r"cannot be copied to .* nothing was changed"):
        install(place, wanted, None, NOW)
    (place.path / "pipe").unlink()
    assert tree(place.path) == {**wanted, "mine.txt": b"mine"}


def test_another_version_is_no_edit(place: Place, mod: Mod, wanted: Tree, tree: Read) -> None:
    """A mod that another version wrote and nobody touched is written anew, and no copy of it is kept."""
    install(place, content(mod, Path(mod.source), Scope.PROJECT, ("/old/majordomus",)), None, NOW)
    outcome = install(place, wanted, None, NOW)
    assert outcome.action is Action.REWRITTEN
    assert outcome.sentence.endswith("; it was from another version or installation")
    assert tree(place.path) == wanted
    assert not place.kept.exists()


def test_what_the_client_lays_is_no_drift(place: Place, wanted: Tree) -> None:
    """Types that the client laid beside the mod leave it as it is."""
    install(place, wanted, None, NOW)
    (place.path / ".claude-plugin/types").mkdir()
    (place.path / ".claude-plugin/types/index.d.ts").write_text("// the client's")
    (place.path / "tsconfig.json").write_text("{}")
    assert install(place, wanted, None, NOW).action is Action.PRESENT
    assert find(place).edited(place.mod.marker) == ()


# ---------------------------------------------------------------- the switch


def test_without_consent_nothing_is_written(place: Place, wanted: Tree) -> None:
    """Where the switch is not true nothing is made, not even a folder, and the key is named with what it is."""
    outcome = install(place, wanted, OFF, NOW)
    assert outcome.sentence == f"sample: not written: {OFF}"
    assert not (place.base / ".claude").exists()


def test_consent_withdrawn_takes_it_out(place: Place, wanted: Tree, tree: Read) -> None:
    """Once the switch is no longer true ours goes, with the reason; true again it is written again."""
    install(place, wanted, None, NOW)
    assert install(place, wanted, OFF, NOW).sentence == f"sample: removed: {OFF}"
    assert os.listdir(place.path.parent) == []
    assert install(place, wanted, None, NOW).action is Action.WRITTEN
    assert tree(place.path) == wanted


def test_an_edited_copy_is_kept_where_it_is_taken_out(place: Place, wanted: Tree) -> None:
    """A withdrawn consent loses no edit."""
    install(place, wanted, None, NOW)
    (place.path / "mine.txt").write_text("mine")
    assert f"kept at {place.kept}" in install(place, wanted, OFF, NOW).sentence
    assert [(copy / "mine.txt").read_text() for copy in place.kept.iterdir()] == ["mine"]


@pytest.mark.parametrize("off", [None, OFF])
def test_a_foreign_folder_is_left(place: Place, wanted: Tree, tree: Read, off: str | None) -> None:
    """A folder without our marker stays as it is, whether the switch is on or off."""
    place.path.mkdir(parents=True)
    (place.path / "mine.txt").write_text("mine")
    outcome = install(place, wanted, off, NOW)
    assert outcome.sentence == f"sample: present and not this tool's; left as it is: {place.path}"
    assert tree(place.path) == {"mine.txt": b"mine"}
    assert remove(place, NOW).action is Action.FOREIGN
    assert tree(place.path) == {"mine.txt": b"mine"}


@pytest.mark.parametrize("off", [None, OFF])
def test_a_file_in_the_way_is_left(place: Place, wanted: Tree, off: str | None) -> None:
    """A file under the mod's name is nobody's folder of ours."""
    place.path.parent.mkdir(parents=True)
    place.path.write_text("mine")
    assert install(place, wanted, off, NOW).action is Action.FOREIGN
    assert place.path.read_text() == "mine"


# ---------------------------------------------------------------- links


@pytest.mark.parametrize("off", [None, OFF])
def test_a_link_under_its_name_is_not_followed(place: Place, wanted: Tree, tmp_path: Path, off: str | None) -> None:
    """A link at the mod's place is left, and so is what it leads to, even where that carries our marker."""
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
    """A person's own folder of skills may be a link of theirs, to where they keep such things."""
    kept = lab.base / "dotfiles"
    kept.mkdir()
    (lab.home / ".claude").mkdir()
    (lab.home / ".claude/skills").symlink_to(kept)
    install(of_person(mod, lab.env), wanted, None, NOW)
    assert (kept / "sample/hooks/hooks.json").is_file()


# ---------------------------------------------------------------- scopes


def test_the_persons_own_is_removed_by_its_scope(own_place: Place, place: Place, wanted: Tree) -> None:
    """What a person installed for all of theirs stays where a checkout's is removed, and goes when it is meant itself."""
    install(own_place, wanted, None, NOW)
    assert remove(place, NOW).action is Action.ABSENT
    assert own_place.path.exists()
    assert remove(own_place, NOW).sentence == f"sample: removed: {own_place.path}"
    assert not own_place.path.exists()


def test_a_linked_worktree_has_a_place_of_its_own(lab: Lab, mod: Mod, wanted: Tree) -> None:
    """The mod of one checkout is not in another, since the client looks in the folder a session starts in."""
    lab.commit()
    linked = lab.worktree("linked")
    install(in_checkout(mod, locate(str(linked))), wanted, None, NOW)
    assert (linked / ".claude/skills/sample").is_dir()
    assert not (lab.repo / ".claude").exists()


def test_remove_where_nothing_is(place: Place) -> None:
    """What is not there is not an error to remove."""
    assert remove(place, NOW).sentence == f"sample: not there: nothing to remove at {place.path}"


# ---------------------------------------------------------------- all or nothing


@pytest.mark.parametrize("fails_at", ["write", "exchange"])
@pytest.mark.parametrize("old", [True, False])
def test_all_or_nothing(
    place: Place, wanted: Tree, tree: Read, monkeypatch: pytest.MonkeyPatch, fails_at: str, *, old: bool
) -> None:
    """Where a write fails midway the folder is as it was before, with nothing beside it, and a sentence says so."""
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
    """What a run that was killed left beside the mod goes with the next run; what others left stays."""
    install(place, wanted, None, NOW)
    (place.path.parent / ".sample.0123abcd").mkdir()
    (place.path.parent / ".sample.mine").mkdir()
    install(place, wanted, None, NOW)
    assert sorted(os.listdir(place.path.parent)) == [".sample.mine", "sample"]


def test_many_at_once(place: Place, wanted: Tree, tree: Read) -> None:
    """Of many installations at once each ends well, and the folder is whole."""
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
    """Of a folder with more files than any mod has only so many are read, and it counts as edited."""
    install(place, wanted, None, NOW)
    monkeypatch.setattr(folder, "MOST_FILES", 3)
    assert len(find(place).files) <= 3
