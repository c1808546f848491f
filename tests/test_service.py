"""The service of a real repository: which checkouts it answers for, and that a brief comes whatever is broken."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from jsonschema import Draft202012Validator

from brief.core.model.brief import AnsweredBy, Brief, PeersSection, StateSection, Status
from brief.core.model.errors import NoServerError, RepositoryError, UsageError
from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import from_json, from_plain, to_json
from brief.core.text.page import render_page
from brief.core.text.prompt import render_prompt
from brief.core.text.sanitize import to_wire
from brief.git.worktree_cache import WorktreeCache
from brief.sections.episode_meant import find_meant
from brief.service import RepositoryService
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.support import ttl_cache
from brief.support.package_data import schema_file
from samples import NOW, Known, episode
from sandbox import Lab

ABSENCE = "no server runs here"


def alone(root: str) -> AnsweredBy:
    """The identity of a command that found no server."""
    return AnsweredBy(kind="self", pid=os.getpid(), root=root, epoch=None, version="0", reason=ABSENCE)


def service(
    lab: Lab, sessions: Known | Board | None = None, absence: str | None = None, **options: Any
) -> RepositoryService:
    """The service of the lab's repository, at NOW."""
    return RepositoryService(
        lab.common_dir, now=lambda: NOW, sessions=sessions or Known(), absence=absence, identity=alone, **options
    )


def brief(of: RepositoryService, root: str | os.PathLike[str], session: str | None = None) -> Brief:
    """The brief of a checkout."""
    return asyncio.run(of.brief(os.fspath(root), session, local=False)).value


def sections(some: Brief) -> dict[str, Status]:
    """The status of each section."""
    return {section.name: section.status for section in some.sections}


@pytest.fixture
def repo(lab: Lab) -> Lab:
    """A repository with one commit."""
    lab.commit(a_txt="a")
    return lab


# ---------------------------------------------------------------- which checkout


def test_a_folder_deep_inside_stands_for_its_checkout(repo: Lab) -> None:
    """From anywhere in a checkout, the brief is that checkout's."""
    deep = repo.worktree("koda") / "src/a b/č"
    deep.mkdir(parents=True)
    found = brief(service(repo), deep).repository
    assert (found.root, found.primary, found.branch) == (str(repo.base / "koda"), str(repo.repo), "koda")
    assert found.common_dir == repo.common_dir


def test_a_checkout_of_another_repository_is_refused(repo: Lab) -> None:
    """A server answers only for its own repository, and the error names both."""
    other = repo.base / "other"
    repo.git("init", "-q", str(other), cwd=repo.base)
    with pytest.raises(RepositoryError, match=r"other is not a checkout of .*repo/\.git"):
        service(repo).request_context(str(other))


def test_a_clone_is_another_repository(repo: Lab) -> None:
    """The same commits in another git folder are not this repository."""
    repo.git("clone", "-q", str(repo.repo), str(repo.base / "clone"), cwd=repo.base)
    with pytest.raises(RepositoryError, match="is not a checkout of"):
        service(repo).request_context(str(repo.base / "clone"))


def test_a_repository_inside_a_checkout_is_another_one(repo: Lab) -> None:
    """A request from a nested repository is not answered with the outer one's brief."""
    nested = repo.repo / "vendor/inner"
    repo.git("init", "-q", str(nested), cwd=repo.base)
    with pytest.raises(RepositoryError, match="is not a checkout of"):
        service(repo).request_context(str(nested))


@pytest.mark.parametrize("root", ["/", "/nowhere", "a\0b", "\\xff", "~", "/proc/self/mem", "x" * 5_000])
def test_a_name_that_is_no_checkout_is_a_sentence(repo: Lab, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything that is not a folder of a checkout is refused in a sentence."""
    monkeypatch.chdir(repo.base)
    with pytest.raises(RepositoryError):
        service(repo).request_context(root)


def test_a_root_that_is_no_utf8_is_known_by_its_spelling(repo: Lab) -> None:
    """A checkout whose name has a stray byte is requested and reported with that byte escaped; names stay distinct."""
    raw = os.fsdecode(os.fsencode(repo.base) + b"/caf\xe9")
    repo.git("worktree", "add", "-q", "-b", "odd", raw)
    spelled = to_wire(raw)
    assert spelled == f"{repo.base}/caf\\xe9"
    one = service(repo, Known([episode("e1", spelled)]))
    found = brief(one, spelled)
    assert (found.repository.root, found.repository.branch) == (spelled, "odd")
    assert found.sections[0].data is not None
    assert found.sections[0].data.open == 1
    assert brief(one, raw).repository == found.repository
    assert from_json(Brief, to_json(found)) == found


# ---------------------------------------------------------------- two checkouts


def test_two_checkouts_never_show_each_others_state(repo: Lab) -> None:
    """Each checkout has its own branch, commit, episode and task; the other's are only under peers."""
    koda = repo.worktree("koda")
    repo.commit("more", cwd=koda, b_txt="b")
    with_both = service(repo, Known([episode("e1", str(repo.repo)), episode("e2", str(koda))]))
    seen = {}
    for root in (repo.repo, koda, repo.repo):
        found = brief(with_both, root)
        state, peers = found.sections[:2]
        assert isinstance(state, StateSection)
        assert isinstance(peers, PeersSection)
        assert state.data is not None
        assert peers.data is not None
        assert state.data.episode is not None
        seen[root] = (found.repository.branch, state.data.episode.id, [peer.episode for peer in peers.data.peers])
    assert seen == {repo.repo: ("main", "e1", ["e2"]), koda: ("koda", "e2", ["e1"])}


def test_a_checkout_removed_by_hand_is_away(repo: Lab) -> None:
    """The next brief shows the change, even within the second in which the last one was cached."""
    koda = repo.worktree("koda")
    one = service(repo, Known([episode("e2", str(koda))]))

    async def condition() -> str:
        peers = (await one.brief(str(repo.repo), None, local=False)).value.sections[1]
        assert peers.data is not None
        return peers.data.boards[1].condition

    async def story() -> tuple[str, str]:
        before = await condition()
        shutil.rmtree(koda)
        return before, await condition()

    assert asyncio.run(story()) == ("ready", "away")


# ---------------------------------------------------------------- a brief comes whatever is broken


def spoil_git(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a failing git first on PATH."""
    folder = lab.base / "bin"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\necho 'fatal: broken' >&2\nexit 128\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_without_git_the_brief_still_comes(repo: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git, branch and commit come from files, peers are unread with the reason, and the rest is read."""
    head = repo.git("rev-parse", "HEAD")
    spoil_git(repo, monkeypatch)
    found = brief(service(repo), repo.repo)
    place = found.repository
    assert (place.branch, place.head, place.detached, place.head_unread) == ("main", head, False, None)
    assert sections(found) == {
        "state": Status.READ,
        "peers": Status.UNREAD,
        "mesh": Status.UNDECLARED,
        "integration": Status.UNREAD,
        "derive": Status.READ,
        "alerts": Status.READ,
    }
    assert "broken" in (found.sections[1].reason or "")


def test_without_git_a_detached_head_is_told(repo: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The detached HEAD of a linked checkout is read from its files too."""
    koda = repo.worktree("koda")
    repo.git("checkout", "-q", "--detach", cwd=koda)
    head = repo.git("rev-parse", "HEAD", cwd=koda)
    spoil_git(repo, monkeypatch)
    found = brief(service(repo), koda).repository
    assert (found.branch, found.head, found.detached, found.primary) == (None, head, True, str(repo.repo))


def test_without_git_a_name_with_a_backslash_is_no_crash(repo: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only git could say which folder an escaped name denotes; without it the folder is not found."""
    spoil_git(repo, monkeypatch)
    with pytest.raises(RepositoryError, match="is not a folder"):
        service(repo).request_context(f"{repo.base}/caf\\xe9")


def derive_lock(lab: Lab) -> None:
    """A derive lock that is a link to itself."""
    (lab.state / "derive.lock").symlink_to("derive.lock")


def observation(lab: Lab) -> None:
    """An observation cut short."""
    (lab.state / "observation.json").write_text("{")


def notices(lab: Lab) -> None:
    """A folder of notices that is a file."""
    (lab.state / "notices").mkdir()
    (lab.state / "notices/active").write_text("")


def policy(lab: Lab) -> None:
    """A policy with a misspelt key and a value of the wrong type."""
    (lab.repo / ".ai/repo").mkdir(parents=True)
    (lab.repo / ".ai/repo/policy.yaml").write_text("sesion: {}\nserver: {idle_minutes: often}\n")


def trust(lab: Lab) -> None:
    """A trust file that is not one."""
    (lab.home / ".config/majordomus").mkdir(parents=True)
    (lab.home / ".config/majordomus/trust.json").write_text("{")


@pytest.mark.parametrize(
    ("spoil", "gap"),
    [
        (derive_lock, {"derive": Status.UNREAD}),
        (observation, {"integration": Status.UNREAD}),
        (notices, {"alerts": Status.PARTIAL}),
        (policy, {}),
        (trust, {}),
    ],
)
def test_what_is_broken_costs_its_own_section_alone(
    repo: Lab, spoil: Callable[[Lab], None], gap: dict[str, Status]
) -> None:
    """A damaged file is one gap with its reason; the five other sections are unchanged."""
    repo.state.mkdir()
    before = sections(brief(service(repo), repo.repo))
    spoil(repo)
    found = brief(service(repo), repo.repo)
    assert sections(found) == before | gap
    assert all(section.reason for section in found.sections if section.name in gap)


def test_a_faulty_policy_is_named_in_the_brief(repo: Lab) -> None:
    """Each fault is a note, and everything that is not faulty counts."""
    policy(repo)
    told = " ".join(brief(service(repo), repo.repo).notes)
    assert "sesion" in told
    assert "idle_minutes" in told


def test_a_zone_that_is_none_is_named_in_the_brief(repo: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A TZ that is not a zone does not silently mean UTC."""
    monkeypatch.setenv("TZ", "Mars/Phobos")
    assert any('TZ is "Mars/Phobos"' in note for note in brief(service(repo), repo.repo).notes)


def test_an_empty_repository_has_a_brief(lab: Lab) -> None:
    """Before the first commit there is a branch and no head."""
    found = brief(service(lab), lab.repo).repository
    assert (found.branch, found.head, found.detached, found.head_unread) == ("main", None, False, None)


def test_a_head_that_cannot_be_read_is_told_everywhere(repo: Lab) -> None:
    """JSON, page, prompt, line, summary and `--strict` say that HEAD is unread, and none says that nothing is committed."""
    (repo.repo / ".git/refs/heads/main").write_bytes(b"\0" * 41)
    found = brief(service(repo), repo.repo)
    place = found.repository
    assert (place.branch, place.head, place.detached) == (None, None, False)
    assert "refs/heads/main" in (place.head_unread or "")
    assert "head ?" in found.line
    assert not found.fully_read
    for text in (render_page(found), render_prompt(found), found.summary):
        assert "HEAD leads to" in text
        assert "no commit yet" not in text
        assert text.replace("\n", "").isprintable()


# ---------------------------------------------------------------- one brief for all who ask


class Stopped:
    """A monotonic clock that stands still, so that no answer expires."""

    def monotonic(self) -> float:
        """Seconds."""
        return 100.0


def a_notice(lab: Lab) -> None:
    """A new notice."""
    (lab.state / "notices/active/x.md").write_text("---\nkind: lock\n---\n")


CHANGES: dict[str, Callable[[Lab, Board], object]] = {
    "a commit": lambda lab, board: lab.commit("more"),
    "a branch": lambda lab, board: lab.git("checkout", "-q", "-b", "other"),
    "a checkout": lambda lab, board: lab.worktree("koda"),
    "a notice": lambda lab, board: a_notice(lab),
    "an observation": lambda lab, board: observation(lab),
    "the derive lock": lambda lab, board: derive_lock(lab),
    "a policy": lambda lab, board: policy(lab),
    "a session heard again": lambda lab, board: board.hear("e1", NOW),
    "a session gone": lambda lab, board: board.close("e1", "done", NOW),
    "a task": lambda lab, board: board.set_task("e1", "fix login", (), None, NOW),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_brief_stands_until_something_changed(repo: Lab, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two requests get one brief; after any visible change it is another, whatever its age."""
    monkeypatch.setattr(ttl_cache, "time", Stopped())
    (repo.state / "notices/active").mkdir(parents=True)
    with contextlib.closing(Database(repo.state / "majordomus.db", 1)) as database:
        Board(database).open(
            "e1", provider="x", checkout="/r", branch=None, process=None, state=EpisodeState.BUSY, now=NOW
        )
        board = Board(database)
        one = service(repo, board)
        assert one.board is board

        one.context.worktrees()  # a slow git must not answer between the two

        async def story() -> None:
            before = await one.brief(str(repo.repo), None, local=False)
            assert await one.brief(str(repo.repo), None, local=False) is before
            CHANGES[change](repo, board)
            assert await one.brief(str(repo.repo), None, local=False) is not before

        asyncio.run(story())


def test_the_focus_of_a_request_is_read_from_files(repo: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Branch and primary checkout are known while git hangs; with an unreadable HEAD the branch is unknown."""
    koda = repo.worktree("koda")
    repo.state.mkdir(mode=0o700)
    with contextlib.closing(Database(repo.state / "majordomus.db", 1)) as database:
        one = service(repo, Board(database))
        monkeypatch.setattr(WorktreeCache, "read", hanging)
        query = one.request_context(str(koda)).query
        assert (query.branch, query.primary) == ("koda", str(repo.repo))
        (repo.repo / ".git/HEAD").write_bytes(b"")
        assert one.request_context(str(repo.repo)).query.branch is None


def hanging(cache: WorktreeCache, patience_s: float = 0.0) -> NoReturn:
    """A git that must not be called."""
    raise AssertionError("git was asked")


def test_whoever_watches_is_told_of_each_brief_once(repo: Lab) -> None:
    """A brief that many ask for is composed, and reported, once."""
    told: list[Brief] = []
    one = service(repo, composed=lambda look, some: told.append(some))

    async def story() -> None:
        kept = await asyncio.gather(*(one.brief(str(repo.repo), None, local=False) for _ in range(10)))
        assert {id(each.value) for each in kept} == {id(told[0])}

    asyncio.run(story())
    assert len(told) == 1


def test_one_section_is_asked_by_itself(repo: Lab) -> None:
    """As it appears in a brief."""
    found = asyncio.run(service(repo).section("derive", str(repo.repo), None))
    assert (found.name, found.status, found.headline) == ("derive", Status.READ, "free")


# ---------------------------------------------------------------- what a command means


def test_a_desk_without_a_server_has_no_board(repo: Lab) -> None:
    """Without a server its board is refused, with the reason why there is none."""
    with pytest.raises(NoServerError, match=ABSENCE):
        _ = service(repo, absence=ABSENCE).board
    with pytest.raises(NoServerError, match="no server holds this repository"):
        _ = service(repo).board


def test_which_episode_a_command_means(repo: Lab) -> None:
    """The named episode, else the only open one here; otherwise an error gives their number and asks for an id."""
    here = str(repo.repo)
    cases: list[tuple[Known, str | None, str]] = [
        (Known(), "e9", "e9"),
        (Known([episode("e1", here), episode("e2", "/b")]), None, "e1"),
    ]
    for known, session, meant in cases:
        one = service(repo, known)
        assert find_meant(one.context, one.request_context(here, session).query) == meant
    for known, told in [
        (Known(), "no episode is open"),
        (Known([episode("a", here), episode("b", here)]), "2 episodes are"),
    ]:
        one = service(repo, known)
        with pytest.raises(UsageError, match=f"{told}.* in {here}; say which one is meant with --session"):
            find_meant(one.context, one.request_context(here).query)


# ---------------------------------------------------------------- the published schema


def validate(text: str) -> dict[str, Any]:
    """The brief in a JSON text, which must match the published schema and be read back unchanged."""
    schema = json.loads(schema_file("brief-v1.json").read_text(encoding="utf-8"))
    document: dict[str, Any] = json.loads(text)
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(document)
    assert json.loads(to_json(from_plain(Brief, document))) == document
    return document


def test_real_briefs_fit_the_published_schema(repo: Lab) -> None:
    """The output of a command alone, and of a server with an episode, a task, a notice and a queue, validates."""
    repo.worktree("koda")
    repo.commit("more", cwd=repo.base / "koda", b_txt="b")
    own = validate(repo.majordomus("brief", "--format", "json").stdout)
    assert own["answered_by"]["kind"] == "self"
    for words in (
        ["episode", "open", "--session", "e1", "--provider", "claude-code", "--pid", str(os.getpid())],
        ["task", "set", "fix login", "--session", "e1", "--next", "run the tests", "--scope", "src"],
        ["episode", "open", "--session", "e2"],
        ["queue", "refresh"],
    ):
        done = repo.majordomus(*words)
        assert done.returncode == 0, done.stderr
    active = repo.state / "notices/active"
    active.mkdir(parents=True, exist_ok=True)
    (active / "x.md").write_text("---\nkind: lock\ncomponent: koda\n---\n")
    (active / "y.md").write_text("no front matter")
    served = validate(repo.majordomus("brief", "--format", "json", "--session", "e1").stdout)
    assert served["answered_by"]["kind"] == "lease-holder"
    by_name = {section["name"]: section["data"] for section in served["sections"]}
    assert by_name["state"]["task"]["title"] == "fix login"
    assert [peer["episode"] for peer in by_name["peers"]["peers"]] == ["e2"]
    assert [entry["name"] for entry in by_name["integration"]["queue"]] == ["koda"]
    assert [notice["slug"] for notice in by_name["alerts"]["shown"]] == ["x"]
    validate(repo.majordomus("brief", "--format", "json", "--section", "peers", "--budget", "10").stdout)
