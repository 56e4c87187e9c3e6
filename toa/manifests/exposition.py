"""The `exposition` of a manifest: which operations HTTP may call, and who."""

from __future__ import annotations

from collections.abc import Mapping

from toa.core.specs import EntitySpec, ExpositionSpec, OperationSpec, OperationType, PropertyType
from toa.manifests.fields import Fields, fits, meant
from toa.manifests.keys import EXPOSITION as KEYS
from toa.manifests.keys import EXPOSITION_FORM
from toa.manifests.names import unknown
from toa.manifests.place import Place
from toa.manifests.problems import EXPOSITION, WRONG_VALUE
from toa.manifests.receivers import known_operation

_AUDIENCES = KEYS["audience"].values
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
        if not fits(entry, EXPOSITION_FORM):
            continue
        operation = known_operation(entry, operations, declared, key=True)
        audience, owner = _audience(entry, entity)
        if operation is None or entry.report.errors() > before:
            continue
        if operation.type is OperationType.WORKFLOW and owner is not None:
            entry.error("a workflow has no object to own", id=EXPOSITION)
            continue
        found[operation.name] = ExpositionSpec(operation=operation.name, audience=audience, owner=owner)
    return found


def _audience(entry: Place, entity: EntitySpec | None) -> tuple[str, str | None]:
    if entry.value is None:
        return "permission", None
    if isinstance(entry.value, str):
        if entry.value not in _AUDIENCES:
            hint = "{ owner: <property> }" if entry.value == "owner" else meant(entry.value, _AUDIENCES)
            entry.error(f"'{entry.value}' is none of {', '.join(_AUDIENCES)}", hint=hint, id=WRONG_VALUE)
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
