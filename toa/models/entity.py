"""`Entity`: the model of a component, whose fields come from the manifest in the same package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.base import ModelBase

from toa.core.criteria import parse_criteria
from toa.core.identity import digest
from toa.core.specs import ComponentSpec, EntitySpec, IndexSpec
from toa.manifests import registry
from toa.models.fields import field_of, key_field, system_field
from toa.models.lookups import to_q
from toa.models.schedule_indexes import schedule_indexes


class EntityMeta(ModelBase):
    """Adds a field for each property of the manifest, and its unique rules and indexes to Meta.

    A name that the class body defines itself is left as it is. A manifest that does not hold adds what could be
    read; the system checks report the rest, so that `import` never fails over it.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], attrs: dict[str, Any], **kwargs: Any) -> Any:
        meta = attrs.get("Meta")
        if getattr(meta, "abstract", False) or not any(isinstance(base, EntityMeta) for base in bases):
            return super().__new__(mcs, name, bases, attrs, **kwargs)
        spec = _component_of(attrs["__module__"])
        if spec is not None and spec.entity is not None:
            for field_name, model_field in _fields(spec.entity).items():
                attrs.setdefault(field_name, model_field)
            attrs["Meta"] = _meta(spec, spec.entity, meta, attrs.get("kept_deadlines", ()))
        attrs["component"] = spec
        return super().__new__(mcs, name, bases, attrs, **kwargs)


class Entity(models.Model, metaclass=EntityMeta):
    """Base of the model of a component with an entity.

    ::

        class Order(Entity):
            \"\"\"An order of the shop.\"\"\"

    The class body may add relations, methods and a Meta. Writing by `save()`, `update()` or SQL is allowed: it raises
    no event and leaves VERSION as it is.
    """

    component: ClassVar[ComponentSpec | None] = None
    kept_deadlines: ClassVar[Sequence[Sequence[str]]] = ()
    """Sets of deadlines of the release before this one, whose index stays for as long as its processes may run."""

    if TYPE_CHECKING:
        objects: ClassVar[models.Manager[Any]]
        operations: ClassVar[Any]
        """`Order.operations.cancel(id, reason="…")`; a subclass may name the `Operations` of its `types.py`."""

        def __getattr__(self, name: str) -> Any:
            """The fields come from a manifest, which no type checker reads."""

    class Meta:
        abstract = True


def _component_of(module: str) -> ComponentSpec | None:
    """The component whose package holds the module: `store.orders` for `store.orders.models.order`."""
    package = module.rpartition(".")[0]
    while package:
        spec = registry.component_of_package(package)
        if spec is not None:
            return spec
        package = package.rpartition(".")[0]
    return None


def _fields(entity: EntitySpec) -> dict[str, models.Field[Any, Any]]:
    fields: dict[str, models.Field[Any, Any]] = {"id": key_field(entity.id)}
    for spec in entity.properties.values():
        if spec.name != "id":
            fields[spec.field] = field_of(spec, entity.blank.get(spec.name))
    for spec in entity.system.values():
        fields[spec.field] = system_field(spec)
    return fields


def _meta(component: ComponentSpec, entity: EntitySpec, declared: type | None, kept: Sequence[Sequence[str]]) -> type:
    options = {k: v for k, v in vars(declared).items() if not k.startswith("__")} if declared else {}
    options["constraints"] = [*options.get("constraints", ()), *_constraints(component, entity)]
    options["indexes"] = [*options.get("indexes", ()), *(_index(component, entity, i) for i in entity.index.values())]
    if component.deadlines:
        options["indexes"] += schedule_indexes(component, entity, kept)
    return type("Meta", (), options)


def _constraints(component: ComponentSpec, entity: EntitySpec) -> list[models.UniqueConstraint]:
    # Tombstones are ignored: a terminated order gives its reference back.
    return [
        models.UniqueConstraint(
            fields=[entity.properties[p].field for p in names],
            condition=Q(**{f"{entity.system['DELETED'].field}__isnull": True}),
            name=f"{component.label}_{name}_unique",
        )
        for name, names in entity.unique.items()
    ]


def _index(component: ComponentSpec, entity: EntitySpec, spec: IndexSpec) -> models.Index:
    known = entity.selectable()
    columns = [("-" if on.startswith("-") else "") + known[on.lstrip("-")].field for on in spec.on]
    condition = to_q(parse_criteria(spec.where, known), entity) if spec.where else None
    return models.Index(fields=columns, condition=condition, name=_index_name(component, spec))


def _index_name(component: ComponentSpec, spec: IndexSpec) -> str:
    # Django allows 30 characters for the name of an index; a digest keeps two long names apart.
    name = f"{component.label}_{spec.name}_idx"
    return name if len(name) <= 30 else f"{name[:21]}_{digest(name)[:8]}"
