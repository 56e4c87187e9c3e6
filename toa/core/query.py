"""Queries: which objects an operation is about, in which order, and how much of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toa.core.criteria import Node, parse_criteria
from toa.core.criteria_nodes import And, Comparison, Or
from toa.core.criteria_targets import key_type, target
from toa.core.criteria_values import read_text, read_value
from toa.core.cursor import Cursor, SortKey, decode_cursor
from toa.core.nearest import did_you_mean
from toa.core.specs import EntitySpec, PropertySpec, PropertyType
from toa.exceptions import InvalidQuery

KEYS = ("id", "ids", "version", "criteria", "limit", "offset", "after", "sort", "projection", "deleted")
MAX_LIMIT = 1000
MAX_IDS = 1000
MAX_OFFSET = 100_000
MAX_SORT_KEYS = 8

_NAMING = frozenset({"criteria", "sort", "projection"})
_HEX = re.compile(r"[0-9a-f]{32}")
_UNSORTABLE = frozenset({PropertyType.OBJECT, PropertyType.ARRAY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query that holds, with ids and criteria in the types of their properties."""

    id: Any = None
    """As drafts hold it: 32 hex digits of a UUID, or the declared type of `id`."""
    ids: tuple[Any, ...] | None = None
    """Distinct; an empty tuple finds nothing."""
    version: int | None = None
    criteria: Node | None = None
    limit: int | None = None
    offset: int = 0
    after: Cursor | None = None
    sort: tuple[SortKey, ...] = ()
    """As asked for. `order` is what rows are sorted by."""
    projection: tuple[str, ...] | None = None
    deleted: bool = False
    """Whether tombstones are found too."""
    order: tuple[SortKey, ...]
    """`sort`, ended by `id` in the direction of the key before it: no two rows are equal in it."""


def parse_query(
    query: Mapping[str, Any] | None,
    entity: EntitySpec,
    *,
    allow_now: bool = False,
    limit_required: bool = False,
) -> Query:
    """What a caller asks for, checked.

    `criteria` is text, or a node that was read for this entity. `sort` and `projection` are lists of names,
    or one text with commas; `-` before a name of `sort` reverses it. `limit_required` is for sets: they need
    `limit`, unless `id` or `ids` bound them. `allow_now` admits `$now` in criteria. Raises `InvalidQuery`.
    """
    if query is None:
        query = {}
    if not isinstance(query, Mapping):
        raise InvalidQuery(f"a query is an object, not {_kind(query)}")
    for key in query:
        if key not in KEYS:
            raise InvalidQuery(f"no key {key!r} in a query", hint=did_you_mean(str(key), KEYS))
    given = {key: value for key, value in query.items() if value is not None}
    if given.keys() == {"id"} and not limit_required:
        return Query(id=read_id(given["id"], entity.id), order=order_of((), entity))
    _exclude(given, "id", "ids")
    _exclude(given, "offset", "after")
    properties = {} if _NAMING.isdisjoint(given) else entity.selectable()
    sort = _sort(given.get("sort"), properties)
    order = order_of(sort, entity)
    limit = _integer(given, "limit", 1, MAX_LIMIT)
    if limit_required and limit is None and not given.keys() & {"id", "ids"}:
        raise InvalidQuery("a set needs a limit", hint=f"limit: 1 to {MAX_LIMIT}")
    return Query(
        id=read_id(given["id"], entity.id) if "id" in given else None,
        ids=_ids(given["ids"], entity.id) if "ids" in given else None,
        version=_integer(given, "version", 0, 2**63 - 1),
        criteria=_criteria(given.get("criteria"), properties, allow_now),
        limit=limit,
        offset=_integer(given, "offset", 0, MAX_OFFSET) or 0,
        after=decode_cursor(given["after"], order) if "after" in given else None,
        sort=sort,
        projection=_projection(given.get("projection"), properties),
        deleted=_boolean(given, "deleted"),
        order=order,
    )


def read_id(value: Any, spec: PropertySpec) -> Any:
    """An id as drafts hold it, from text or from a value of its type. Raises `InvalidQuery`."""
    if type(value) is str and spec.type is PropertyType.UUID and _HEX.fullmatch(value):
        return value
    found = target(spec.name, (), {spec.name: spec}, None)
    return read_text(found, value, quoted=True) if type(value) is str else read_value(found, value)


def order_of(sort: Sequence[SortKey], entity: EntitySpec) -> tuple[SortKey, ...]:
    """The sort keys, ended by `id` in the direction of the key before it, so that one index can serve all."""
    if sort and sort[-1].name == "id":
        return tuple(sort)
    descending = bool(sort) and sort[-1].descending
    return (*sort, _key(entity.id, descending))


def _key(spec: PropertySpec, descending: bool = False) -> SortKey:
    return SortKey(name=spec.name, descending=descending, type=key_type(spec), nullable=spec.nullable)


def _ids(value: Any, spec: PropertySpec) -> tuple[Any, ...]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | frozenset | set):
        raise InvalidQuery(f"ids are a list, not {_kind(value)}")
    if len(value) > MAX_IDS:
        raise InvalidQuery(f"{len(value)} ids; {MAX_IDS} at most")
    return tuple(dict.fromkeys(read_id(item, spec) for item in value))


def _criteria(value: Any, properties: Mapping[str, PropertySpec], allow_now: bool) -> Node | None:
    if value is None or isinstance(value, And | Or | Comparison):
        return value
    if not isinstance(value, str):
        raise InvalidQuery(f"criteria are text, not {_kind(value)}")
    return parse_criteria(value, properties, allow_now=allow_now)


def _sort(value: Any, properties: Mapping[str, PropertySpec]) -> tuple[SortKey, ...]:
    keys: list[SortKey] = []
    for text in _names(value, "sort"):
        name = text.removeprefix("-")
        spec = _property(name, properties, "sort")
        if spec.type in _UNSORTABLE:
            raise InvalidQuery(f"sort: {name!r} is of type {spec.type}, which has no order")
        if any(key.name == name for key in keys):
            raise InvalidQuery(f"sort: {name!r} stands twice")
        if keys and keys[-1].name == "id":
            raise InvalidQuery(f"sort: nothing is left to decide behind 'id', so {name!r} has no place there")
        keys.append(_key(spec, text.startswith("-")))
    if len(keys) > MAX_SORT_KEYS:
        raise InvalidQuery(f"sort: {len(keys)} keys; {MAX_SORT_KEYS} at most")
    return tuple(keys)


def _projection(value: Any, properties: Mapping[str, PropertySpec]) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = _names(value, "projection")
    if not names:
        raise InvalidQuery("projection: empty", hint="leave it out for every property")
    return tuple(dict.fromkeys(_property(name, properties, "projection").name for name in names))


def _names(value: Any, key: str) -> list[str]:
    if value is None:
        return []
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise InvalidQuery(f"{key}: a list of property names, or one text with commas, not {_kind(value)}")
    return [item.strip() for item in items]


def _property(name: str, properties: Mapping[str, PropertySpec], key: str) -> PropertySpec:
    spec = properties.get(name)
    if spec is None:
        raise InvalidQuery(f"{key}: no property {name!r}", hint=did_you_mean(name, properties))
    return spec


def _integer(given: Mapping[str, Any], key: str, least: int, most: int) -> int | None:
    value = given.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidQuery(f"{key}: an integer, not {_kind(value)}")
    if not least <= value <= most:
        raise InvalidQuery(f"{key}: {least} to {most}")
    return value


def _boolean(given: Mapping[str, Any], key: str) -> bool:
    value = given.get(key, False)
    if not isinstance(value, bool):
        raise InvalidQuery(f"{key}: true or false, not {_kind(value)}")
    return value


def _exclude(given: Mapping[str, Any], one: str, other: str) -> None:
    if one in given and other in given:
        raise InvalidQuery(f"{one} and {other} exclude each other")


def _kind(value: Any) -> str:
    return type(value).__name__
