"""What a person trusts in a repository: cloning one must not open a port, call a host or read a folder elsewhere.

Trusted values are stored in `trust.json`, beside the person's `config.yaml`, which is never rewritten so that its
comments survive. The exact values are stored: if the policy changes to another value, that one is not trusted. A
repository is identified by the real path of its git common dir, so all its checkouts share what is trusted.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, structs

from brief.core.model.errors import USAGE, MajordomusError
from brief.core.policy.names import SWITCH
from brief.core.policy.settings import Settings
from brief.core.text.sanitize import clean
from brief.support.files import replace
from brief.support.home import account_home, home_folder
from brief.support.programs import lies_in

SCHEMA = "majordomus.trust/v1"

Pair = tuple[str, str | int]
"""A dotted key and the value that the policy sets; a folder by its real path."""

_BELOW_CONFIG = "majordomus/trust.json"
_BELOW_HOME = f".config/{_BELOW_CONFIG}"
_MOST = 1_048_576
WAKING: Pair = (SWITCH, "by a mod or a hook that is installed for the user")
"""The pair that lets a mod installed for the user, and so for every repository, wake sessions in this one."""

_VALUES = ("mesh.url", "integration.api_url", "server.port")
FOLDERS = "alerts.folders"


class TrustError(MajordomusError):
    """The trust file cannot be changed."""

    exit_code = USAGE
    http_status = 400


def trust_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The path of the trust file, in `XDG_CONFIG_HOME` if that is absolute, else in `~/.config`."""
    declared = environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(declared):
        return Path(declared, _BELOW_CONFIG)
    return home_folder(environ) / _BELOW_HOME


def ignored_config_home(environ: Mapping[str, str] = os.environ) -> str | None:
    """The value of `XDG_CONFIG_HOME` if it is set and, as the XDG specification demands, ignored for being relative."""
    declared = environ.get("XDG_CONFIG_HOME", "")
    return declared if declared and not os.path.isabs(declared) else None


# ---------------------------------------------------------------- what needs trust


def needs_trust(settings: Settings, root: str) -> tuple[Pair, ...]:
    """The policy's values that are in force only once a person trusts them, for the checkout at `root`."""
    asked = [(key, _value_of(settings, key)) for key in _VALUES]
    single = [(key, value) for key, value in asked if value is not None]
    outside = [folder for folder in (_resolve_outside(root, folder) for folder in settings.alerts.folders) if folder]
    return (*single, *((FOLDERS, folder) for folder in dict.fromkeys(outside)))


def may_be_trusted(settings: Settings, root: str) -> tuple[Pair, ...]:
    """Everything that a person can trust here: what needs trust, and waking by the user's own mod if waking is on."""
    return (*needs_trust(settings, root), *((WAKING,) if settings.session.brief_on_interval else ()))


class Effective(NamedTuple):
    """The settings in force, the untrusted values that were removed from them, and a sentence for each of those."""

    settings: Settings
    untrusted: tuple[Pair, ...]
    notes: tuple[str, ...]


def apply_trust(settings: Settings, trust: Trust, common_dir: str, root: str) -> Effective:
    """The settings without untrusted values.

    A trusted folder outside the checkout is replaced by its real path, so that no link can lead elsewhere later.
    """
    refused = tuple(pair for pair in needs_trust(settings, root) if not trust.is_trusted(common_dir, *pair))
    if not refused:
        return Effective(_drop_refused(settings, root, ()), (), ())
    taken_out = {key for key, _ in refused if key != FOLDERS}
    notes = [
        f"{key} {clean(str(value))} is set by the policy but not trusted here; run majordomus trust"
        for key, value in refused
    ]
    for key in taken_out:
        settings = _replace(settings, key, None)
    settings = _drop_refused(settings, root, [str(value) for key, value in refused if key == FOLDERS])
    return Effective(settings, refused, (*notes, trust.fault) if trust.fault else tuple(notes))


def _drop_refused(settings: Settings, root: str, refused: Collection[str]) -> Settings:
    if not settings.alerts.folders:
        return settings
    folders = [_resolve_outside(root, folder) or folder for folder in settings.alerts.folders]
    return _replace(settings, FOLDERS, tuple(folder for folder in folders if folder not in refused))


def _resolve_outside(root: str, folder: str) -> str | None:
    """The real path of a folder outside the checkout, None for a folder inside."""
    real = os.path.realpath(Path(root, folder))
    return None if Path(real).is_relative_to(os.path.realpath(root)) else real


def _value_of(settings: Settings, key: str) -> Any:
    section, name = key.split(".")
    return getattr(getattr(settings, section), name)


def _replace(settings: Settings, key: str, value: object) -> Settings:
    section, name = key.split(".")
    changed = structs.replace(getattr(settings, section), **{name: value})
    return structs.replace(settings, **{section: changed})


# ---------------------------------------------------------------- granting and revoking


class Trust(Struct, frozen=True):
    """The trusted values, by the real path of the common dir. `fault` says why the file cannot be used, else None."""

    path: Path
    pairs: Mapping[str, frozenset[Pair]]
    fault: str | None

    @classmethod
    def read(cls, path: Path | None = None) -> Trust:
        """Read the file, by default the person's. A missing or faulty file trusts nothing."""
        path = path or trust_path()
        try:
            return cls(path, _parse(_read_text(path)), None)
        except FileNotFoundError:
            return cls(path, {}, None)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            return cls(path, {}, f"{path}: {why}; nothing is trusted until it is fixed or removed")

    @classmethod
    def of_person(cls, common_dir: str) -> Trust:
        """Read the person's file, for a repository. A file inside that repository trusts nothing: it may have come with it.

        A repository may also bring along an environment that leads to its own file, which is not the person's consent.
        The home of the account belongs to the person even if it is a work tree.
        """
        path = trust_path()
        if _leads_into(path, _resolve_repository(common_dir)) and path != account_home() / _BELOW_HOME:
            return cls(
                path,
                {},
                f"{path} is inside the very repository that it would trust, so nothing is trusted; "
                "set HOME or XDG_CONFIG_HOME to a folder outside the repository",
            )
        return cls.read(path)

    def is_trusted(self, common_dir: str, key: str, value: str | int) -> bool:
        """Whether exactly this value of the key is trusted in the repository with this common dir."""
        return (key, value) in self.pairs.get(_resolve_repository(common_dir), frozenset())

    def grant(self, common_dir: str, pairs: Iterable[Pair]) -> Trust:
        """Trust these values from now on. Raises TrustError if the file cannot be read or written."""
        return self._change(common_dir, add=frozenset(pairs), remove=frozenset())

    def revoke(self, common_dir: str, pairs: Iterable[Pair] | None = None) -> Trust:
        """Stop trusting these values, or all values of this repository. Raises TrustError."""
        if pairs is None:
            pairs = Trust.read(self.path).pairs.get(_resolve_repository(common_dir), frozenset())
        return self._change(common_dir, add=frozenset(), remove=frozenset(pairs))

    def _change(self, common_dir: str, *, add: frozenset[Pair], remove: frozenset[Pair]) -> Trust:
        if self.fault:
            raise TrustError(self.fault)
        repository = _resolve_repository(common_dir)
        try:
            with _lock_folder(self.path.parent):
                now = Trust.read(self.path)
                if now.fault:
                    raise TrustError(now.fault)
                pairs = {**now.pairs, repository: (now.pairs.get(repository, frozenset()) | add) - remove}
                changed = Trust(self.path, {key: held for key, held in pairs.items() if held}, None)
                # A link is followed, so that the file may live in a folder of dotfiles.
                replace(Path(os.path.realpath(self.path)), _serialize(changed.pairs))
        except OSError as error:
            raise TrustError(f"{self.path} cannot be written ({error.strerror}); nothing was changed") from error
        return changed


@lru_cache(maxsize=64)
def _resolve_repository(common_dir: str) -> str:
    """The real path of a git common dir. Kept, since callers have resolved it just now."""
    return os.path.realpath(common_dir)


def _leads_into(path: Path, repository: str) -> bool:
    """Whether a file, or the folder that names it, lies in the repository or in one of its checkouts."""
    return any(lies_in(str(each), repository) for each in (path, path.parent))


# ---------------------------------------------------------------- the file


def _read_text(path: Path) -> str:
    """The text of the file. Raises ValueError if someone else could have written it, OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a file")
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ValueError("others may write to it")
        return file.read(_MOST).decode()


def _parse(text: str) -> dict[str, frozenset[Pair]]:
    try:
        document = json.loads(text)
        known = {SCHEMA: document["repositories"]}[document["schema"]]
        return {repository: frozenset(map(_read_pair, entries)) for repository, entries in known.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is not a file of {SCHEMA}") from error


def _read_pair(entry: Any) -> Pair:
    key, value = entry["key"], entry["value"]
    if not isinstance(key, str) or isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError
    return key, value


def _serialize(pairs: Mapping[str, frozenset[Pair]]) -> bytes:
    repositories = {
        repository: [{"key": key, "value": value} for key, value in sorted(held, key=str)]
        for repository, held in sorted(pairs.items())
    }
    return json.dumps({"schema": SCHEMA, "repositories": repositories}, indent=2).encode() + b"\n"


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock out other changes. Creates the folder if it is missing, and closes it to other users."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.fchmod(descriptor, 0o700)
        yield
    finally:
        os.close(descriptor)
