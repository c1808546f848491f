from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from brief.clones import neighbours as neighbours_module
from brief.clones.entries import Entry
from brief.clones.kinship import RootCommits
from brief.clones.neighbours import FRESH_SECONDS, SILENT_SECONDS, Neighbours, ask_all
from brief.core.model.wire import to_json
from neighbourhood import ROOT, entry, listed, listening, saying, section, silent
from sandbox import Lab

OWN_EPOCH = 500


class Street:
    """Servers beside our own, and the one that asks them, under a clock that is set by hand."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.now = 100.0
        self.roots = RootCommits(lab.common_dir)
        self.roots.known = frozenset({ROOT})
        self.running = ExitStack()
        folder = str(lab.runtime / "servers")
        self.neighbours = Neighbours(folder, lab.common_dir, OWN_EPOCH, self.roots, lambda: self.now)

    def answering(self, made: Entry, *episodes: str) -> list[bytes]:
        """A listed server that answers. Returns the questions it was asked."""
        listed(self.lab.runtime, made)
        body = to_json(section(made, *episodes)).encode()
        return self.running.enter_context(listening(made, saying(made, body)))

    def hanging(self, made: Entry) -> list[bytes]:
        """A listed server that never answers. Returns the questions it was asked."""
        listed(self.lab.runtime, made)
        return self.running.enter_context(listening(made, silent))

    def conditions(self) -> list[str]:
        """The condition of every neighbour, by path."""
        return [neighbour.board.condition for neighbour in self.neighbours.read().neighbours]


@pytest.fixture
def street(lab: Lab) -> Iterator[Street]:
    """A machine with only our server."""
    made = Street(lab)
    with made.running:
        yield made


def test_nobody_else_is_nobody(street: Street) -> None:
    """Without other servers there is nobody to ask, and nothing is missing."""
    own = entry(street.lab.runtime, epoch=OWN_EPOCH, common_dir=street.lab.common_dir)
    listed(street.lab.runtime, own)
    hood = street.neighbours.read()
    assert (hood.neighbours, hood.gaps) == ((), ())


def test_clones_are_asked_and_strangers_are_not(street: Street) -> None:
    """Only servers of the same history are asked, never our own, and their boards are sorted by path."""
    runtime = street.lab.runtime
    street.answering(entry(runtime, "b"), "e1")
    street.answering(entry(runtime, "a"), "e2", "e3")
    stranger = street.answering(entry(runtime, "stranger", roots=("b" * 40,)), "e4")
    unborn = street.answering(entry(runtime, "unborn", roots=()), "e5")
    own = entry(runtime, epoch=OWN_EPOCH, common_dir=street.lab.common_dir)
    ours = street.answering(own, "e6")
    hood = street.neighbours.read()
    assert [(each.board.name, each.board.count) for each in hood.neighbours] == [("a", 2), ("b", 1)]
    assert hood.gaps == ()
    assert stranger == unborn == ours == []


def test_an_answer_is_not_asked_for_again_within_a_second(street: Street) -> None:
    """A recent answer is reused, with its age; after a second the servers are asked again."""
    asked = street.answering(entry(street.lab.runtime), "e1")
    street.neighbours.read()
    street.now += FRESH_SECONDS - 0.25
    assert street.neighbours.read().age_s == FRESH_SECONDS - 0.25
    assert len(asked) == 1
    street.now += 0.25
    assert street.neighbours.read().age_s == 0
    assert len(asked) == 2


def test_callers_at_the_same_time_share_one_asking(street: Street) -> None:
    """A caller that comes during a round gets its answer."""
    asked = street.hanging(entry(street.lab.runtime))
    with ThreadPoolExecutor(8) as callers:
        hoods = list(callers.map(lambda _: street.neighbours.read(), range(8)))
    assert len(asked) == 1
    assert len(set(map(id, (hood.neighbours for hood in hoods)))) == 1


def test_silence_is_remembered(street: Street) -> None:
    """A silent server costs 250 ms once in half a minute, is called silent meanwhile, and hides nobody."""
    asked = street.hanging(entry(street.lab.runtime, "quiet"))
    street.answering(entry(street.lab.runtime, "there"), "e1")
    assert street.conditions() == ["silent", "ready"]
    street.now += SILENT_SECONDS - 1
    hood = street.neighbours.read()
    assert [each.board.condition for each in hood.neighbours] == ["silent", "ready"]
    assert "gave no answer 29 s ago" in (hood.neighbours[0].board.reason or "")
    assert hood.neighbours[0].gap is not None
    assert len(asked) == 1
    street.now += 1
    assert street.conditions() == ["silent", "ready"]
    assert len(asked) == 2


def test_a_server_that_speaks_again_is_ready(street: Street) -> None:
    """The first answer ends the silence."""
    made = entry(street.lab.runtime)
    listed(street.lab.runtime, made)
    with listening(made, silent):
        assert street.conditions() == ["silent"]
    street.now += SILENT_SECONDS
    (street.lab.runtime / made.socket).unlink()
    street.answering(made, "e1")
    assert street.conditions() == ["ready"]


@pytest.mark.parametrize("speaks", [True, False])
def test_an_older_server_of_our_own_repository_is_superseded(street: Street, speaks: bool) -> None:
    """We hold the lease, so an older server does not, whether it knows, answers or neither; that is not a gap."""
    old = entry(street.lab.runtime, epoch=OWN_EPOCH - 1, common_dir=street.lab.common_dir)
    if speaks:
        street.answering(old, "e1")
    else:
        street.hanging(old)
    (neighbour,) = street.neighbours.read().neighbours
    assert (neighbour.board.condition, neighbour.board.count) == ("superseded", 1 if speaks else None)
    assert neighbour.gap is None


def test_a_superseded_server_sees_its_holder(street: Street) -> None:
    """A newer server of our own repository is a neighbour that is ready."""
    new = entry(street.lab.runtime, epoch=OWN_EPOCH + 1, common_dir=street.lab.common_dir)
    street.answering(new, "e1")
    assert street.conditions() == ["ready"]


def test_of_two_servers_of_a_clone_the_older_is_superseded(street: Street) -> None:
    """The epoch shows which of two servers holds a repository, even if the older one does not answer."""
    street.hanging(entry(street.lab.runtime, epoch=600))
    street.answering(entry(street.lab.runtime, epoch=700), "e1")
    assert sorted(street.conditions()) == ["ready", "superseded"]


def test_unknown_root_commits_are_a_gap(street: Street) -> None:
    """While our own root commits are unknown, it cannot be said that there are no clones."""
    street.roots.known = None
    street.roots.reason = "git hangs"
    asked = street.answering(entry(street.lab.runtime), "e1")
    hood = street.neighbours.read()
    assert hood.neighbours == ()
    assert "1 of the servers on this machine may be clones'" in hood.gaps[0]
    assert "git hangs" in hood.gaps[0]
    assert asked == []


def test_a_server_that_does_not_know_its_own_is_a_gap(street: Street) -> None:
    """A server that has not named its root commits may be a clone's."""
    listed(street.lab.runtime, entry(street.lab.runtime, "young", roots=None))
    assert "young/.git has not named its root commits" in street.neighbours.read().gaps[0]


def test_a_file_that_is_no_entry_is_a_gap(street: Street) -> None:
    """An unreadable file may have been a clone's entry, and its name is sanitized."""
    folder = street.lab.runtime / "servers"
    folder.mkdir()
    (folder / "\x1b[31m1.json").write_text("{")
    (gap,) = street.neighbours.read().gaps
    assert "is not a server's entry" in gap
    assert "\x1b" not in gap


def test_more_clones_than_are_asked_are_told(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers past the limit are not asked, and their number is reported."""
    monkeypatch.setattr(neighbours_module, "MOST_ASKED", 1)
    for name in ("a", "b", "c"):
        street.answering(entry(street.lab.runtime, name), name)
    hood = street.neighbours.read()
    assert [neighbour.board.name for neighbour in hood.neighbours] == ["a"]
    assert hood.gaps == ("2 more servers of clones were not asked: 1 is the limit",)


def test_an_answer_that_is_read_too_slowly_is_silence(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is not read in time is reported, and nobody waits for it."""
    made = entry(street.lab.runtime)
    street.answering(made, "e1")
    monkeypatch.setattr(neighbours_module, "_GRACE_SECONDS", 0.0)
    ((_, neighbour),) = ask_all([made], seconds=0.0)
    assert neighbour.board.condition == "silent"
