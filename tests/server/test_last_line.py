from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import serving
from brief.core.model.brief import Brief
from brief.fastpath.locate import Located
from brief.fastpath.statusline import last_known, line_file
from brief.request import RequestContext
from brief.server import last_line
from brief.server.last_line import KEPT_DAYS, RENEW_SECONDS, TIDY_SECONDS, LineKeeper
from sandbox import Lab, until


class _Clock:
    """The time at which a line was written."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return datetime.now(UTC).timestamp()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    """The clock of the module, moved by hand."""
    made = _Clock()
    monkeypatch.setattr(last_line, "time", made)
    return made


@pytest.fixture
def here(tmp_path: Path) -> Located:
    """The primary checkout of a repository that a server holds."""
    (tmp_path / ".git/majordomus").mkdir(parents=True)
    return Located(str(tmp_path), str(tmp_path / ".git"), str(tmp_path / ".git"))


@pytest.fixture
def keeper(here: Located) -> LineKeeper:
    """A keeper whose folder is made."""
    made = LineKeeper(Path(here.common_dir) / "majordomus/lines", is_open=lambda session: session != "nobody")
    made.prepare()
    return made


def _keep(keeper: LineKeeper, here: Located, line: str, session: str | None = None) -> None:
    look = SimpleNamespace(here=here, query=SimpleNamespace(session=session))
    keeper.keep(cast(RequestContext, look), cast(Brief, SimpleNamespace(line=line)))


def _kept(here: Located, session: str | None = None) -> str:
    return Path(line_file(here, session)).read_text()


def test_the_line_is_where_the_status_line_looks(keeper: LineKeeper, here: Located) -> None:
    """Without a server the status line finds what was kept, of the checkout and of one session in it."""
    _keep(keeper, here, "peers 3")
    _keep(keeper, here, "fix login", "abc")
    for session, line in ((None, "peers 3"), ("abc", "fix login"), ("other", "peers 3")):
        known = last_known(here, session, time.time(), None)
        assert known is not None
        assert known.endswith(f" · {line}")


def test_a_linked_checkout_has_a_line_of_its_own(keeper: LineKeeper, here: Located) -> None:
    """Two checkouts never share a line."""
    linked = Located("/elsewhere", here.common_dir + "/worktrees/koda", here.common_dir)
    _keep(keeper, here, "one")
    _keep(keeper, linked, "two")
    assert (_kept(here), _kept(linked)) == ("one\n", "two\n")


def test_a_changed_line_is_written_at_once(keeper: LineKeeper, here: Located, clock: _Clock) -> None:
    """However soon it changes, the file says what was composed last."""
    for line in ("one", "two", "one"):
        _keep(keeper, here, line)
        assert _kept(here) == line + "\n"


def test_an_unchanged_line_is_written_now_and_then(keeper: LineKeeper, here: Located, clock: _Clock) -> None:
    """Its age is the age of its file, so that is renewed, and not at every question."""
    _keep(keeper, here, "one")
    Path(line_file(here, None)).unlink()
    clock.now += RENEW_SECONDS - 0.1
    _keep(keeper, here, "one")
    assert not os.path.exists(line_file(here, None))
    clock.now += 0.2
    _keep(keeper, here, "one")
    assert _kept(here) == "one\n"


@pytest.mark.parametrize("session", ["../../../x", "a/b", "nul\0", "x" * 129, "é" * 128])
def test_an_id_that_is_no_name_keeps_nothing(session: str, keeper: LineKeeper, here: Located) -> None:
    """A session may call itself anything: nothing is written outside the folder, and nobody loses an answer."""
    _keep(keeper, here, "one", session)
    assert list((Path(here.common_dir) / "majordomus/lines").iterdir()) == []
    assert sorted(p.name for p in (Path(here.common_dir) / "majordomus").iterdir()) == ["lines"]
    assert last_known(here, session, time.time(), None) is None


def test_a_folder_that_was_removed_costs_nobody_an_answer(keeper: LineKeeper, here: Located) -> None:
    """A line that cannot be kept is not kept."""
    (Path(here.common_dir) / "majordomus/lines").rmdir()
    _keep(keeper, here, "one")
    assert not os.path.exists(line_file(here, None))


def test_lines_are_tidied(keeper: LineKeeper, here: Located) -> None:
    """A line goes with its checkout or its session, and after two weeks; what is not ours by its name stays."""
    folder = Path(here.common_dir) / "majordomus/lines"
    (Path(here.common_dir) / "worktrees/linked").mkdir(parents=True)
    days = {
        "primary": 1,
        "primary~open": 1,
        "primary~nobody": 1,
        "worktree-linked": 1,
        "worktree-gone": 1,
        "worktree-linked~old": KEPT_DAYS + 1,
        "letter.txt": KEPT_DAYS + 1,
        "0" * 32: KEPT_DAYS + 1,
    }
    for name, age in days.items():
        (folder / name).touch()
        moment = time.time() - age * 86_400
        os.utime(folder / name, (moment, moment))
    keeper.tidy(here.common_dir)
    assert {path.name for path in folder.iterdir()} == {
        "primary",
        "primary~open",
        "worktree-linked",
        "letter.txt",
        "0" * 32,
    }


def _names(here: Located) -> set[str]:
    return {path.name for path in (Path(here.common_dir) / "majordomus/lines").iterdir()}


def test_a_session_that_is_not_open_has_no_line_of_its_own(keeper: LineKeeper, here: Located) -> None:
    """A query in the name of another session makes no file; the line is stored as the checkout's."""
    _keep(keeper, here, "a line", "nobody")
    assert _names(here) == {"primary"}
    assert _kept(here) == "a line\n"


def test_a_session_has_one_line(keeper: LineKeeper, here: Located) -> None:
    """A session that goes to another checkout takes its line along; of what a killed server left, the newest stays."""
    linked = Located("/elsewhere", here.common_dir + "/worktrees/koda", here.common_dir)
    for place in (here, linked, here):
        _keep(keeper, place, "a line", "abc")
    assert _names(here) == {"primary~abc"}
    (Path(here.common_dir) / "worktrees/koda").mkdir(parents=True)
    Path(line_file(linked, "abc")).touch()
    os.utime(line_file(here, "abc"), (time.time() - 60, time.time() - 60))
    keeper.tidy(here.common_dir)
    assert _names(here) == {"worktree-koda~abc"}


def test_what_a_killed_writer_left_is_tidied(keeper: LineKeeper, here: Located) -> None:
    """A half-written line goes a minute later; one that is just being written stays."""
    folder = Path(here.common_dir) / "majordomus/lines"
    for name, age in ((".7-1.tmp", TIDY_SECONDS + 1), (".7-2.tmp", 0)):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - age, time.time() - age))
    keeper.tidy(here.common_dir)
    assert _names(here) == {".7-2.tmp"}


def test_a_line_of_stray_bytes_is_kept_as_text(keeper: LineKeeper, here: Located) -> None:
    """Bytes that are not UTF-8 are escaped."""
    _keep(keeper, here, "branch \udcff")
    assert _kept(here) == "branch \\udcff\n"


def test_a_running_server_keeps_no_line_of_a_session_that_ended(lab: Lab) -> None:
    """However many sessions come and go while it lives, what is left are the lines of checkouts and open sessions."""
    lab.commit()
    serving.serve(lab, "import brief.server.last_line as kept; kept.TIDY_SECONDS = 0.05")
    lines = lab.state / "lines"
    for number in range(30):
        session = f"session-{number}"
        serving.ask(lab, "POST", "/hooks", {"event": "session-start", "session": session})
        serving.ask(lab, "GET", "/brief", format="line", session=session)
        assert (lines / f"primary~{session}").exists()
        if number:
            serving.ask(lab, "POST", "/hooks", {"event": "session-end", "session": session})
    serving.ask(lab, "GET", "/brief", format="line")
    until(lambda: {path.name for path in lines.iterdir()} == {"primary", "primary~session-0"})
