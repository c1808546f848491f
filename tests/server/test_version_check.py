from __future__ import annotations

import os
from pathlib import Path

import pytest

import brief
from brief.server.version_check import Installation

AGAIN = "outdated: runs 1.0.0, which has been reinstalled since"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """The file that names the version of what is installed, 1.0.0."""
    path = tmp_path / "__init__.py"
    path.write_text('"""Words."""\n\n__version__ = "1.0.0"\n')
    return path


def test_what_runs_is_what_is_installed() -> None:
    """The version is found in our own package."""
    assert Installation().outdated() is None
    assert Installation(running="0.0.1").outdated() == f"outdated: runs 0.0.1, {brief.__version__} is installed"


def test_an_upgrade_is_told(module: Path) -> None:
    """A file that names another version makes what runs outdated; one that names ours again was still installed anew."""
    installed = Installation(str(module), "1.0.0")
    text = module.read_text()
    module.write_text(text.replace("1.0.0", "1.1.0 \x1b[31m"))
    assert installed.outdated() == "outdated: runs 1.0.0, 1.1.0 is installed"
    module.write_text(text + "# the same version, written anew\n")
    assert installed.outdated() == AGAIN


def test_the_same_version_installed_again(module: Path) -> None:
    """Another file with the same text and time is another; a further link to ours, as uv makes them, is not."""
    installed = Installation(str(module), "1.0.0")
    assert installed.outdated() is None
    os.link(module, module.with_name("cached"))
    assert installed.outdated() is None
    kept = module.stat().st_mtime_ns
    again = module.with_name("again")
    again.write_text(module.read_text())
    os.utime(again, ns=(kept, kept))
    again.rename(module)
    assert installed.outdated() == AGAIN


def test_a_python_that_was_replaced(module: Path) -> None:
    """The program is run by another Python from then on, or by none."""
    python = module.with_name("python")
    python.symlink_to("first")
    for name in ("first", "second"):
        module.with_name(name).write_text(name)
    installed = Installation(str(module), "1.0.0", str(python))
    assert installed.outdated() is None
    python.unlink()
    assert installed.outdated() == f"outdated: its Python {python} is gone"
    python.symlink_to("second")
    assert installed.outdated() == f"outdated: its Python {python} has been replaced since"


def test_a_file_that_cannot_be_looked_at(module: Path) -> None:
    """A file that cannot be accessed is neither replaced nor gone, and the previous answer stays."""
    python = module.with_name("python")
    python.touch()
    installed = Installation(str(module), "1.0.0", str(python))
    python.unlink()
    python.symlink_to("python")
    assert installed.outdated() is None
    python.unlink()
    gone = installed.outdated()
    assert gone is not None
    python.symlink_to("python")
    assert installed.outdated() == gone


def test_files_that_are_gone(module: Path) -> None:
    """A program that was removed, with or without its folder, cannot be started again and is outdated."""
    told = "outdated: runs 1.0.0, whose files are gone"
    assert Installation(str(module / "below"), "1.0.0").outdated() == told
    installed = Installation(str(module), "1.0.0")
    assert installed.outdated() is None
    module.unlink()
    assert installed.outdated() == told


@pytest.mark.parametrize("text", ["", '__version__ = "1', "version = 2\n", "\x00\xff"])
def test_a_file_that_names_no_version(module: Path, text: str) -> None:
    """A file that is just being written, or is unlike ours, says nothing about the version."""
    module.write_text(text)
    assert Installation(str(module), "1.0.0").outdated() is None


def test_a_file_that_cannot_be_read_is_looked_at_again(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system has no descriptor left, nothing is concluded, and the next check decides."""
    installed = Installation(str(module), "0.9.0")

    def fail(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", fail)
        assert installed.outdated() is None
    assert installed.outdated() == "outdated: runs 0.9.0, 1.0.0 is installed"
