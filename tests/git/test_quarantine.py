from __future__ import annotations

from pathlib import Path

import pytest

from brief.core.model.errors import GitError
from brief.git.command import run
from brief.git.quarantine import quarantine
from sandbox import Lab


@pytest.mark.parametrize("name", ["repo", "a b", "ěščř", 'a:b"c\\d', "a\nb"])
def test_objects_are_written_beside_the_repository_and_gone_afterwards(name: str) -> None:
    """A merge under quarantine reads the real objects, writes its own elsewhere, and leaves nothing behind."""
    with Lab(name) as lab:
        lab.commit(a_txt="a")
        lab.git("checkout", "-q", "-b", "left")
        lab.commit(left_txt="left")
        lab.git("checkout", "-q", "-b", "right", "main")
        lab.commit(right_txt="right")
        before = lab.git("count-objects", "-v")
        with quarantine(lab.common_dir) as env:
            objects = Path(env["GIT_OBJECT_DIRECTORY"])
            tree = run(["merge-tree", "--write-tree", "left", "right"], str(lab.repo), env=env).decode().strip()
            assert any(objects.iterdir())
            assert run(["cat-file", "-t", tree], str(lab.repo), env=env) == b"tree\n"
        assert not objects.exists()
        assert lab.git("count-objects", "-v") == before
        with pytest.raises(GitError):
            run(["cat-file", "-e", tree], str(lab.repo))


def test_the_repositorys_own_alternates_are_followed(lab: Lab) -> None:
    """A repository that borrows objects by a relative path can be read completely."""
    sha = lab.commit(a_txt="a")
    lab.git("clone", "-q", "--shared", str(lab.repo), str(lab.base / "borrower"))
    common = lab.base / "borrower/.git"
    (common / "objects/info/alternates").write_text("../../../repo/.git/objects\n")
    with quarantine(str(common)) as env:
        assert run(["rev-parse", f"{sha}^{{tree}}"], str(lab.base / "borrower"), env=env)
        assert run(["cat-file", "-t", sha], str(lab.base / "borrower"), env=env) == b"commit\n"


def test_no_place_for_temporary_objects_is_a_sentence(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary folder that cannot be used is named."""
    monkeypatch.setattr("tempfile.tempdir", str(lab.base / "gone"))
    with pytest.raises(GitError, match=f"a temporary folder .* in {lab.base}/gone: No such file"), quarantine("/x"):
        pass
