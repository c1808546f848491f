"""Trust: what a cloned policy asks for does nothing until a person agrees."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from brief.core.policy.settings import AlertSettings, IntegrationSettings, MeshSettings, ServerSettings, Settings
from brief.trust import SCHEMA, Pair, Trust, TrustError, apply_trust, needs_trust, trust_path
from sandbox import Lab
from serving import write_policy

ASKING = Settings(
    server=ServerSettings(port=8080),
    mesh=MeshSettings(url="nats://host:4222"),
    integration=IntegrationSettings(api_url="https://host/api"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The trust file of a person who has none yet."""
    return tmp_path / "config" / "majordomus" / "trust.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a folder inside, one outside, and a link from the inside out."""
    root = tmp_path / "root"
    (root / "notes").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "here").symlink_to(root / "notes")
    return root


def test_the_defaults_ask_for_nothing(root: Path) -> None:
    """A default policy needs no trust and is unchanged."""
    assert needs_trust(Settings(), str(root)) == ()


def test_every_value_that_acts_needs_trust(root: Path) -> None:
    """A port, two addresses and folders outside the checkout need trust; folders inside do not."""
    folders = ("notes", "here", "notes/../notes", "missing", "link", "../outside", str(root.parent / "else"), str(root))
    settings = replace(ASKING, alerts=AlertSettings(folders=folders))
    assert needs_trust(settings, str(root)) == (
        ("mesh.url", "nats://host:4222"),
        ("integration.api_url", "https://host/api"),
        ("server.port", 8080),
        ("alerts.folders", str(root.parent / "outside")),
        ("alerts.folders", str(root.parent / "else")),
    )


def test_what_is_not_trusted_is_taken_out_with_a_sentence(root: Path, file: Path) -> None:
    """An untrusted value counts as not set, and the note names it and the command to run."""
    settings = replace(ASKING, alerts=AlertSettings(folders=("notes", "link")))
    safe, _, notes = apply_trust(settings, Trust.read(file), "/c/.git", str(root))
    assert (safe.server.port, safe.mesh.url, safe.integration.api_url) == (None, None, None)
    assert safe.alerts.folders == ("notes",)
    assert "server.port 8080 is set by the policy but not trusted here; run majordomus trust" in notes
    assert len(notes) == 4


def test_what_is_trusted_holds_for_that_value_and_repository(root: Path, file: Path) -> None:
    """Trust is for one value of one key in one repository, and survives rereading the file."""
    trust = Trust.read(file).grant("/c/.git", [("server.port", 8080)])
    for known in (trust, Trust.read(file)):
        assert known.is_trusted("/c/.git", "server.port", 8080)
        assert not known.is_trusted("/c/.git", "server.port", 8081)
        assert not known.is_trusted("/c/.git", "mesh.url", 8080)
        assert not known.is_trusted("/other/.git", "server.port", 8080)
    safe, _, notes = apply_trust(ASKING, trust, "/c/.git", str(root))
    assert safe.server.port == 8080
    assert safe.mesh.url is None
    assert len(notes) == 2


def test_a_trusted_folder_is_the_real_one(root: Path, file: Path) -> None:
    """A link that leads elsewhere after it was trusted needs trust again."""
    settings = Settings(alerts=AlertSettings(folders=("link",)))
    trust = Trust.read(file).grant("/c/.git", needs_trust(settings, str(root)))
    assert apply_trust(settings, trust, "/c/.git", str(root)).settings.alerts.folders == (str(root.parent / "outside"),)
    (root / "link").unlink()
    (root / "link").symlink_to("/etc")
    safe, _, notes = apply_trust(settings, trust, "/c/.git", str(root))
    assert safe.alerts.folders == ()
    assert "alerts.folders /etc is set by the policy" in notes[0]


def test_a_link_to_the_common_dir_is_the_same_repository(tmp_path: Path, file: Path) -> None:
    """A repository is identified by the real path of its common dir."""
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")
    trust = Trust.read(file).grant(str(tmp_path / "alias"), [("server.port", 8080)])
    assert trust.is_trusted(str(tmp_path / "real"), "server.port", 8080)


def test_trust_can_be_taken_back(file: Path) -> None:
    """One value, or all of a repository, stops being trusted; others stay."""
    pairs: list[Pair] = [("server.port", 8080), ("mesh.url", "nats://host")]
    trust = Trust.read(file).grant("/c", pairs).grant("/d", pairs)
    trust = trust.revoke("/c", [("server.port", 8080)])
    assert not trust.is_trusted("/c", "server.port", 8080)
    assert trust.is_trusted("/c", "mesh.url", "nats://host")
    trust = trust.revoke("/c")
    assert not trust.is_trusted("/c", "mesh.url", "nats://host")
    assert Trust.read(file).is_trusted("/d", "server.port", 8080)
    assert list(json.loads(file.read_text())["repositories"]) == ["/d"]


def test_the_file_is_the_persons_alone(file: Path) -> None:
    """The folder and the file are closed to others, and nothing else is left in the folder."""
    file.parent.mkdir(parents=True, mode=0o755)
    Trust.read(file).grant("/c", [("server.port", 8080)])
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(file.parent) == ["trust.json"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"schema": "other", "repositories": {}}', '{"schema": "majordomus.trust/v1"}',
     '{"schema": "majordomus.trust/v1", "repositories": {"/c": [{"key": "server.port", "value": true}]}}',
     '{"schema": "majordomus.trust/v1", "repositories": {"/c": ["server.port"]}}', "[" * 100_000],
)  # fmt: skip
def test_a_faulty_file_trusts_nothing_and_is_kept(root: Path, file: Path, text: str) -> None:
    """A damaged file trusts nothing, is reported in the notes, and is never overwritten."""
    file.parent.mkdir(parents=True)
    file.write_text(text)
    file.chmod(0o600)
    trust = Trust.read(file)
    assert trust.fault is not None
    assert not trust.is_trusted("/c", "server.port", 8080)
    assert trust.fault in apply_trust(ASKING, trust, "/c", str(root)).notes
    with pytest.raises(TrustError, match="is not a file of"):
        trust.grant("/c", [("server.port", 8080)])
    assert file.read_text() == text


def test_a_file_that_others_may_write_trusts_nothing(file: Path) -> None:
    """A file that someone else could have written is nobody's consent."""
    Trust.read(file).grant("/c", [("server.port", 8080)])
    file.chmod(0o622)
    trust = Trust.read(file)
    assert not trust.is_trusted("/c", "server.port", 8080)
    assert "others may write to it" in (trust.fault or "")


def test_what_is_no_file_trusts_nothing(file: Path) -> None:
    """A pipe in place of the file does not block."""
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    assert "it is not a file" in (Trust.read(file).fault or "")


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """If trust cannot be saved, the error says so, and why."""
    (tmp_path / "file").write_text("")
    with pytest.raises(TrustError, match="cannot be written"):
        Trust(tmp_path / "file" / "majordomus" / "trust.json", {}, None).grant("/c", [("server.port", 8080)])


def test_a_link_to_a_persons_dotfiles_stays(tmp_path: Path, file: Path) -> None:
    """A linked trust file is written at its target, and the link is kept."""
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    file.parent.mkdir(parents=True)
    file.symlink_to(dotfiles / "trust.json")
    Trust.read(file).grant("/c", [("server.port", 8080)])
    assert file.is_symlink()
    assert Trust.read(file).is_trusted("/c", "server.port", 8080)


def test_grants_at_the_same_time_are_all_kept(file: Path) -> None:
    """Simultaneous grants are all saved."""
    trust = Trust.read(file)
    threads = [threading.Thread(target=trust.grant, args=(f"/{n}", [("server.port", 2000 + n)])) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(Trust.read(file).is_trusted(f"/{n}", "server.port", 2000 + n) for n in range(8))


def test_the_file_lies_beside_the_persons_settings(tmp_path: Path) -> None:
    """XDG_CONFIG_HOME counts if it is absolute, else ~/.config."""
    home = {"HOME": str(tmp_path)}
    assert trust_path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/majordomus/trust.json")
    assert trust_path({**home, "XDG_CONFIG_HOME": "x"}) == tmp_path / ".config/majordomus/trust.json"
    assert trust_path(home) == tmp_path / ".config/majordomus/trust.json"


# ---------------------------------------------------------------- a config folder that the repository brought


def _planted(lab: Lab, home: Path, repository: Path) -> None:
    """A trust file below a folder, which trusts a folder of notices outside the repository."""
    file = home / "majordomus/trust.json"
    file.parent.mkdir(parents=True)
    pair = {"key": "alerts.folders", "value": str(lab.base / "outside")}
    file.write_text(json.dumps({"schema": SCHEMA, "repositories": {str(repository): [pair]}}))
    file.chmod(0o600)


@pytest.mark.parametrize("served", [False, True])
@pytest.mark.parametrize(
    ("variable", "value", "config"),
    [
        ("XDG_CONFIG_HOME", "{repo}/config", "{repo}/config"),
        ("XDG_CONFIG_HOME", "{repo}/.git/config.d", "{repo}/.git/config.d"),
        ("XDG_CONFIG_HOME", "{tree}/config", "{tree}/config"),
        ("XDG_CONFIG_HOME", "{base}/way", "{repo}/config"),
        ("HOME", "{repo}/home", "{repo}/home/.config"),
    ],
)
def test_a_config_folder_in_the_repository_is_not_the_persons(
    lab: Lab, variable: str, value: str, config: str, served: bool
) -> None:
    """Neither a server nor a command trusts anything by it; one sentence says so, and nothing is written there."""
    lab.commit()
    places = {"repo": lab.repo, "tree": lab.worktree("tree"), "base": lab.base}
    write_policy(lab, f"version: 1\nalerts:\n  folders: [{lab.base}/outside]\n")
    (lab.base / "outside/active").mkdir(parents=True)
    (lab.base / "outside/active/lock-koda.md").write_text("---\nkind: lock\n---\n# lock on koda\n")
    _planted(lab, Path(config.format(**places)), Path(lab.common_dir))
    (lab.base / "way").symlink_to(lab.repo / "config")
    if variable == "HOME":
        del lab.env["XDG_CONFIG_HOME"]
    lab.env[variable] = value.format(**places)
    if served:
        assert lab.majordomus("serve", "ensure").returncode == 0
    told = json.loads(lab.majordomus("brief", "--format", "json").stdout)
    assert told["answered_by"]["kind"] == ("lease-holder" if served else "self")
    sentence = (
        "majordomus/trust.json is inside the very repository that it would trust, so nothing is trusted; set HOME or"
    )
    assert len([note for note in told["notes"] if sentence in note]) == 1
    assert "koda" not in json.dumps(told)
    done = lab.majordomus("trust")
    assert (done.returncode, sentence in done.stderr, len(done.stderr.splitlines())) == (2, True, 1)


def test_the_home_of_the_account_may_be_a_work_tree(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody was led there by an environment."""
    monkeypatch.setattr("brief.trust.account_home", lambda: lab.repo)
    monkeypatch.setenv("HOME", str(lab.repo))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    _planted(lab, lab.repo / ".config", Path(lab.common_dir))
    trust = Trust.of_person(lab.common_dir)
    assert trust.is_trusted(lab.common_dir, "alerts.folders", str(lab.base / "outside"))
