from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from brief.core.model.brief import Brief
from brief.fastpath.locate import Located
from brief.fastpath.statusline import last_known, line_file
from brief.server import last_line
from brief.server.last_line import KEPT_DAYS, RENEW_SECONDS, LineKeeper
from brief.service import RequestContext


class _Clock:
    """What tells how long ago a line was written."""

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
    made = LineKeeper(Path(here.common_dir) / "majordomus/lines")
    made.prepare()
    return made


def _keep(keeper: LineKeeper, here: Located, line: str, session: str | None = None) -> None:
    look = SimpleNamespace(here=here, ask=SimpleNamespace(session=session))
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


def test_lines_that_nobody_renewed_are_forgotten(keeper: LineKeeper, here: Located) -> None:
    """After two weeks a line says nothing about today; a younger one stays, and so does a folder."""
    folder = Path(here.common_dir) / "majordomus/lines"
    (folder / "folder").mkdir()
    for name, days in (("old", KEPT_DAYS + 1), ("young", KEPT_DAYS - 1), ("folder", KEPT_DAYS + 1)):
        (folder / name).touch() if name != "folder" else None
        moment = time.time() - days * 86_400
        os.utime(folder / name, (moment, moment))
    LineKeeper(folder).prepare()
    assert sorted(p.name for p in folder.iterdir()) == ["folder", "young"]


def test_a_line_of_stray_bytes_is_kept_as_text(keeper: LineKeeper, here: Located) -> None:
    """What is no UTF-8 is spelled out."""
    _keep(keeper, here, "branch \udcff")
    assert _kept(here) == "branch \\udcff\n"
