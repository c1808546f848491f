from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from brief.core.notices.notice import LIMIT
from brief.notices import folder as module
from brief.notices.folder import find_named_file, list_folder
from brief.support.files import UnreadableFileError
from hostile import FORM_PARAMS, FORMS, widen


@pytest.fixture
def active(tmp_path: Path) -> Path:
    """The folder `active/` of a folder of notices."""
    made = tmp_path / "notices/active"
    made.mkdir(parents=True)
    return made


def faults(active: Path) -> dict[str, str | None]:
    """What speaks against each file, by slug."""
    return {file.slug: file.fault for file in list_folder(str(active.parent)).files}


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    """No folder, and a folder without `active/`, hold no notices; that is no fault."""
    for path in (tmp_path / "gone", tmp_path):
        found = list_folder(str(path))
        assert (found.files, found.reason) == ((), None)


def test_only_markdown_counts_and_comes_by_slug(active: Path) -> None:
    """Other names, hidden files and half-written ones are no notices."""
    for name in ("b.md", "a.md", "README", "c.MD", ".#a.md", ".a.md.swp", ".md", "d.md~"):
        (active / name).touch()
    assert list(faults(active)) == ["a", "b"]


def test_what_is_no_file_must_not_be_opened(active: Path) -> None:
    """A pipe, a folder, a socket and a device are named with the reason."""
    os.mkfifo(active / "pipe.md")
    (active / "folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(active / "socket.md"))
    (active / "real.md").touch()
    assert faults(active) == {
        "folder": "is not a regular file",
        "pipe": "is not a regular file",
        "real": None,
        "socket": "is not a regular file",
    }


def test_links_may_not_lead_out(active: Path) -> None:
    """A link inside the folder is followed; one out of it, to nothing, or to itself is a fault."""
    (active / "real.md").write_text("text")
    (active.parent / "kept.md").write_text("text")
    (active / "in.md").symlink_to("real.md")
    (active / "up.md").symlink_to("../kept.md")
    (active / "out.md").symlink_to("/etc/passwd")
    (active / "nothing.md").symlink_to("gone.md")
    (active / "self.md").symlink_to("self.md")
    assert faults(active) == {
        "in": None,
        "nothing": "is a link to nothing",
        "out": "is a link that leads out of its folder",
        "real": None,
        "self": "cannot be accessed: Too many levels of symbolic links",
        "up": None,
    }
    assert {file.slug: file.target for file in list_folder(str(active.parent)).files}["in"] == str(active / "real.md")


def test_the_folder_active_may_not_lead_out(active: Path) -> None:
    """A repository cannot point the notices at another folder of the person by a link."""
    secrets = active.parent.parent / "secrets"
    secrets.mkdir()
    (secrets / "a.md").touch()
    active.rmdir()
    active.symlink_to(secrets)
    found = list_folder(str(active.parent))
    assert (found.files, found.reason) == ((), "its folder active is a link that leads out of it")


def test_a_folder_that_cannot_be_listed_says_why(active: Path) -> None:
    """A file in place of the folder is no empty folder."""
    active.rmdir()
    active.touch()
    assert list_folder(str(active.parent)).reason == "cannot be listed: Not a directory"


def test_a_name_that_is_not_utf_8_is_a_fault(active: Path) -> None:
    """The slug goes on the wire, so the file must be renamed."""
    (active / os.fsdecode(b"caf\xe9.md")).touch()
    (active / "ěščř.md").touch()
    assert faults(active) == {"ěščř": None, "caf\udce9": "has a name that is not UTF-8; rename it"}


def test_a_file_that_went_away_is_left_out(active: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file archived between the listing and the look is neither notice nor fault."""
    (active / "a.md").touch()
    (active / "b.md").touch()
    real = module._make_file

    def vanishing(path: str, found: os.stat_result, folder: str, **named: bool) -> object:
        if path.endswith("/a.md"):
            raise FileNotFoundError
        return real(path, found, folder, **named)

    monkeypatch.setattr(module, "_make_file", vanishing)
    assert faults(active) == {"b": None}


def test_a_crowded_folder_is_read_in_part_and_says_so(active: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound on entries the rest is not looked at, and the reason says what to do."""
    monkeypatch.setattr(module, "MOST_FILES", 10)
    for number in range(10):
        (active / f"{number}.md").touch()
    assert list_folder(str(active.parent)).reason is None
    (active / "10.md").touch()
    found = list_folder(str(active.parent))
    assert len(found.files) == 10
    assert found.reason == "holds 11 files, and 1 of them were not read; archive what is done"
    assert len(found.left_out) == 1


def test_a_file_named_as_a_lock_is_read_before_all_others(active: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files lie there, those are left out that are not named as locks."""
    monkeypatch.setattr(module, "MOST_FILES", 10)
    names = [*(f"many-{number}" for number in range(30)), *(f"lock-{number}" for number in range(5))]
    for name in names:
        (active / f"{name}.md").touch()
    found = list_folder(str(active.parent))
    assert {f"lock-{number}" for number in range(5)} <= {file.slug for file in found.files}
    assert (len(found.files), len(found.left_out)) == (10, 25)
    (active / "lock-3.md").write_text("changed")
    assert list_folder(str(active.parent), found) != found


def test_an_unchanged_file_is_the_one_of_the_earlier_look(active: Path) -> None:
    """What changed is looked at anew, a mode and a link among it; a link is looked at each time."""
    for name in ("same", "changed", "mode", "replaced"):
        (active / f"{name}.md").touch()
    (active / "link.md").symlink_to("same.md")
    last = list_folder(str(active.parent))
    before = {file.slug: file for file in last.files}
    (active / "changed.md").write_text("more")
    (active / "mode.md").chmod(0o400)
    (active / "replaced.md").unlink()
    (active / "replaced.md").symlink_to("/etc/passwd")
    after = {file.slug: file for file in list_folder(str(active.parent), last).files}
    assert [slug for slug, file in after.items() if file is before[slug]] == ["same"]
    assert after["replaced"].fault == "is a link that leads out of its folder"


def test_an_unchanged_folder_is_the_earlier_look(active: Path) -> None:
    """Unless a link lies in it, whose target may have changed."""
    (active / "a.md").touch()
    (active / "b.md").touch()
    folder = str(active.parent)
    last = list_folder(folder)
    assert list_folder(folder, last) is last
    (active / "b.md").unlink()
    assert [file.slug for file in list_folder(folder, last).files] == ["a"]
    (active / "link.md").symlink_to("a.md")
    last = list_folder(folder)
    (active / "a.md").write_text("more")
    assert list_folder(folder, last) != last


def test_leftovers_of_other_names_do_not_count(active: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half-written files take no notice's place in the bound."""
    monkeypatch.setattr(module, "MOST_FILES", 10)
    for number in range(30):
        (active / f".abcdef{number:02}.tmp").touch()
    (active / "a.md").touch()
    found = list_folder(str(active.parent))
    assert ([file.slug for file in found.files], found.reason) == (["a"], None)


def test_one_file_is_found_by_its_name(active: Path) -> None:
    """Whatever lies beside it, and no path leads out of the folder."""
    (active / "a.md").touch()
    (active / "out.md").symlink_to("/etc/passwd")
    folder = str(active.parent)
    found = find_named_file(folder, "a")
    assert found is not None
    assert (found.slug, found.fault) == ("a", None)
    out = find_named_file(folder, "out")
    assert out is not None
    assert out.fault == "is a link that leads out of its folder"
    assert [find_named_file(folder, name) for name in ("b", "../a", "a/../a", ".a", "x\0")] == [None] * 5


def test_a_heavy_folder_is_read_in_part_and_says_so(active: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound on bytes too; a file that is refused for its size weighs nothing."""
    monkeypatch.setattr(module, "MOST_BYTES", 1_000)
    (active / "huge.md").write_bytes(b"x" * (LIMIT + 1))
    for number in range(3):
        (active / f"{number}.md").write_bytes(b"x" * 333)
    assert list_folder(str(active.parent)).reason is None
    for number in range(3, 9):
        (active / f"{number}.md").write_bytes(b"x" * 333)
    found = list_folder(str(active.parent))
    assert len(found.files) < 10
    assert found.reason is not None


# ---------------------------------------------------------------- in the state folder of a repository


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of notices that a repository has in its state, with one notice."""
    folder = tmp_path / ".git/majordomus/notices"
    (folder / "active").mkdir(parents=True, mode=0o700)
    (tmp_path / ".git/HEAD").touch()
    (folder / "active/good.md").write_text("good")
    return folder


@pytest.mark.parametrize("form", FORM_PARAMS)
def test_a_notice_that_may_be_anothers_is_refused(own: Path, form: str, tmp_path: Path) -> None:
    """It is named with the reason and not opened, and costs no other notice; links within the folder are none either."""
    victim = own / "active/bad.md"
    victim.write_text("bad")
    FORMS[form](victim, own / "active/elsewhere")
    good, bad = sorted(list_folder(str(own)).files, key=lambda file: file.slug, reverse=True)
    assert (good.fault, good.read()) == (None, b"good")
    assert bad.fault is not None
    assert "so nothing is read or written there" in bad.fault
    with pytest.raises(UnreadableFileError):
        bad.read()


def test_a_notice_of_ours_that_others_may_write_is_mended(own: Path) -> None:
    """It is a notice all the same, and from then on the user's alone to change."""
    widen(own / "active/good.md")
    (file,) = list_folder(str(own)).files
    assert file.read() == b"good"
    assert stat.S_IMODE((own / "active/good.md").stat().st_mode) == 0o600
