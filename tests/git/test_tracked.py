from __future__ import annotations

from pathlib import Path

import pytest

from brief.git import tracked as module
from brief.git.command import run
from brief.git.tracked import is_tracked
from brief.support.files import any_young, stamp_file
from sandbox import Lab, until


def test_a_folder_is_tracked_once_git_keeps_a_file_of_it(lab: Lab) -> None:
    """A folder is tracked once a file in it was added, until it is removed; other folders do not count."""
    folder = lab.repo / "meta/notices"
    (folder / "active").mkdir(parents=True)
    (folder / "active/a.md").write_text("a")
    assert not is_tracked(str(folder))
    lab.git("add", "meta")
    assert is_tracked(str(folder))
    assert is_tracked(str(folder / "active"))
    lab.git("rm", "-q", "--cached", "-r", "meta")
    assert not is_tracked(str(folder))


def test_a_link_is_tracked_where_it_leads(lab: Lab, tmp_path: Path) -> None:
    """A folder reached by another path is the same folder."""
    (lab.repo / "notices").mkdir()
    (lab.repo / "notices/a.md").write_text("a")
    lab.git("add", "notices")
    (tmp_path / "link").symlink_to(lab.repo / "notices")
    assert is_tracked(str(tmp_path / "link"))


def test_a_linked_worktree_has_an_index_of_its_own(lab: Lab) -> None:
    """Files that another checkout tracks do not make this folder tracked."""
    lab.commit()
    tree = lab.worktree("other")
    for root in (lab.repo, tree):
        (root / "notices").mkdir()
        (root / "notices/a.md").write_text("a")
    lab.git("add", "notices", cwd=tree)
    assert is_tracked(str(tree / "notices"))
    assert not is_tracked(str(lab.repo / "notices"))


def test_outside_of_every_checkout_nothing_is_tracked(lab: Lab, tmp_path: Path) -> None:
    """The inside of a git folder, a folder outside any repository and a missing folder are not tracked."""
    lab.commit(a_txt="a")
    inside = lab.state / "notices"
    inside.mkdir(parents=True)
    for folder in (inside, tmp_path, lab.repo / "gone"):
        assert not is_tracked(str(folder))


def settle(lab: Lab) -> None:
    """Wait until the index is old enough for its stamp to be trusted."""
    until(lambda: not any_young([stamp_file(f"{lab.common_dir}/index")]))


def test_git_is_asked_once_for_an_unchanged_index(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is cached until the index changes."""
    lab.commit(a_txt="a")
    asked: list[str] = []

    def counted(args: list[str], cwd: str) -> bytes:
        asked.append(cwd)
        return run(args, cwd)

    monkeypatch.setattr(module, "run", counted)
    folder = lab.repo / "b"
    folder.mkdir()
    settle(lab)
    assert [is_tracked(str(folder)) for _ in range(3)] == [False] * 3
    (folder / "c").write_text("c")
    lab.git("add", "b")
    settle(lab)
    assert [is_tracked(str(folder)) for _ in range(3)] == [True] * 3
    assert len(asked) == 2
