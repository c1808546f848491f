from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brief.clones.entries import read_entries
from brief.clones.kinship import RootCommits
from brief.fastpath.lease import socket_name
from brief.git.worktrees import list_worktrees
from brief.server import registry_entry as listing_module
from brief.server.lease import Lease
from brief.server.registry_entry import RegistryEntry
from brief.support.wall_clock import utc_now
from neighbourhood import git_hangs
from sandbox import Lab, until
from serving import holder_of


@pytest.fixture
def lease(lab: Lab) -> Iterator[Lease]:
    """The lease of a repository with one commit."""
    lab.commit()
    taken = Lease.take(lab.common_dir, utc_now())
    yield taken
    taken.release()


def listing_of(lab: Lab, lease: Lease, roots: RootCommits | None = None) -> RegistryEntry:
    """The listing of a server that holds `lease`."""
    holder = holder_of(lease, lab.repo, lab.runtime / socket_name(lab.common_dir, lease.epoch))
    known = roots or RootCommits(lab.common_dir)
    return RegistryEntry(lab.runtime / "servers", holder, known, lambda: list_worktrees(lab.common_dir))


def written(lab: Lab) -> list[dict[str, Any]]:
    """Every entry as it lies there."""
    return [json.loads(path.read_text()) for path in sorted((lab.runtime / "servers").glob("[0-9a-f]*.json"))]


async def kept_until(listing: RegistryEntry, holds: Callable[[], object]) -> None:
    """Keep the entry until a condition holds."""
    keeping = asyncio.ensure_future(listing.keep())
    await asyncio.to_thread(until, holds)
    keeping.cancel()


def test_a_server_is_listed_with_what_clones_know_it_by(lab: Lab, lease: Lease) -> None:
    """The entry names the primary checkout and the root commits, and is one that others read."""

    async def run() -> None:
        listing = listing_of(lab, lease)
        await listing.write()
        (entry,) = read_entries(str(lab.runtime / "servers")).entries
        assert entry.root == str(lab.repo)
        assert entry.root_commits == (lab.git("rev-parse", "HEAD"),)
        assert entry.common_dir == lab.common_dir
        listing.remove()
        assert written(lab) == []

    asyncio.run(run())


def test_a_repository_that_git_needs_long_for_is_listed_at_once(
    lab: Lab, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry is written without root commits, and again once they are known."""
    monkeypatch.setattr(listing_module, "START_SECONDS", 0.0)
    go_on = git_hangs(lab, monkeypatch)

    async def run() -> None:
        listing = listing_of(lab, lease)
        await listing.write()
        first = written(lab)
        go_on.touch()
        await kept_until(listing, lambda: written(lab)[0]["root_commits"])
        (entry,) = written(lab)
        assert first == [entry | {"root_commits": None}]
        assert entry["root_commits"] == [lab.git("rev-parse", "HEAD")]
        listing.remove()
        assert written(lab) == []

    asyncio.run(run())


def test_the_first_commit_is_noticed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was started before the first commit learns of it."""
    monkeypatch.setattr(listing_module, "RELEARN_SECONDS", 0.0)
    lease = Lease.take(lab.common_dir, utc_now())

    async def run() -> None:
        listing = listing_of(lab, lease)
        await listing.write()
        assert written(lab)[0]["root_commits"] == []
        first = lab.commit()
        await kept_until(listing, lambda: written(lab)[0]["root_commits"] == [first])

    asyncio.run(run())
    lease.release()


def test_an_entry_that_was_removed_is_written_again(lab: Lab, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that others cannot find would be missing from their boards without a word, so it says again who it is."""
    monkeypatch.setattr(listing_module, "RELEARN_SECONDS", 0.0)

    async def run() -> None:
        listing = listing_of(lab, lease)
        await listing.write()
        before = written(lab)
        (lab.runtime / f"servers/{lease.epoch}.json").unlink()
        await kept_until(listing, lambda: written(lab) == before)
        listing.remove()
        assert written(lab) == []

    asyncio.run(run())


def test_a_bare_repository_names_a_checkout_that_can_be_asked_about(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the primary checkout is bare, the entry names the work tree that the server was started from."""
    lab.commit()
    bare, tree = lab.base / "bare.git", lab.base / "tree"
    lab.git("clone", "-q", "--bare", str(lab.repo), str(bare))
    lab.git("worktree", "add", "-q", str(tree), cwd=bare)
    lease = Lease.take(str(bare), utc_now())

    async def run() -> None:
        holder = holder_of(lease, tree, lab.runtime / "abc-1.sock")
        listing = RegistryEntry(
            lab.runtime / "servers", holder, RootCommits(str(bare)), lambda: list_worktrees(str(bare))
        )
        await listing.write()
        assert written(lab)[0]["root"] == str(tree)

    asyncio.run(run())
    lease.release()


def test_two_servers_of_one_millisecond_are_both_listed(lab: Lab, lease: Lease) -> None:
    """An epoch is a moment, which two repositories may share; neither replaces the other's entry."""
    folder: Path = lab.runtime / "servers"
    folder.mkdir(mode=0o700)
    other = folder / f"{lease.epoch}.json"
    other.write_text('{"of": "another repository"}')

    async def run() -> None:
        listing = listing_of(lab, lease)
        await listing.write()
        assert len(written(lab)) == 2
        listing.remove()
        assert written(lab) == [{"of": "another repository"}]

    asyncio.run(run())
