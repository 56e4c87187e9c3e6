"""The models behind the components: whether they are there, and what beside toa counts on their signals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import ReferenceType

from django.apps import AppConfig, apps
from django.core import checks
from django.db.models import F, Model
from django.db.models.signals import ModelSignal, post_save, pre_save

from toa.checks.ids import DEADLINE_INDEX, KEPT_DEADLINES, NO_MODEL, SIGNAL
from toa.core.specs import ComponentSpec, PropertyType
from toa.manifests import registry
from toa.models import Entity
from toa.models.schedule_indexes import moments_of
from toa.runtime.bindings import model_of

_SIGNALS = {"pre_save": pre_save, "post_save": post_save}


def check_models(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Components with an entity whose model is missing, or has no index for its deadlines."""
    return [message for spec in registry.all().values() if spec.entity is not None for message in _model(spec)]


def check_signals(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Receivers of `pre_save` and `post_save` of an entity: operations write rows without sending them."""
    return [
        checks.Warning(
            f"{_name(receiver)} receives {signal} of {model._meta.label}, which operations do not send",
            hint="receive the component's event instead: `receivers:` in a manifest",
            obj=model,
            id=SIGNAL,
        )
        for model in apps.get_models()
        if issubclass(model, Entity)
        for signal, sender in _SIGNALS.items()
        for receiver in _receivers(sender, model)
    ]


def _model(spec: ComponentSpec) -> Iterator[checks.CheckMessage]:
    try:
        model = model_of(spec)
    except LookupError:
        name = spec.name.title().replace("_", "")
        yield checks.Error(
            f"{spec.locator} has an entity and no model",
            hint=f"in {spec.package.replace('.', '/')}/models.py: class {name}(Entity)",
            obj=spec.path,
            id=NO_MODEL,
        )
        return
    assert spec.entity is not None
    columns = {one.field for one in spec.entity.properties.values() if one.deadline}
    if "timeout" in spec.deadlines:
        columns.add(spec.entity.system["TIMEOUT"].field)
    if columns and not any(columns <= names for names in _indexed(model)):
        yield checks.Error(
            f"no index of {model._meta.label} holds {', '.join(sorted(columns))} together: each look reads the table",
            hint="manage.py makemigrations, then migrate",
            obj=spec.path,
            id=DEADLINE_INDEX,
        )

    known = spec.entity.selectable()
    for names in model.kept_deadlines:
        wrong = sorted(n for n in moments_of(names) if n not in known or known[n].type is not PropertyType.MOMENT)
        if wrong:
            yield checks.Error(
                f"kept_deadlines of {model._meta.label} names {', '.join(wrong)}, which is no moment of it",
                hint="take the set out once its release is gone, or keep the property for as long",
                obj=spec.path,
                id=KEPT_DEADLINES,
            )


def _indexed(model: type[Model]) -> Iterator[set[str]]:
    """The fields that each index of a model is made of."""
    for index in model._meta.indexes:
        names = {name for name, _ in index.fields_orders}
        for expression in index.expressions:
            parts = [expression] if isinstance(expression, F) else expression.flatten()
            names |= {part.name for part in parts if isinstance(part, F)}  # type: ignore[attr-defined]
        yield names


def _receivers(signal: ModelSignal, model: type[Model]) -> Iterator[Any]:
    """The receivers that were connected for that model itself; those of every model know what they do."""
    for (_, sender), receiver, *_rest in signal.receivers:
        if sender == id(model):
            found = receiver() if isinstance(receiver, ReferenceType) else receiver
            if found is not None:
                yield found


def _name(receiver: Any) -> str:
    module, name = getattr(receiver, "__module__", ""), getattr(receiver, "__qualname__", type(receiver).__name__)
    return f"{module}.{name}".lstrip(".")
