"""The types of an entity's rows: the draft that a function changes, the state that is read, a changeset."""

from __future__ import annotations

from toa.core.specs import EntitySpec, PropertySpec, PropertyType
from toa.manifests.types.annotations import Stored
from toa.manifests.types.source import Module, camel, union

_TEXTS = frozenset(
    {PropertyType.UUID, PropertyType.DATE, PropertyType.DATETIME, PropertyType.EMAIL, PropertyType.STRING}
)


def write_entity(module: Module, entity: EntitySpec) -> None:
    """Define `Entry`, `State`, `States` and `Changeset`."""
    kinds = {name: _annotation(module, spec) for name, spec in entity.selectable().items()}
    own = [name for name in entity.properties if name != "id"]
    module.use("typing", "Protocol", "TypedDict")
    module.use("toa.typing", "Draft", "Item")
    drafted = [module.attribute(name, kinds[name]) for name in own]
    kept = [module.readable(name, kinds[name]) for name in ("id", *entity.system)]
    doc = "The draft of a row: what differs at the end is what commits."
    module.define("Entry", ["Draft", "Protocol"], doc, [*drafted, *kept])
    read = [module.attribute(name, kinds[name]) for name in ("id", *own, *entity.system)]
    module.define("State", ["Item", "Protocol"], "A row as it is read.", read)
    # By a name of its own: an operation may be called `list`.
    module.taken.discard("States")
    module.alias("States", "list[State]")
    module.define("Changeset", ["TypedDict", "total=False"], "What an assignment writes.", drafted)


def id_annotation(module: Module, entity: EntitySpec) -> str:
    """What an object of the component is named by in Python."""
    return _bare(module, entity.id)


def _annotation(module: Module, spec: PropertySpec) -> str:
    kind = _bare(module, spec)
    return union([kind, "None"]) if spec.nullable else kind


def _bare(module: Module, spec: PropertySpec) -> str:
    if spec.type is PropertyType.DECIMAL:
        module.use("decimal", "Decimal")
        return "Decimal"
    if spec.type is PropertyType.MOMENT:
        return "int"
    if spec.type in _TEXTS:
        return "str" if spec.enum is None else module.literal(spec.enum, f"Entry{camel(spec.name)}")
    return Stored(module).of(spec.schema, f"Entry{camel(spec.name)}")
