from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from brief.core.model.errors import GitError
from brief.git import worktree_cache as cache_module
from brief.git.command import GitTimeoutError
from brief.git.worktree_cache import WorktreeCache
from brief.git.worktrees import Checkout, list_worktrees
from brief.support.files import any_young
from neighbourhood import git_hangs
from sandbox import Lab, until


def settled(lab: Lab) -> WorktreeCache:
    """A cache that has read the repository and trusts what it read."""
    shelf = WorktreeCache(lab.common_dir)
    until(lambda: shelf.read() and shelf._listing)
    return shelf


def test_an_unchanged_repository_starts_no_process(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second read does not call git."""
    lab.commit()
    lab.worktree("topic")
    shelf = settled(lab)
    before = shelf.read()
    monkeypatch.setenv("PATH", str(lab.base))
    assert shelf.read() == before


CHANGES: dict[str, Callable[[Lab], object]] = {
    "a commit in the primary": lambda lab: lab.commit(b_txt="b"),
    "a commit in a worktree": lambda lab: lab.commit(cwd=lab.base / "topic", b_txt="b"),
    "a commit on a detached head": lambda lab: lab.commit(cwd=lab.base / "loose", b_txt="b"),
    "a branch switched": lambda lab: lab.git("checkout", "-q", "-b", "other", cwd=lab.base / "topic"),
    "a head detached": lambda lab: lab.git("checkout", "-q", "--detach", cwd=lab.base / "topic"),
    "a branch reset": lambda lab: lab.git("reset", "-q", "--hard", "HEAD~1"),
    "a branch renamed": lambda lab: lab.git("branch", "-m", "topic", "renamed"),
    "the branch behind a symbolic one moved": lambda lab: lab.git("update-ref", "refs/heads/target", "main~1"),
    "a worktree added": lambda lab: lab.worktree("new"),
    "a worktree removed": lambda lab: lab.git("worktree", "remove", str(lab.base / "topic")),
    "a worktree moved": lambda lab: lab.git("worktree", "move", str(lab.base / "topic"), str(lab.base / "moved")),
    "a worktree locked": lambda lab: lab.git("worktree", "lock", str(lab.base / "topic")),
    "a worktree unlocked": lambda lab: lab.git("worktree", "unlock", str(lab.base / "held")),
    "a folder removed by hand": lambda lab: shutil.rmtree(lab.base / "topic"),
    "a folder emptied by hand": lambda lab: (lab.base / "topic/.git").unlink(),
    "the primary made bare": lambda lab: lab.git("config", "core.bare", "true"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_is_noticed(lab: Lab, change: Callable[[Lab], object], packed: bool) -> None:
    """After a change the cache has git's new listing, even if refs are packed."""
    lab.commit(a_txt="a")
    lab.commit(a_txt="b")
    lab.worktree("topic")
    lab.git("worktree", "add", "-q", "--detach", str(lab.base / "loose"))
    lab.git("worktree", "lock", str(lab.worktree("held")))
    lab.git("branch", "target")
    lab.git("symbolic-ref", "refs/heads/alias", "refs/heads/target")
    lab.git("symbolic-ref", "HEAD", "refs/heads/alias", cwd=lab.base / "held")
    if packed:
        lab.git("pack-refs", "--all")
    shelf = settled(lab)
    before = shelf.read()
    change(lab)
    after = shelf.read()
    assert after == list_worktrees(lab.common_dir)
    assert after != before


def test_a_folder_that_came_back_is_there_again(lab: Lab) -> None:
    """A gone checkout may return: a disk that is mounted again is noticed."""
    lab.commit()
    topic = lab.worktree("topic")
    topic.rename(lab.base / "away")
    shelf = settled(lab)
    assert shelf.read()[1].gone
    (lab.base / "away").rename(topic)
    assert shelf.read() == list_worktrees(lab.common_dir)
    assert not shelf.read()[1].gone


def test_packing_the_refs_changes_nothing(lab: Lab) -> None:
    """Packing a ref changes nothing about a checkout."""
    lab.commit()
    shelf = settled(lab)
    before = shelf.read()
    lab.git("pack-refs", "--all")
    assert shelf.read() == before


def test_changes_within_one_tick_of_the_clock_are_noticed(lab: Lab) -> None:
    """Commits that follow each other as fast as git can make them are all noticed."""
    heads = [lab.commit(a_txt=text) for text in ("a", "b", "c")]
    shelf = WorktreeCache(lab.common_dir)
    for turn in range(60):
        head = heads[turn % 3]
        (lab.repo / ".git/refs/heads/main").write_text(f"{head}\n")
        assert shelf.read()[0].head == head


def test_a_reftable_is_looked_at(lab: Lab) -> None:
    """With reftables, the lists of tables are watched too, each worktree's included."""
    lab.commit()
    lab.worktree("topic")
    shelf = WorktreeCache(lab.common_dir)
    for folder in (lab.repo / ".git", lab.repo / ".git/worktrees/topic"):
        before = shelf._read_state()
        (folder / "reftable").mkdir()
        (folder / "reftable/tables.list").write_text("one\n")
        assert shelf._read_state() != before


def test_a_failure_is_not_kept(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failure git is called again, and the old listing is not shown instead."""
    lab.commit()
    shelf = settled(lab)
    lab.commit(b_txt="b")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(lab.base))
        for _ in range(2):
            with pytest.raises(GitError):
                shelf.read()
    assert shelf.read() == list_worktrees(lab.common_dir)


def test_many_readers_ask_git_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers at the same time share one listing."""
    lab.commit()
    shelf = settled(lab)
    lab.commit(b_txt="b")
    asked: list[str] = []

    def counted(common_dir: str, deadline_s: float) -> object:
        asked.append(common_dir)
        until(lambda: not any_young_left())
        return list_worktrees(common_dir, deadline_s)

    def any_young_left() -> bool:
        return any_young(shelf._read_state()[1].values())

    until(lambda: not any_young_left())
    monkeypatch.setattr(cache_module, "list_worktrees", counted)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shelf.read(), range(8)))
    assert set(found) == {list_worktrees(lab.common_dir)}
    assert len(asked) == 1


def test_a_head_that_leads_in_circles_or_nowhere_does_no_harm(lab: Lab) -> None:
    """Nonsense in HEAD is left to git to reject, and reading it ends."""
    lab.commit()
    shelf = WorktreeCache(lab.common_dir)
    (lab.repo / ".git/refs/heads/main").write_text("ref: refs/heads/main\n")
    assert len(shelf._head_stamps(lab.common_dir)) > 1
    (lab.repo / ".git/HEAD").write_bytes(b"ref: a\0b")
    assert [*shelf._head_stamps(lab.common_dir).values()][-1] is None
    os.unlink(lab.repo / ".git/HEAD")
    assert [*shelf._head_stamps(lab.common_dir).values()] == [None]


def test_one_git_answers_all_who_wait(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten callers of a slow git wait for one listing, or the one after it, and get the same."""
    lab.commit()
    asked: list[float] = []
    go, real = threading.Event(), list_worktrees

    def slow(common_dir: str, deadline_s: float) -> tuple[Checkout, ...]:
        asked.append(deadline_s)
        go.wait(30)
        return real(common_dir, 5.0)

    monkeypatch.setattr(cache_module, "list_worktrees", slow)
    cache = WorktreeCache(lab.common_dir)
    with ThreadPoolExecutor(10) as pool:
        found = [pool.submit(cache.read, 30.0) for _ in range(10)]
        until(lambda: asked)
        go.set()
        assert {each.result() for each in found} == {real(lab.common_dir)}
    assert len(asked) <= 3


def test_a_slow_git_answers_the_next_one_who_asks(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller out of patience gets an error, later ones at once, and git's late listing is still used."""
    lab.commit()
    file = git_hangs(lab, monkeypatch)
    cache = WorktreeCache(lab.common_dir, linger_s=30.0)
    for patience in (0.05, 0.0):
        with pytest.raises(GitTimeoutError, match="git worktree list has given no answer for"):
            cache.read(patience)
    flight = cache._flight
    assert flight is not None
    file.touch()
    assert flight.done.wait(30)
    monkeypatch.setenv("PATH", str(lab.base))
    assert cache.read(0.0)[0].root == str(lab.repo)
