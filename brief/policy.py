"""The policy of a checkout, read from its file: the settings in force, and every fault in the file.

The file is the only source. No environment variable sets a key, since a server outlives the shell that started it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec import Struct

from brief.core.model.errors import DocumentError, PolicyError
from brief.core.model.wire import from_plain
from brief.core.policy.names import POLICY_FILE, SWITCH, UNREAD
from brief.core.policy.settings import DEFAULTS, Settings
from brief.core.policy.validate import Fault, Validated, validate
from brief.core.text.spelling import kind, spell, spellings
from brief.core.yaml.reader import decode, load
from brief.support.files import stamp
from brief.support.stat_cache import StatCache
from brief.support.zone import find_zone

SEE_CHECK = "majordomus policy check says why"

NO_POLICY = "no policy here (majordomus init writes one)"

_UNTIL_FIXED = "until then its settings are unknown: a server keeps those that it read last, all else uses the defaults"

LIMIT = 65_536
"""The most bytes of a policy file."""

_MOST_CHECKOUTS = 2_000
"""The most checkouts whose policies are cached."""


class PolicyStatus(StrEnum):
    """The outcome of reading the file. FAULTY means that some keys were dropped."""

    ABSENT = "absent"
    READ = "read"
    FAULTY = "faulty"
    UNREADABLE = "unreadable"


class Policy(Struct, frozen=True):
    """The settings in force, all faults, the file's path, and `declared`, the dotted keys that the file sets."""

    settings: Settings
    faults: tuple[Fault, ...]
    path: str
    status: PolicyStatus
    declared: frozenset[str]

    @property
    def is_unread(self) -> bool:
        """Whether there is a file that could not be read, so that its settings are unknown."""
        return self.status is PolicyStatus.UNREADABLE


def read_policy(root: str) -> Policy:
    """Read the policy of the checkout at `root`. Never raises: `faults` has any faulty keys or unreadable file."""
    return PolicyCache().read(root)


def refuse_unread(policy: Policy) -> None:
    """Raise PolicyError if there is a policy that could not be read."""
    if policy.is_unread:
        raise PolicyError(policy.faults[0].sentence)


def checked(policy: Policy) -> Policy:
    """The policy, for a command that must not act on a faulty one. Raises PolicyError with all faults."""
    if policy.faults:
        raise PolicyError("\n".join(fault.sentence for fault in policy.faults))
    return policy


def switch_reason(policy: Policy, key: str = SWITCH) -> str | None:
    """Why a switch is off, by default that of waking. None if it is on."""
    if value_of(policy.settings, key) is True:
        return None
    if policy.status is PolicyStatus.ABSENT:
        return NO_POLICY
    if policy.is_unread:
        return f"{key} is unknown, which counts as off: {UNREAD}; {SEE_CHECK}"
    return f"{key} is not true: {_why_off(policy, key)}"


def value_of(settings: Settings, key: str) -> Any:
    """The value of a dotted key."""
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _why_off(policy: Policy, key: str) -> str:
    for fault in policy.faults:
        if fault.key == key and key in policy.declared:
            what = "null" if fault.kind == "null" else f"{fault.value}, which is {_with_article(fault.kind)}"
            return f"{POLICY_FILE} sets it to {what}, and only true turns it on"
        if key.startswith(f"{fault.key}."):
            return f"{fault.key} is not a mapping in {POLICY_FILE}"
    if key in policy.declared:
        return f"{POLICY_FILE} sets it to false"
    return f"{POLICY_FILE} does not set it"


def _with_article(name: str) -> str:
    return name if name == "text" else f"a {name}"


class _LastGood(Struct, frozen=True):
    """The settings in force after the file was read, and their values that came from the file, by dotted key."""

    settings: Settings
    values: Mapping[str, Any]


_NOTHING = _LastGood(DEFAULTS, {})


# ---------------------------------------------------------------- the cache of a running process


class PolicyCache:
    """The policies of a running process, validated by stat at every call. Thread-safe.

    While a file or a key is faulty, its last good value stays in force.
    """

    def __init__(self) -> None:
        self._policies: StatCache[str, Policy] = StatCache(_MOST_CHECKOUTS)
        self._lock = Lock()
        self._good: dict[str, _LastGood] = {}

    def read(self, root: str) -> Policy:
        """The policy of the checkout at `root`. The file is read again only if it has changed or could not be read."""
        found = stamp(f"{root}/{POLICY_FILE}")
        try:
            return self._policies.get(root, found, lambda: self._parse(root, _bytes(Path(root))))
        except _UnreadableError as error:
            return _unreadable(root, error, self._good.get(root, _NOTHING))

    def _parse(self, root: str, raw: bytes | None) -> Policy:
        with self._lock:
            policy, self._good[root] = _parse(root, raw, self._good.get(root, _NOTHING))
        return policy


# ---------------------------------------------------------------- reading


class _UnreadableError(Exception):
    """The file exists but cannot be read as a policy. The message says why."""


def _parse(root: str, raw: bytes | None, last: _LastGood) -> tuple[Policy, _LastGood]:
    """The policy in `raw`, None without a file, and its good values. `last` are the good values before."""
    path = str(Path(root) / POLICY_FILE)
    if raw is None:
        return Policy(_NOTHING.settings, (), path, PolicyStatus.ABSENT, frozenset()), _NOTHING
    try:
        validated = _validate(raw, last.values)
    except _UnreadableError as error:
        return _unreadable(root, error, last), last
    settings = from_plain(Settings, validated.document)
    status = PolicyStatus.FAULTY if validated.faults else PolicyStatus.READ
    return Policy(settings, validated.faults, path, status, validated.declared), _LastGood(settings, validated.values)


def _unreadable(root: str, error: _UnreadableError, last: _LastGood) -> Policy:
    path = str(Path(root) / POLICY_FILE)
    fault = Fault(POLICY_FILE, "", "", "", f"{UNREAD}: {error}; {_UNTIL_FIXED}")
    return Policy(last.settings, (fault,), path, PolicyStatus.UNREADABLE, frozenset())


def _validate(raw: bytes, good: Mapping[str, Any]) -> Validated:
    try:
        document = load(raw, limit=LIMIT)
    except DocumentError as error:
        raise _UnreadableError(error.sentence) from error
    document = {} if document is None else document
    if not isinstance(document, dict):
        what = f"{spell(document)} (a {kind(document)})"
        raise _UnreadableError(f"line 1, column 1: the file holds {what}; write keys and values, such as version: 1")
    validated = validate(document, last=good)
    wanted = validated.values.get("timezone")
    refused = ("timezone",) if wanted is not None and find_zone(wanted) is None else ()
    if not validated.faults and not refused:
        return validated
    return validate(document, spelled=spellings(decode(raw, limit=LIMIT)), last=good, refused=refused)


def _bytes(root: Path) -> bytes | None:
    """The content of the file, cut one byte over the limit. None if there is no file."""
    with suppress(OSError):  # opening the file will raise the error
        if not _is_named(root):
            return None
    try:
        descriptor = os.open(_inside(root), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if (root / POLICY_FILE).is_symlink():
            raise _UnreadableError("a broken link; replace it with a file, or remove it") from None
        return None  # it was removed meanwhile
    except OSError as error:
        raise _UnreadableError(_describe_error(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _UnreadableError("not a file but a folder, a pipe or a device; replace it with a file, or remove it")
        return _read_all(descriptor)
    except OSError as error:
        raise _UnreadableError(_describe_error(error)) from error
    finally:
        os.close(descriptor)


def _is_named(root: Path) -> bool:
    """Whether there is a file or a link of that name, even a broken one. Raises OSError if that is unknown."""
    try:
        os.lstat(f"{root}/{POLICY_FILE}")
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _inside(root: Path) -> str:
    """The resolved path of the file. A link out of the checkout is refused, since git would not carry its target."""
    path = root / POLICY_FILE
    real = os.path.realpath(path)
    if os.path.lexists(path) and not Path(real).is_relative_to(os.path.realpath(root)):
        what = f"a link leads out of the checkout, to {spell(real)}"
        raise _UnreadableError(f"{what}; keep the file inside the checkout, or remove the link")
    return real


def _read_all(descriptor: int) -> bytes:
    read = b""
    while len(read) <= LIMIT and (more := os.read(descriptor, LIMIT + 1 - len(read))):
        read += more
    return read


def _describe_error(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a link that leads to itself; replace it with a file, or remove it"
    return f"{error.strerror}; fix it, or remove it"
