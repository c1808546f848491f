from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from brief.core.policy.names import POLICY_FILE
from brief.fastpath.locate import (
    POLICY,
    ForeignCheckoutError,
    Located,
    NotLocatedError,
    current_folder,
    locate,
    read_small,
)
from hostile import FOREIGN, needs_root
from sandbox import Lab

ODD = "ěščř plný mezer \u202e"
STRAY = os.fsdecode(b"n\xe9 \xff")


def refused(path: object) -> str:
    """The reason why there is no checkout at `path`."""
    with pytest.raises(NotLocatedError) as caught:
        locate(str(path))
    return str(caught.value)


def git_says(path: Path) -> tuple[str, str, str]:
    """Root, git folder and common folder in git's own words."""
    argv = ["git", "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"]
    told = subprocess.run(argv, cwd=path, capture_output=True, check=True).stdout
    root, git_dir, common_dir = os.fsdecode(told).rstrip("\n").split("\n")
    return root, git_dir, common_dir


def same(found: Located, path: Path) -> bool:
    """Whether git finds the same at `path`."""
    return (found.root, found.git_dir, found.common_dir) == git_says(path)


def test_primary_checkout_and_every_folder_below_it(lab: Lab) -> None:
    """A checkout is found from its root and from any folder in it, as git finds it."""
    deep = lab.repo / "src/deep"
    deep.mkdir(parents=True)
    for place in (lab.repo, deep):
        assert same(locate(str(place)), place)


def test_linked_worktree(lab: Lab) -> None:
    """A linked worktree has a git folder of its own and shares the common one."""
    lab.commit()
    linked = lab.worktree("linked")
    found = locate(str(linked))
    assert same(found, linked)
    assert found.common_dir == lab.common_dir != found.git_dir


def test_submodule(lab: Lab) -> None:
    """A submodule is a repository of its own, with the git folder that its `.git` file names."""
    lab.commit()
    lab.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lab.repo), "inner")
    inner = lab.repo / "inner"
    found = locate(str(inner))
    assert found.root == str(inner)
    assert found.common_dir == found.git_dir == str(lab.repo / ".git/modules/inner")


def test_repository_with_its_git_folder_elsewhere(lab: Lab) -> None:
    """A git folder whose name ends in a space is taken as it is, as git does."""
    tree = lab.base / "tree"
    lab.git("init", "-q", f"--separate-git-dir={lab.base}/far ", str(tree))
    assert locate(str(tree)).common_dir == f"{lab.base}/far "


@pytest.mark.parametrize("name", [ODD, STRAY, "two\nlines"], ids=["non-ASCII", "no UTF-8", "line feed"])
def test_odd_names(name: str) -> None:
    """Spaces, letters of any alphabet, bytes that are not UTF-8 and line ends are ordinary parts of a name."""
    with Lab(name) as lab:
        lab.commit()
        linked = lab.worktree(name + " linked", "linked")
        for place in (lab.repo, linked):
            found = locate(str(place))
            assert found.root == str(place)
            assert found.common_dir == lab.common_dir
            found.name.encode()


def test_name_spells_out_stray_bytes() -> None:
    """The name that travels to a server is UTF-8, stray bytes spelled."""
    assert Located("/a/" + STRAY, "", "").name == "/a/n\\xe9 \\xff"


def test_git_folder_that_is_a_link(lab: Lab) -> None:
    """A `.git` that is a link to a folder is followed, so that both ways name one repository."""
    (lab.repo / ".git").rename(lab.base / "kept")
    (lab.repo / ".git").symlink_to(lab.base / "kept")
    assert locate(str(lab.repo)).common_dir == str(lab.base / "kept")


def test_checkout_reached_by_a_link(lab: Lab) -> None:
    """A link to a checkout is that checkout."""
    (lab.base / "link").symlink_to(lab.repo)
    assert locate(str(lab.base / "link")).root == str(lab.repo)


def test_git_folder_that_is_none_is_passed_over(lab: Lab) -> None:
    """An empty folder named `.git` makes no checkout: the one around it counts, as for git."""
    inner = lab.repo / "inner"
    (inner / ".git").mkdir(parents=True)
    assert same(locate(str(inner)), inner)


def test_no_repository(tmp_path: Path) -> None:
    """Outside of every repository the sentence names the folder and what to do."""
    assert refused(tmp_path) == f"{tmp_path} is not in a git repository; go to a checkout, or name one with --root"


def test_no_folder(tmp_path: Path) -> None:
    """A file, or a folder that does not exist, cannot hold a checkout."""
    (tmp_path / "file").touch()
    for name in ("file", "absent"):
        assert refused(tmp_path / name).startswith(f"{tmp_path / name} is not a folder")


def test_bare_repository(lab: Lab) -> None:
    """A bare repository has no checkout; the error says that it is bare and names an existing checkout or how to make one."""
    bare = lab.base / "bare"
    lab.git("init", "-q", "--bare", str(bare))
    for place in (bare, bare / "refs"):
        assert refused(place).startswith(
            f"{bare} is a bare repository without a work tree; once it has a commit, make one"
        )
    lab.commit()
    lab.git("push", "-q", str(bare), "main")
    lab.git("worktree", "add", "-q", str(lab.base / "tree"), "main", cwd=bare)
    told = f"{bare} is a bare repository and has no checkout; go to one of its work trees, or name one with --root"
    assert refused(bare) == told


def test_inside_the_git_folder(lab: Lab) -> None:
    """The inside of a git folder is not a checkout, neither the primary's nor a linked worktree's."""
    lab.commit()
    lab.worktree("linked")
    for place in (lab.repo / ".git", lab.repo / ".git/refs", lab.repo / ".git/worktrees/linked"):
        assert "is inside a git folder, not in a checkout; go to the work tree" in refused(place)


@pytest.mark.parametrize(
    "text", [b"", b"nonsense", b"gitdir: \0", b"gitdir:", b"\xff\xfe", b"gitdir: a\0b\n"], ids=repr
)
def test_broken_git_file(lab: Lab, text: bytes) -> None:
    """A `.git` file that names nothing is reported by its path, and never skipped in favour of a repository around it."""
    inner = lab.repo / "inner"
    inner.mkdir()
    (inner / ".git").write_bytes(text)
    assert refused(inner) == f"{inner}/.git does not name a git folder; correct it, or run git worktree repair"


def test_pruned_worktree(lab: Lab) -> None:
    """A worktree that git has forgotten is reported as pruned, with the way back."""
    lab.commit()
    linked = lab.worktree("linked")
    shutil.rmtree(lab.repo / ".git/worktrees/linked")
    assert "is not a git folder: the work tree was pruned or moved; run git worktree repair" in refused(linked)


def test_common_folder_of_no_name(lab: Lab) -> None:
    """A `commondir` that holds a NUL byte is reported as damaged."""
    lab.commit()
    linked = lab.worktree("linked")
    (lab.repo / ".git/worktrees/linked/commondir").write_bytes(b"\0")
    assert "commondir does not name a git folder" in refused(linked)


def test_current_folder_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell in a removed folder gets an error that says so, also for a relative path."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(NotLocatedError, match="the current folder is gone"):
        current_folder()
    assert refused(".").startswith("the current folder is gone")


def test_read_small(tmp_path: Path) -> None:
    """A path that is not a readable file gives None, and a pipe is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"a\xff")
    assert read_small(str(tmp_path / "file")) == "a\udcff"
    assert read_small(str(tmp_path / "pipe")) == ""
    assert read_small(str(tmp_path)) is None
    assert read_small(str(tmp_path / "absent")) is None


def test_where_the_policy_is() -> None:
    """The fast path looks for the policy where the whole command reads it."""
    assert POLICY == POLICY_FILE


@pytest.mark.parametrize("content", [b"", b"\n", b"../..\0x"])
def test_a_common_folder_that_cannot_be_told(content: bytes, lab: Lab) -> None:
    """A linked work tree whose `commondir` is empty or damaged is never taken for a repository of its own."""
    lab.commit()
    linked = lab.worktree("linked")
    (lab.repo / ".git/worktrees/linked/commondir").write_bytes(content)
    with pytest.raises(NotLocatedError, match="the repository is unknown"):
        locate(str(linked))


def test_a_common_folder_that_cannot_be_read(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `commondir` that is there and cannot be read is not one that is missing."""
    lab.commit()
    linked = lab.worktree("linked")

    def unreadable(path: str) -> str | None:
        return None if path.endswith("/commondir") else read_small(path)

    monkeypatch.setattr("brief.fastpath.locate.read_small", unreadable)
    with pytest.raises(NotLocatedError, match="cannot be read, so the repository is unknown"):
        locate(str(linked))


def plant_file(way: Path, git_dir: Path) -> None:
    """A `.git` file of another user names a git folder of ours."""
    (way / ".git").write_text(f"gitdir: {git_dir}\n")


def plant_link(way: Path, git_dir: Path) -> None:
    """A `.git` link of another user leads to a git folder of ours."""
    (way / ".git").symlink_to(git_dir)


def plant_folder(way: Path, git_dir: Path) -> None:
    """A `.git` folder of another user shares a git folder of ours."""
    (way / ".git").mkdir()
    (way / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (way / ".git/commondir").write_text(f"{git_dir}\n")


@needs_root
@pytest.mark.parametrize("plant", [plant_file, plant_link, plant_folder])
@pytest.mark.parametrize("is_root_ours", [False, True])
def test_a_way_of_another_user_to_our_git_folder(
    plant: Callable[[Path, Path], None], is_root_ours: bool, lab: Lab
) -> None:
    """A `.git` that another user planted above our git folder is not a checkout of ours, as git says too."""
    lab.commit()
    way = lab.base / "way"
    (way / "inner").mkdir(parents=True)
    plant(way, lab.repo / ".git")
    os.chown(way / ".git", FOREIGN, FOREIGN, follow_symlinks=False)
    if not is_root_ours:
        os.chown(way, FOREIGN, FOREIGN)
    with pytest.raises(ForeignCheckoutError, match="belongs to uid 54321"):
        locate(str(way / "inner"))
    for words in (["brief"], ["lock", "status"], ["task", "set", "x"], ["serve", "ensure"]):
        done = lab.majordomus(*words, cwd=way / "inner")
        assert done.returncode in (1, 2)
        assert "belongs to uid 54321" in done.stderr
    assert not (lab.repo / ".git/majordomus").exists()
