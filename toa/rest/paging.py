"""Queries from addresses, and the address of the page behind one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from toa.core.criteria import Node, parse_criteria
from toa.core.cursor import encode_cursor
from toa.core.nearest import did_you_mean
from toa.core.query import MAX_LIMIT, Query
from toa.core.specs import EntitySpec, PropertySpec
from toa.exceptions import InvalidQuery
from toa.runtime import settings
from toa.runtime.bindings import Component

PAGE = 50
"""Objects of a page where nothing else is asked for."""
SET = ("criteria", "limit", "sort", "projection", "after")
"""Parameters of a route on a set of objects."""
ONE = ("projection",)
"""Parameters of a route that reads one object."""

_HIDDEN = frozenset({"CLOCK"})
"""What toa keeps about its own attempts, errors included, is the operator's business."""
_LIMIT = re.compile(r"[0-9]{1,9}")


def visible(entity: EntitySpec) -> dict[str, PropertySpec]:
    """The properties that criteria, sort, projection and replies may hold over HTTP."""
    return {name: spec for name, spec in entity.selectable().items() if name not in _HIDDEN}


def parameters(given: QueryDict, known: Sequence[str]) -> dict[str, str]:
    """The parameters of an address, each given once. Raises InvalidQuery."""
    found: dict[str, str] = {}
    for name, values in given.lists():
        if name not in known:
            hint = did_you_mean(name, known) if known else "this route takes none"
            raise InvalidQuery(f"no parameter is called {name[:64]!r}", hint=hint)
        if len(values) > 1:
            raise InvalidQuery(f"{name}: given {len(values)} times")
        found[name] = values[0]
    return found


def limit_of(given: Mapping[str, str], default: int | None = PAGE) -> int | None:
    """The parameter `limit`. Raises InvalidQuery for what is no number of a page's size."""
    text = given.get("limit")
    if text is None:
        return default
    if not _LIMIT.fullmatch(text) or not 1 <= int(text) <= MAX_LIMIT:
        raise InvalidQuery(f"limit: 1 to {MAX_LIMIT}")
    return int(text)


def criteria_of(given: Mapping[str, str], entity: EntitySpec) -> Node | None:
    """The parameter `criteria`, read as it was written, so that positions are the caller's own."""
    text = given.get("criteria")
    return None if text is None else parse_criteria(text, visible(entity))


def projection_of(given: Mapping[str, str], entity: EntitySpec) -> list[str] | None:
    """The properties to read, or null for all. VERSION is among them, for the ETag."""
    known = visible(entity)
    text = given.get("projection")
    if text is None:
        return list(known) if len(known) < len(entity.selectable()) else None
    return [*_names(text, known, "projection"), "VERSION"]


def sort_of(given: Mapping[str, str], entity: EntitySpec) -> list[str] | None:
    """The parameter `sort`."""
    text = given.get("sort")
    return None if text is None else _names(text, visible(entity), "sort")


def trimmed(reply: Any, given: Mapping[str, str]) -> Any:
    """The reply without what was read beside the projection that was asked for."""
    if "projection" not in given:
        return reply
    asked = {"id", *(name.strip() for name in given["projection"].split(","))}
    if isinstance(reply, list):
        return [trimmed(one, given) for one in reply]
    if "VERSION" in asked or not isinstance(reply, Mapping):
        return reply
    return {name: value for name, value in reply.items() if name != "VERSION"}


def next_page(path: str, given: QueryDict, component: Component, query: Query, reply: Any) -> str | None:
    """The address of the page behind a full one; null behind one that is not full."""
    last = reply[-1] if isinstance(reply, list) and len(reply) == query.limit else None
    if not isinstance(last, Mapping) or "id" not in last:
        return None
    values: dict[str, Any] = {"id": last["id"]}
    if [key.name for key in query.order] != ["id"]:
        stored = _stored(component, query, last["id"])
        if stored is None:
            return None
        values = stored
    parameters = given.copy()
    parameters["after"] = encode_cursor(query.order, values)
    return f"{path}?{parameters.urlencode()}"


def _stored(component: Component, query: Query, identity: Any) -> dict[str, Any] | None:
    """A row's sort values as the database has them: drafts cut moments, and a projection leaves values out."""
    entity = component.table.entity
    names = [key.name for key in query.order]
    attnames = [entity.selectable()[name].attname for name in names]
    rows = component.table.model._default_manager.using(settings.alias())
    found = rows.filter(pk=identity).values_list(*attnames).first()
    return None if found is None else dict(zip(names, found, strict=True))


def _names(text: str, known: Mapping[str, PropertySpec], key: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        bare = name.removeprefix("-") if key == "sort" else name
        if bare not in known:
            raise InvalidQuery(f"{key}: no property {bare[:64]!r}", hint=did_you_mean(bare, known))
    return names
