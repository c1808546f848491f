"""Separate a policy's valid keys from its faulty ones. Each fault becomes one sentence and affects no other key.

A faulty key falls back to its last good value, or else to its default. The switch that wakes sessions always falls back to
off: an old consent no longer counts once the file does not spell it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import Struct, field

from brief.core.policy.names import POLICY_FILE, SWITCH
from brief.core.policy.settings import ORDERS, Order, default, expects, is_usable, keys, sections
from brief.core.text.sanitize import clean
from brief.core.text.spelling import describe_value, name_type, spell

MOST_UNKNOWN = 20
"""The number of unknown keys that are named. The rest are counted."""


class Fault(Struct, frozen=True):
    """What is wrong with one key: the file, the key, its value as spelled, the type's name, and a sentence.

    `key` is dotted. It is empty if the fault concerns the whole file.
    """

    file: str
    key: str
    value: str
    kind: str
    sentence: str


class Validated(Struct, frozen=True):
    """The result: valid values by dotted key, the faults, and the keys that the file itself sets."""

    values: dict[str, Any]
    faults: tuple[Fault, ...]
    declared: frozenset[str]

    @property
    def document(self) -> dict[str, Any]:
        """The valid values, nested as in the file, ready for `Settings`."""
        return _nest(self.values)


def validate(
    document: Mapping[str, Any],
    *,
    file: str = POLICY_FILE,
    spelled: Mapping[str, str] | None = None,
    last: Mapping[str, Any] | None = None,
    refused: Collection[str] = (),
) -> Validated:
    """Separate the valid values of a loaded document from its faults.

    `spelled` is how the file spells the value of a dotted key, and `last` its last good value. `refused` are keys whose
    values this machine does not accept, such as an unknown time zone.
    """
    validation = _Validation(file, spelled or {}, last or {})
    validation.flatten(document)
    declared = frozenset(validation.values) - validation.replaced
    for key in refused:
        validation.refuse(key)
    validation.judge()
    return Validated(validation.values, tuple(validation.faults), declared)


class _Validation(Struct):
    file: str
    spelled: Mapping[str, str]
    last: Mapping[str, Any]
    values: dict[str, Any] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)

    def flatten(self, document: Mapping[str, Any]) -> None:
        """Collect the known keys by dotted name, and report the unknown ones."""
        unknown: list[tuple[str, str, object]] = []
        self._flatten(document, "", unknown)
        for section, name, value in unknown[:MOST_UNKNOWN]:
            self._fault(section + name, value, _unknown(section, name))
        rest = unknown[MOST_UNKNOWN:]
        if rest:
            section, name, value = rest[0]
            key = section + name
            more = f"{len(rest)} more are not keys of the policy, from {key} on; remove them"
            self._fault(key, value, more)

    def _flatten(self, document: Mapping[str, Any], section: str, unknown: list[tuple[str, str, object]]) -> None:
        for name, value in document.items():
            key = section + name
            if "." in name or (key not in keys() and key not in sections()):
                unknown.append((section, clean(name, 80), value))
            elif key in keys():
                self.values[key] = value
            elif isinstance(value, Mapping):
                self._flatten(value, f"{key}.", unknown)
            else:
                self._no_section(key, value)

    def _no_section(self, section: str, value: object) -> None:
        inner = [key for key in keys() if key.startswith(f"{section}.")]
        kept = [key for key in inner if key in self.last and key != SWITCH]
        for key in kept:
            self._fall_back(key)
        holds = "the last good values of its keys apply" if kept else "the defaults of its keys apply"
        example = inner[0].removeprefix(f"{section}.")
        says = describe_value(value, self.spelled.get(section))
        self._fault(
            section, value, f"{section} is {says}; write keys such as {example} under it, or remove it; {holds}"
        )

    def refuse(self, key: str) -> None:
        """Refuse the value of one key."""
        self._refuse(key, key, self.values[key], self.spelled.get(key))

    def judge(self) -> None:
        """Replace each value that its key may not have, then those that contradict each other."""
        for key in [key for key, value in self.values.items() if not is_usable(key, value)]:
            self._refuse_entry(key)
        while broken := next(filter(self._is_broken, ORDERS), None):
            self._break_order(broken)

    def _is_broken(self, order: Order) -> bool:
        return bool(self._value(order.lower) > self._value(order.upper))

    def _refuse_entry(self, key: str) -> None:
        """Refuse the value of a key, naming the entry that is at fault if it is a list of which one is."""
        value = self.values[key]
        entries = value if keys()[key].is_repeatable and isinstance(value, list) else ()
        bad = next((index for index, entry in enumerate(entries) if not is_usable(key, [entry])), None)
        if bad is None:
            self.refuse(key)
        else:
            self._refuse(key, f"{key}[{bad}]", value[bad], None)

    def _refuse(self, key: str, shown: str, value: object, spelling: str | None) -> None:
        self._fall_back(key)
        says = describe_value(value, spelling)
        self._fault(key, value, f"{shown} is {says}; write {expects(key)}; {self._holds(key)}", spelling)

    def _break_order(self, order: Order) -> None:
        both = (order.lower, order.upper)
        named = next((key for key in both if key in self.values), order.lower)
        values = [spell(self._value(key)) for key in both]
        broken = " and ".join(f"{key} is {value}" for key, value in zip(both, values, strict=True))
        kind_of = name_type(self._value(named))
        for key in both:
            self._fall_back(key)
        hold = " and ".join(spell(self._value(key)) for key in both)
        sentence = f"{self.file}: {broken}; write {order.write}; {hold} apply"
        self.faults.append(Fault(self.file, named, " and ".join(values), kind_of, sentence))

    def _fall_back(self, key: str) -> None:
        """Use the last good value, but only once. After that, or without one, use the default."""
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
            return "it counts as unset"
        return f"the {'last good value' if key in self.values else 'default'} {_spell_held(value)} applies"

    def _fault(self, key: str, value: object, says: str, spelling: str | None = None) -> None:
        shown = spelling or self.spelled.get(key) or spell(value)
        self.faults.append(Fault(self.file, key, shown, name_type(value), f"{self.file}: {says}"))


def _unknown(section: str, name: str) -> str:
    key = section + name
    if name in keys():
        parent, _, leaf = name.rpartition(".")
        return (
            f"{key} is not a key of the policy, since keys have no dots; write {leaf} under {parent.replace('.', ', ')}"
        )
    near = get_close_matches(key, [*keys(), *sections()], n=1)
    if near:
        return f"{key} is not a key of the policy; did you mean {near[0]}?"
    return f"{key} is not a key of the policy, and no key is like it; remove it"


def _spell_held(value: object) -> str:
    if isinstance(value, list) and value:
        return clean(f"[{', '.join(value)}]")
    return value if isinstance(value, str) and value.isidentifier() else spell(value)


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        inner = document
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[name] = value
    return document
