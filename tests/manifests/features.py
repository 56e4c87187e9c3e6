"""What the corpus must show: every key of a manifest, every type and every choice, taken from the tables themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toa.core.specs import (
    ComponentSpec,
    Concurrency,
    OperationType,
    PropertyType,
    PulseScope,
    QueryRule,
    Scope,
)
from toa.manifests.compile import Loaded
from toa.manifests.keys import EXPOSITION, MANIFEST, PULSE, SCHEDULE, Key, Table
from toa.manifests.keywords import KEYWORDS


def all_features() -> set[str]:
    """Every feature that some sound manifest has to use."""
    found = set(_keys("", MANIFEST))
    for name, table in (("cadence.*", PULSE), ("cadence.*", SCHEDULE)):
        found |= set(_keys(f"{name}.", table))
    for kind in (PropertyType, OperationType, Scope, QueryRule, Concurrency, PulseScope):
        found |= {f"{kind.__name__} {member.value}" for member in kind}
    for key in ("catch_up", "overlap", "gap", "fold"):
        found |= {f"{key} {value}" for value in SCHEDULE[key].values}
    found |= {f"audience {value}" for value in (*EXPOSITION["audience"].values, "owner")}
    found |= {f"keyword {keyword}" for keyword in KEYWORDS}
    return found | {
        "several manifests",
        "bound model",
        "declared id",
        "deadline",
        "timeout",
        "default handler",
        "sweep",
    }


def features_of(loaded: Loaded) -> set[str]:
    """The features that one manifest uses."""
    assert loaded.spec is not None
    assert loaded.document is not None
    found = set(_used("", loaded.document.data or {}, MANIFEST))
    for value in ((loaded.document.data or {}).get("cadence") or {}).values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                found |= set(_used("cadence.*.", item, SCHEDULE if "schedule" in item else PULSE))
    return found | set(_meant(loaded.spec)) | set(_keywords(loaded.document.data))


def _keys(prefix: str, table: Table) -> Iterator[str]:
    for name, key in table.items():
        yield f"{prefix}{name}"
        yield from _below(f"{prefix}{name}.", key)


def _below(prefix: str, key: Key) -> Iterator[str]:
    if key.holds is not None:
        yield from _keys(prefix, key.holds)
    if key.each is not None and key.each.holds is not None:
        yield from _keys(f"{prefix}*.", key.each.holds)


def _used(prefix: str, data: dict[str, Any], table: Table) -> Iterator[str]:
    for name, value in data.items():
        if name not in table:
            continue
        yield f"{prefix}{name}"
        key = table[name]
        if key.holds is not None and isinstance(value, dict):
            yield from _used(f"{prefix}{name}.", value, key.holds)
        if key.each is not None and key.each.holds is not None and isinstance(value, dict):
            for part in value.values():
                if isinstance(part, dict):
                    yield from _used(f"{prefix}{name}.*.", part, key.each.holds)


def _meant(spec: ComponentSpec) -> Iterator[str]:
    entity = spec.entity
    if entity is not None:
        yield from (f"PropertyType {one.type.value}" for one in entity.properties.values())
        if entity.model:
            yield "bound model"
        if "id" in entity.properties:
            yield "declared id"
    for operation in spec.operations.values():
        yield f"OperationType {operation.type.value}"
        yield f"Scope {operation.scope.value}"
        yield f"QueryRule {operation.query.value}"
        if operation.concurrency:
            yield f"Concurrency {operation.concurrency.value}"
    for pulse in spec.pulses:
        yield f"PulseScope {pulse.scope.value}"
        if pulse.query:
            yield "sweep"
    for schedule in spec.schedules:
        yield f"catch_up {schedule.catch_up}"
        yield f"overlap {schedule.overlap}"
        yield f"gap {schedule.gap}"
        yield f"fold {schedule.fold}"
    for deadline in spec.deadlines.values():
        yield "timeout" if deadline.lifetime_ms else "deadline"
        if deadline.transition == f"at_{deadline.property}":
            yield "default handler"
    yield from (f"audience {one.audience}" for one in spec.exposition.values())


def _keywords(value: Any) -> Iterator[str]:
    """Names of keywords wherever they stand; the corpus has no property that is called like one by chance."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key in KEYWORDS:
                yield f"keyword {key}"
            yield from _keywords(part)
    elif isinstance(value, list):
        for part in value:
            yield from _keywords(part)
