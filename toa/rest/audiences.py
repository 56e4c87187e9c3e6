"""Who may call what, and which objects an owner's calls can be about at all."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import PermissionDenied

from toa.core.criteria import Comparison, Node, Operator, to_text
from toa.core.criteria_nodes import conjunction
from toa.core.criteria_targets import key_type, target
from toa.core.criteria_values import read_text
from toa.core.specs import (
    ComponentSpec,
    ExpositionSpec,
    OperationSpec,
    OperationType,
    PropertySpec,
    PropertyType,
    Schema,
)
from toa.exceptions import InvalidInput, InvalidQuery, NotFound
from toa.rest.settings import option
from toa.runtime.permissions import permission_of


def admits(user: Any, component: ComponentSpec, exposed: ExpositionSpec) -> bool:
    """Whether the caller belongs to the audience. Whose objects an owner gets to see is decided by the query."""
    match exposed.audience:
        case "anonymous":
            return True
        case "authenticated" | "owner":
            return bool(user and user.is_authenticated)
    return bool(user and user.has_perm(permission_of(component, exposed.operation)))


class Ownership:
    """The caller of an operation whose objects have an owner."""

    def __init__(self, user: Any, spec: PropertySpec) -> None:
        self.property = spec.name
        self.value = _value(user, spec)
        self._criterion = Comparison(
            selector=spec.name, operator=Operator.EQ, values=(self.value,), type=key_type(spec)
        )

    def criteria(self, asked: Node | None, identity: Any) -> str | None:
        """The criteria of the caller's own objects, and, of these, those that fit what was asked for.

        Where the id itself is the owner, that of another is answered like one that does not exist.
        """
        if self.property == "id" and identity is not None:
            if identity != self.value:
                raise NotFound("another's object")
            return None if asked is None else to_text(asked)
        return to_text(self._criterion if asked is None else conjunction([self._criterion, asked]))

    def input(self, given: Any, operation: OperationSpec, *, creates: bool) -> Any:
        """The input of a call. One that creates gets the caller's id; nobody gives an object away, or takes one."""
        if not isinstance(given, dict) or not decides_owner(operation, creates=creates):
            return given
        if self.property in given:
            raise InvalidInput(
                f"the input does not fit: {self.property} is you, and is not given",
                problems=[(f"/{self.property}", "this is the caller's id and is not given")],
            )
        return {**given, self.property: self.value} if creates else given


def decides_owner(operation: OperationSpec, *, creates: bool) -> bool:
    """Whether the input of an operation says whose the object is to be, which a caller may not decide."""
    return creates or operation.type is OperationType.ASSIGNMENT or operation.name == "ensure"


def without_owner(schema: Schema, owner: str) -> Schema:
    """An input schema as a route has it from which the owner is left out."""
    properties = {name: part for name, part in schema.get("properties", {}).items() if name != owner}
    required = [name for name in schema.get("required", ()) if name != owner]
    rest = {name: part for name, part in schema.items() if name not in ("properties", "required")}
    return {**rest, "properties": properties, **({"required": required} if required else {})}


def _value(user: Any, spec: PropertySpec) -> Any:
    raw = user.pk if spec.type is PropertyType.REF else getattr(user, str(option("OWNER")), None)
    found = target(spec.name, (), {spec.name: spec}, None)
    try:
        if raw in (None, ""):
            raise InvalidQuery("the user has no such id")
        return read_text(found, str(raw), quoted=True)
    except InvalidQuery:
        # A user without an id of that kind owns nothing.
        raise PermissionDenied() from None
