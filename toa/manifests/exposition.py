"""The `exposition` of a manifest: which operations HTTP may call, and who."""

from __future__ import annotations

from collections.abc import Mapping

from toa.core.specs import EntitySpec, ExpositionSpec, OperationSpec, OperationType, PropertyType, QueryRule, Scope
from toa.manifests.fields import Fields, fits
from toa.manifests.keys import EXPOSITION as KEYS
from toa.manifests.keys import EXPOSITION_FORM
from toa.manifests.names import a_type, unknown
from toa.manifests.place import Place
from toa.manifests.problems import EXPOSITION
from toa.manifests.receivers import known_operation

_OWNERS = frozenset(
    {PropertyType.STRING, PropertyType.INTEGER, PropertyType.UUID, PropertyType.EMAIL, PropertyType.REF}
)


def read_exposition(
    place: Place, entity: EntitySpec | None, operations: Mapping[str, OperationSpec], declared: frozenset[str]
) -> dict[str, ExpositionSpec]:
    """The audience of each exposed operation by name."""
    found: dict[str, ExpositionSpec] = {}
    for entry in place.entries():
        before = entry.report.errors()
        if entry.value == "owner":
            entry.error("an owner is a property", hint="{ owner: <property> }", id=EXPOSITION)
            continue
        if not fits(entry, EXPOSITION_FORM):
            continue
        operation = known_operation(entry, operations, declared, key=True)
        audience, owner = _audience(entry, entity)
        if operation is None or entry.report.errors() > before:
            continue
        if owner is not None and not _owns(entry, operation, owner):
            continue
        found[operation.name] = ExpositionSpec(operation=operation.name, audience=audience, owner=owner)
    return found


def _owns(entry: Place, operation: OperationSpec, owner: str) -> bool:
    """Whether the operation is about an object with an owner; one that creates must take the owner in its input."""
    if operation.scope is Scope.NONE:
        entry.error(f"{a_type(operation.type)} has no object, so nobody owns it", id=EXPOSITION)
        return False
    creates = operation.type is OperationType.TRANSITION and operation.query is QueryRule.ABSENT
    if creates and owner not in (operation.input or {}).get("properties", {}):
        entry.error(
            f"'{operation.name}' does not take '{owner}', which the caller's id is put into",
            hint=f"operations.{operation.name}.input.properties.{owner}",
            id=EXPOSITION,
        )
        return False
    return True


def _audience(entry: Place, entity: EntitySpec | None) -> tuple[str, str | None]:
    if entry.value is None:
        return "permission", None
    if isinstance(entry.value, str):
        return entry.value, None
    fields = Fields(entry, KEYS)
    owner = fields.get("owner")
    if owner is None:
        return fields.text("audience", "permission"), None
    if "audience" in fields:
        fields.entries["audience"].error("an owner is an audience of its own", id=EXPOSITION, key=True)
    properties = {} if entity is None else {"id": entity.id, **entity.properties}
    spec = properties.get(owner.value)
    if spec is None:
        message, hint = unknown("property", owner.value, list(properties))
        owner.error(message, hint=hint, id=EXPOSITION)
    elif spec.type not in _OWNERS:
        owner.error(f"'{owner.value}' is of type {spec.type.value}, which is no one's id", id=EXPOSITION)
    return "owner", str(owner.value)
