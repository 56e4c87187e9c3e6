"""Which operations of a component a person may call from the admin, and under which name the calls are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toa.core.specs import OperationSpec, OperationType, QueryRule, Scope
from toa.runtime.bindings import Component, Operation
from toa.runtime.permissions import permission_of

Person = Any
"""A user, as Django's requests have them."""


def on_object(component: Component, person: Person) -> list[Operation]:
    """What the person may do with one object, in the order of the manifest; what ends the object comes last."""
    found = [one for one in _permitted(component, person) if changes_one(one.spec)]
    return sorted(found, key=lambda one: ends(one.spec))


def creating(component: Component, person: Person) -> list[Operation]:
    """What the person may call to make a new object."""
    return [one for one in _permitted(component, person) if makes_one(one.spec)]


def may_call(operation: Operation, person: Person) -> bool:
    """Whether the person has the permission that belongs to the operation."""
    return bool(person.has_perm(permission_of(operation.component.spec, operation.spec.name)))


def changes_one(spec: OperationSpec) -> bool:
    """Whether it is called on one object, and writes it. `ensure` as it is inherited does nothing to what is there;
    `assign` takes no input until the manifest says which."""
    if spec.scope not in (Scope.ENTRY, Scope.CHANGESET) or spec.query is QueryRule.ABSENT or not _writes(spec):
        return False
    if spec.inherited and spec.name == "ensure":
        return False
    return spec.type is not OperationType.ASSIGNMENT or spec.input is not None


def makes_one(spec: OperationSpec) -> bool:
    """Whether a call without a query makes an object."""
    return spec.type is OperationType.TRANSITION and spec.scope is Scope.ENTRY and spec.query is not QueryRule.REQUIRED


def ends(spec: OperationSpec) -> bool:
    """Whether it leaves a tombstone."""
    return spec.inherited and spec.name == "terminate"


def _permitted(component: Component, person: Person) -> Iterator[Operation]:
    return (one for one in component.operations.values() if may_call(one, person))


def _writes(spec: OperationSpec) -> bool:
    return spec.type in (OperationType.TRANSITION, OperationType.ASSIGNMENT)
