"""Part a policy's good keys from its faulty ones: each fault becomes one sentence, and resets no other key.

A faulty key falls back to its last good value where there is one, else to its default. The switch that wakes
sessions falls back to off always: an old consent is none once the file no longer spells it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from brief.core.policy.names import POLICY_FILE, SWITCH
from brief.core.policy.settings import KEYS, RULE, SECTIONS, Settings, default, expects
from brief.core.text.sanitize import clean
from brief.core.text.spelling import kind, spell, told

MOST_UNKNOWN = 20
"""So many unknown keys are named; the rest are counted."""

_KNOWN = frozenset(KEYS) | SECTIONS


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one key: where, which, its value as spelled with the type's name, and what to do.

    `key` is dotted, and empty where the fault is the whole file's.
    """

    file: str
    key: str
    value: str
    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is left of a policy: good values by dotted key, the faults, and the keys that the file really sets."""

    values: dict[str, Any]
    faults: tuple[Fault, ...]
    declared: frozenset[str]

    @property
    def document(self) -> dict[str, Any]:
        """The good values, nested as in the file; Settings takes it whole."""
        return _nest(self.values)


def sift(
    document: Mapping[str, Any],
    *,
    file: str = POLICY_FILE,
    spelled: Mapping[str, str] | None = None,
    last: Mapping[str, Any] | None = None,
    refused: Collection[str] = (),
) -> Sifted:
    """Part the good values of a loaded document from its faults.

    `spelled` tells how the file spells a dotted key, `last` its last good value; `refused` are keys whose value only
    the machine could judge, and did not accept.
    """
    sieve = _Sieve(file, spelled or {}, last or {})
    sieve.flatten(document)
    declared = frozenset(sieve.values) - sieve.replaced
    for key in refused:
        sieve.refuse(key)
    while errors := _errors(sieve.values):
        sieve.drop(errors)
    return Sifted(sieve.values, tuple(sieve.faults), declared)


@dataclass(slots=True)
class _Sieve:
    file: str
    spelled: Mapping[str, str]
    last: Mapping[str, Any]
    values: dict[str, Any] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)

    def flatten(self, document: Mapping[str, Any]) -> None:
        """Take the known keys, by dotted name, and refuse what is none."""
        unknown: list[tuple[str, str, object]] = []
        self._flatten(document, "", unknown)
        for section, name, value in unknown[:MOST_UNKNOWN]:
            self._fault(section + name, value, _unknown(section, name))
        rest = unknown[MOST_UNKNOWN:]
        if rest:
            section, name, value = rest[0]
            key = section + name
            more = f"more that are not keys of the policy: {len(rest)}, from {key} on; take them out"
            self._fault(key, value, more)

    def _flatten(self, document: Mapping[str, Any], section: str, unknown: list[tuple[str, str, object]]) -> None:
        for name, value in document.items():
            key = section + name
            if "." in name or key not in _KNOWN:
                unknown.append((section, clean(name, 80), value))
            elif key in KEYS:
                self.values[key] = value
            elif isinstance(value, Mapping):
                self._flatten(value, f"{key}.", unknown)
            else:
                self._no_section(key, value)

    def _no_section(self, section: str, value: object) -> None:
        inner = [key for key in KEYS if key.startswith(f"{section}.")]
        kept = [key for key in inner if key in self.last and key != SWITCH]
        for key in kept:
            self._fall_back(key)
        holds = "the last good values of its keys hold" if kept else "the defaults of its keys hold"
        example = inner[0].removeprefix(f"{section}.")
        says = told(value, self.spelled.get(section))
        self._fault(
            section, value, f"{section} is {says}; write keys such as {example} under it, or take it out; {holds}"
        )

    def refuse(self, key: str) -> None:
        """Refuse the value of one key, or of one of its entries."""
        self._refuse(key, key, self.values[key], self.spelled.get(key))

    def drop(self, errors: Iterable[ErrorDetails]) -> None:
        """Replace what the errors of one validation are about; a key with several is told once."""
        done: set[str] = set()
        for error in errors:
            key = _key(error["loc"])
            if error["type"] == RULE:
                self._break_rule(error)
            elif key not in done:
                entry = error["loc"][len(key.split(".")) :]
                self._refuse_entry(key, entry)
            done.add(key)

    def _refuse_entry(self, key: str, entry: tuple[int | str, ...]) -> None:
        if not entry:
            self.refuse(key)
            return
        index = entry[0]
        self._refuse(key, f"{key}[{index}]", self.values[key][index], None)

    def _refuse(self, key: str, shown: str, value: object, spelling: str | None) -> None:
        self._fall_back(key)
        says = told(value, spelling)
        self._fault(key, value, f"{shown} is {says}; write {expects(key)}; {self._holds(key)}", spelling)

    def _break_rule(self, error: ErrorDetails) -> None:
        section = ".".join(map(str, error["loc"]))
        keys = [f"{section}.{name}" for name in error["ctx"]["keys"]]
        named = next((key for key in keys if key in self.values), keys[0])
        values = [spell(self._value(key)) for key in keys]
        broken = " and ".join(f"{key} is {value}" for key, value in zip(keys, values, strict=True))
        for key in keys:
            self._fall_back(key)
        hold = " and ".join(spell(self._value(key)) for key in keys)
        kind_of = kind(self._value(named))
        sentence = f"{self.file}: {broken}; write {error['ctx']['write']}; {hold} hold"
        self.faults.append(Fault(self.file, named, " and ".join(values), kind_of, sentence))

    def _fall_back(self, key: str) -> None:
        """Take the last good value, once; after that, or without one, the default."""
        if key in self.last and key not in self.replaced and key != SWITCH:
            self.values[key] = self.last[key]
        else:
            self.values.pop(key, None)
        self.replaced.add(key)

    def _value(self, key: str) -> Any:
        return self.values.get(key, default(key))

    def _holds(self, key: str) -> str:
        value = self._value(key)
        if value is None:
            return "it counts as not set"
        return f"the {'last good value' if key in self.values else 'default'} {_spell_held(value)} holds"

    def _fault(self, key: str, value: object, says: str, spelling: str | None = None) -> None:
        shown = spelling or self.spelled.get(key) or spell(value)
        self.faults.append(Fault(self.file, key, shown, kind(value), f"{self.file}: {says}"))


def _unknown(section: str, name: str) -> str:
    key = section + name
    if name in KEYS:
        parent, _, leaf = name.rpartition(".")
        return f"{key} is not a key of the policy: dots are not read; write {leaf} under {parent.replace('.', ', ')}"
    near = get_close_matches(key, [*KEYS, *SECTIONS], n=1)
    if near:
        return f"{key} is not a key of the policy; the nearest is {near[0]}; rename it or take it out"
    return f"{key} is not a key of the policy and none is near; take it out"


def _spell_held(value: object) -> str:
    if isinstance(value, list) and value:
        return clean(f"[{', '.join(value)}]")
    return value if isinstance(value, str) and value.isidentifier() else spell(value)


def _errors(values: Mapping[str, Any]) -> list[ErrorDetails]:
    try:
        Settings.model_validate(_nest(values))
    except ValidationError as error:
        return error.errors(include_url=False, include_input=False)
    return []


def _key(place: tuple[int | str, ...]) -> str:
    """The dotted key or section that an error is about, without the index of an entry."""
    return ".".join(part for part in place if isinstance(part, str))


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        inner = document
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[name] = value
    return document
