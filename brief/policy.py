"""The policy of a checkout: which file is in force, its settings, and every fault in it.

The first of three files that exists is in force, alone: the checkout's own, the primary checkout's, and the clone's own in the
state folder. A file that exists but cannot be read is in force too, so that no other one silently replaces it. No environment variable sets a key, since a server outlives the shell that started it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from msgspec import Struct

from brief.core.model.brief import PolicyInForce
from brief.core.model.errors import DocumentError, PolicyError
from brief.core.model.wire import from_plain
from brief.core.policy.names import LOCAL_POLICY, POLICY_FILE, SWITCH, UNREAD, PolicySource
from brief.core.policy.settings import DEFAULTS, Settings
from brief.core.policy.validate import Fault, Validated, validate
from brief.core.text.sanitize import to_wire
from brief.core.text.spelling import name_type, spell, spellings
from brief.core.yaml.reader import decode, load
from brief.fastpath.lease import state_dir
from brief.fastpath.locate import primary_of
from brief.fastpath.proof import UnprovenError
from brief.support.files import UnreadableFileError, stamp_file
from brief.support.stat_cache import StatCache
from brief.support.state_folder import read_own
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
    """The settings in force, all faults, the file in force, and `declared`, the dotted keys that it sets.

    `file` is how sentences name the file. Without one, `path` is where the checkout's own would be.
    """

    settings: Settings
    faults: tuple[Fault, ...]
    path: str
    file: str
    source: PolicySource
    status: PolicyStatus
    declared: frozenset[str]

    @property
    def is_unread(self) -> bool:
        """Whether there is a file that could not be read, so that its settings are unknown."""
        return self.status is PolicyStatus.UNREADABLE


def read_policy(root: str, common_dir: str) -> Policy:
    """Read the policy in force in the checkout at `root`. Never raises: `faults` has faulty keys or an unreadable file."""
    return PolicyCache().read(root, common_dir)


def policy_in_force(policy: Policy) -> PolicyInForce:
    """Which file is in force, for a brief."""
    path = None if policy.source is PolicySource.DEFAULTS else to_wire(policy.path)
    return PolicyInForce(source=policy.source, path=path)


def describe_source(policy: Policy) -> str:
    """Which file is in force, as a phrase."""
    match policy.source:
        case PolicySource.CHECKOUT:
            return f"{policy.file} of this checkout"
        case PolicySource.PRIMARY:
            return f"{policy.file}, since this checkout has none of its own"
        case PolicySource.CLONE:
            return f"{policy.file}, this clone's own"
        case _:
            return "none, so the defaults apply"


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
            return f"{policy.file} sets it to {what}, and only true turns it on"
        if key.startswith(f"{fault.key}."):
            return f"{fault.key} is not a mapping in {policy.file}"
    if key in policy.declared:
        return f"{policy.file} sets it to false"
    return f"{policy.file} does not set it"


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

    def read(self, root: str, common_dir: str) -> Policy:
        """The policy of the checkout at `root`. A file is read again only if it has changed or could not be read."""
        for candidate in _candidates(root, common_dir):
            policy = self._read(candidate)
            if policy is not None:
                return policy
            self._good.pop(candidate.path, None)
        path = f"{root}/{POLICY_FILE}"
        return Policy(DEFAULTS, (), path, POLICY_FILE, PolicySource.DEFAULTS, PolicyStatus.ABSENT, frozenset())

    def _read(self, candidate: _Candidate) -> Policy | None:
        """The policy of one file. None if there is no such file."""
        found = stamp_file(candidate.path)
        if found is None and not _may_exist(candidate.path):
            return None
        try:
            return self._policies.get(candidate.path, found, lambda: self._parse(candidate, _bytes(candidate)))
        except _UnreadableError as error:
            return _unreadable(candidate, error, self._good.get(candidate.path, _NOTHING))
        except _RemovedError:
            return None

    def _parse(self, candidate: _Candidate, raw: bytes) -> Policy:
        with self._lock:
            last = self._good.get(candidate.path, _NOTHING)
            policy, self._good[candidate.path] = _parse(candidate, raw, last)
        return policy


class _Candidate(NamedTuple):
    """A file that may be in force. `folder` is the checkout, or the state folder, that it must lie in."""

    source: PolicySource
    path: str
    file: str
    folder: str


def _candidates(root: str, common_dir: str) -> Iterator[_Candidate]:
    """The files that may be in force in the checkout at `root`. The first that exists is."""
    yield _Candidate(PolicySource.CHECKOUT, f"{root}/{POLICY_FILE}", POLICY_FILE, root)
    primary = primary_of(common_dir)
    if primary is not None and primary != root:
        path = f"{primary}/{POLICY_FILE}"
        yield _Candidate(PolicySource.PRIMARY, path, path, primary)
    folder = state_dir(common_dir)
    path = f"{folder}/{LOCAL_POLICY}"
    yield _Candidate(PolicySource.CLONE, path, path, folder)


# ---------------------------------------------------------------- reading


class _UnreadableError(Exception):
    """The file exists but cannot be read as a policy. The message says why."""


class _RemovedError(Exception):
    """The file was removed while it was being read."""


def _parse(candidate: _Candidate, raw: bytes, last: _LastGood) -> tuple[Policy, _LastGood]:
    """The policy in `raw` and its good values. `last` are the good values before."""
    try:
        validated = _validate(raw, candidate.file, last.values)
    except _UnreadableError as error:
        return _unreadable(candidate, error, last), last
    settings = from_plain(Settings, validated.document)
    status = PolicyStatus.FAULTY if validated.faults else PolicyStatus.READ
    policy = _policy(candidate, settings, validated.faults, status, validated.declared)
    return policy, _LastGood(settings, validated.values)


def _unreadable(candidate: _Candidate, error: _UnreadableError, last: _LastGood) -> Policy:
    fault = Fault(candidate.file, "", "", "", f"{candidate.file} cannot be read: {error}; {_UNTIL_FIXED}")
    return _policy(candidate, last.settings, (fault,), PolicyStatus.UNREADABLE, frozenset())


def _policy(
    candidate: _Candidate,
    settings: Settings,
    faults: tuple[Fault, ...],
    status: PolicyStatus,
    declared: frozenset[str],
) -> Policy:
    return Policy(settings, faults, candidate.path, candidate.file, candidate.source, status, declared)


def _validate(raw: bytes, file: str, good: Mapping[str, Any]) -> Validated:
    try:
        document = load(raw, limit=LIMIT)
    except DocumentError as error:
        raise _UnreadableError(error.sentence) from error
    document = {} if document is None else document
    if not isinstance(document, dict):
        what = f"{spell(document)} (a {name_type(document)})"
        raise _UnreadableError(f"line 1, column 1: the file holds {what}; write keys and values, such as version: 1")
    validated = validate(document, file=file, last=good)
    wanted = validated.values.get("timezone")
    refused = ("timezone",) if wanted is not None and find_zone(wanted) is None else ()
    if not validated.faults and not refused:
        return validated
    return validate(document, file=file, spelled=spellings(decode(raw, limit=LIMIT)), last=good, refused=refused)


def _bytes(candidate: _Candidate) -> bytes:
    """The content of the file, cut one byte over the limit. Raises _UnreadableError, _RemovedError."""
    if candidate.source is PolicySource.CLONE:
        return _own_bytes(candidate.path)
    try:
        _refuse_foreign(candidate)
        descriptor = os.open(_inside(candidate), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(candidate.path):
            raise _UnreadableError("a broken link; replace it with a file, or remove it") from None
        raise _RemovedError from None
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


def _own_bytes(path: str) -> bytes:
    """The content of a file in the state folder, which must be the user's own."""
    try:
        return read_own(path, LIMIT + 1)
    except FileNotFoundError:
        raise _RemovedError from None
    except (UnprovenError, UnreadableFileError) as error:
        raise _UnreadableError(str(error)) from error


def _refuse_foreign(candidate: _Candidate) -> None:
    """Refuse the primary checkout of another user: whoever may write there must not decide for this one. Raises OSError."""
    owner = os.stat(candidate.folder).st_uid
    if candidate.source is PolicySource.PRIMARY and owner not in (
        os.geteuid(),
        os.stat(f"{candidate.folder}/.git").st_uid,
    ):
        raise _UnreadableError(f"{candidate.folder} belongs to uid {owner}, not to you")


def _may_exist(path: str) -> bool:
    """Whether there is a file or link of that name, even a broken one. True if that is unknown."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _inside(candidate: _Candidate) -> str:
    """The resolved path of the file. A link out of the checkout is refused, since git would not carry its target."""
    real = os.path.realpath(candidate.path)
    if os.path.lexists(candidate.path) and not Path(real).is_relative_to(os.path.realpath(candidate.folder)):
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
