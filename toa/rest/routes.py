"""Routes for what manifests expose. What no manifest names has no route.

| route | operation |
|---|---|
| `POST orders/` | `create` |
| `GET orders/` | `enumerate` |
| `GET orders/{id}/` | `observe` |
| `PATCH orders/{id}/` | `assign` |
| `DELETE orders/{id}/` | `terminate` |
| `POST orders/{id}/cancel/` | any other on one object |
| `POST orders/audit/` | any other without an object, or on a set of them; a workflow is started |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from toa.core.specs import (
    ComponentSpec,
    ExpositionSpec,
    OperationSpec,
    OperationType,
    QueryRule,
    Schema,
    Scope,
)
from toa.manifests import registry
from toa.rest.audiences import decides_owner, without_owner


class Subject(StrEnum):
    """What the calls of a route are about."""

    NOTHING = "nothing"
    ONE = "one"
    SET = "set"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path."""

    method: str
    path: str
    """Below the root of the API, with `{id}`, ending in a slash."""
    component: ComponentSpec
    operation: OperationSpec
    exposed: ExpositionSpec
    subject: Subject

    @property
    def endpoint(self) -> str:
        return self.component.endpoint(self.operation.name)

    @property
    def reads(self) -> bool:
        return self.method == "GET"

    @property
    def starts(self) -> bool:
        """Whether a call starts a run of a workflow, and is answered before that has done anything."""
        return self.operation.type is OperationType.WORKFLOW

    @property
    def creates(self) -> bool:
        """Whether a call makes a new object."""
        return self.subject is Subject.NOTHING and self.operation.type is OperationType.TRANSITION

    @property
    def input(self) -> Schema | None:
        """What the body has to fit: without an owner that the caller may not name."""
        schema, owner = self.operation.input, self.exposed.owner
        if schema is None or owner is None or not decides_owner(self.operation, creates=self.creates):
            return schema
        return without_owner(schema, owner)


_GETS = {("enumerate", Subject.SET): "", ("observe", Subject.ONE): "{id}/"}
_ON_ONE = {"assign": "PATCH", "terminate": "DELETE"}


def all_routes() -> list[Route]:
    """Every route of every component; those whose last part is a name before those where it is an id."""
    found = [route for spec in registry.all().values() for route in routes_of(spec)]
    return sorted(found, key=lambda route: (route.path.endswith("{id}/"), route.path, route.method))


def routes_of(component: ComponentSpec) -> Iterator[Route]:
    """The routes of one component."""
    root = component.locator.replace(".", "/") + "/"
    for name, exposed in component.exposition.items():
        operation = component.operations[name]
        for subject in _subjects(operation):
            if not _has_route(operation, exposed, subject):
                continue
            method, path = _address(operation, subject)
            yield Route(
                method=method,
                path=root + path,
                component=component,
                operation=operation,
                exposed=exposed,
                subject=subject,
            )


def _subjects(operation: OperationSpec) -> Iterator[Subject]:
    if operation.scope is Scope.ENTRIES:
        yield Subject.SET
        return
    if operation.query is not QueryRule.ABSENT:
        yield Subject.ONE
    if operation.query is not QueryRule.REQUIRED:
        yield Subject.NOTHING


def _has_route(operation: OperationSpec, exposed: ExpositionSpec, subject: Subject) -> bool:
    """An owner's call is about the owner's objects, or makes one: nothing else can be held to them."""
    if exposed.owner is None or subject is not Subject.NOTHING:
        return True
    creates = operation.type is OperationType.TRANSITION
    return creates and exposed.owner in (operation.input or {}).get("properties", {})


def _address(operation: OperationSpec, subject: Subject) -> tuple[str, str]:
    name = operation.name
    reads = operation.type is OperationType.OBSERVATION and operation.input is None
    if reads and (name, subject) in _GETS:
        return "GET", _GETS[name, subject]
    if subject is Subject.ONE:
        return (_ON_ONE[name], "{id}/") if name in _ON_ONE else ("POST", f"{{id}}/{name}/")
    if name == "create" and subject is Subject.NOTHING and operation.type is OperationType.TRANSITION:
        return "POST", ""
    return "POST", f"{name}/"
