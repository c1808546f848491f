"""The time zone in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from brief.core.policy.settings import Settings
from brief.support.zone import find_zone, find_zone_in_force, zone_doubt


@pytest.mark.parametrize(
    "name", ["", "Europe", "Europe/Prag", "Europe/Prague ", "../x", "/etc/passwd", "a\x00b", "x" * 5_000]
)
def test_what_is_no_zone_is_none(name: str) -> None:
    """An unknown name, a folder, a path or an empty name is not a zone, and raises nothing."""
    assert find_zone(name) is None


def test_the_declared_zone_counts(tmp_path: Path) -> None:
    """A zone in the policy wins, whatever the machine says."""
    found, name, fault = find_zone_in_force(Settings(timezone="Pacific/Auckland"), environ={"TZ": "UTC"}, etc=tmp_path)
    assert (found.key, name, fault) == ("Pacific/Auckland", "Pacific/Auckland", None)


def test_an_unknown_zone_is_a_fault_that_names_the_one_in_force(tmp_path: Path) -> None:
    """A wrong name falls back to the machine's zone and says which that is."""
    found, name, fault = find_zone_in_force(
        Settings(timezone="Europe/Prag"), environ={"TZ": "Asia/Tokyo"}, etc=tmp_path
    )
    assert (found.key, name) == ("Asia/Tokyo", "Asia/Tokyo")
    assert fault is not None
    assert fault.key == "timezone"
    assert 'timezone is "Europe/Prag" (text)' in fault.sentence
    assert fault.sentence.endswith("the machine's zone Asia/Tokyo is used")


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        (":Asia/Tokyo", "Asia/Tokyo"),
        ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        ("", "UTC"),
        ("CET-1CEST", "UTC"),
    ],
)
def test_the_environment_names_the_machines_zone(tmp_path: Path, declared: str, name: str) -> None:
    """TZ counts first, spelled as the C library allows."""
    assert find_zone_in_force(Settings(), environ={"TZ": declared}, etc=tmp_path)[1] == name


def test_the_files_name_the_machines_zone(tmp_path: Path) -> None:
    """Without TZ the zone is that of /etc/timezone, else of the link /etc/localtime, else UTC."""
    assert find_zone_in_force(Settings(), environ={}, etc=tmp_path)[1] == "UTC"
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/America/New_York")
    assert find_zone_in_force(Settings(), environ={}, etc=tmp_path)[1] == "America/New_York"
    (tmp_path / "timezone").write_text("Europe/Prague\n")
    assert find_zone_in_force(Settings(), environ={}, etc=tmp_path)[1] == "Europe/Prague"


@pytest.mark.parametrize("declared", ["Mars/Phobos", "CET-1CEST", "/nowhere", ":x"])
def test_a_machine_zone_that_is_none_is_told(tmp_path: Path, declared: str) -> None:
    """A TZ that is not a zone is reported with the zone used instead, unless the policy names one."""
    told = zone_doubt(Settings(), environ={"TZ": declared}, etc=tmp_path)
    assert told == (
        f'TZ is "{declared}" (text), which is not the IANA name of a zone, so UTC is used; '
        "set TZ or the policy's timezone to a name such as Europe/Prague"
    )
    assert zone_doubt(Settings(timezone="Asia/Tokyo"), environ={"TZ": declared}, etc=tmp_path) is None


@pytest.mark.parametrize("declared", ["Asia/Tokyo", "", ":Asia/Tokyo"])
def test_a_machine_zone_that_is_one_is_no_doubt(tmp_path: Path, declared: str) -> None:
    """A machine without a zone is no reason for doubt: UTC is used, as the C library does."""
    assert zone_doubt(Settings(), environ={"TZ": declared}, etc=tmp_path) is None
    assert zone_doubt(Settings(), environ={}, etc=tmp_path) is None


def test_a_copied_localtime_is_told(tmp_path: Path) -> None:
    """A localtime that is not a link has rules but no name, so it is not used."""
    (tmp_path / "localtime").write_bytes(b"TZif2")
    assert "localtime is not a link to a named zone" in (zone_doubt(Settings(), environ={}, etc=tmp_path) or "")
    (tmp_path / "timezone").write_text("Europe/Prague\n")
    assert zone_doubt(Settings(), environ={}, etc=tmp_path) is None
