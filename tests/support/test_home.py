from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from brief.core.policy.names import SWITCH
from brief.install.mods import PROVIDERS
from brief.sessions.client_records import client_folder
from brief.support.home import account_home, home_folder
from brief.trust import WAKING, Trust, trust_path
from sandbox import Lab

RELATIVE = ["", ".", "home", "./home"]


@pytest.mark.parametrize("named", RELATIVE)
def test_the_current_folder_is_no_home(named: str) -> None:
    """A HOME that is not an absolute path is ignored in favour of the account's."""
    account = account_home()
    assert home_folder({"HOME": named}) == home_folder({}) == account
    assert home_folder({"HOME": "/somebody"}) == Path("/somebody")


def test_a_user_without_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user id without an account has the home `/`, and nothing fails."""

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert home_folder({}) == Path("/")


@pytest.mark.parametrize("named", RELATIVE)
def test_a_repository_brings_no_files_of_the_person(lab: Lab, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """Whatever relative paths the environment has, trust and settings are not read from the current folder."""
    home = lab.repo / named
    Trust.read(home / ".config/majordomus/trust.json").grant(lab.common_dir, [WAKING])
    assert Trust.read(home / ".config/majordomus/trust.json").is_trusted(lab.common_dir, SWITCH, WAKING[1])
    monkeypatch.chdir(lab.repo)
    environ = {"HOME": named, "XDG_CONFIG_HOME": f"{named}/.config".lstrip("/"), "CLAUDE_CONFIG_DIR": ".claude"}
    assert not Trust.read(trust_path(environ)).is_trusted(lab.common_dir, SWITCH, WAKING[1])
    account = account_home()
    assert client_folder(environ) == str(PROVIDERS["claude-code"].home_folder(environ)) == str(account / ".claude")
