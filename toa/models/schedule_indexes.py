"""The two indexes that are the whole schedule of a component's deadlines.

The name of the first follows from the set of deadlines. A release with another set brings an index of its own, and
leaves the old one to processes of the release before it; see `kept_deadlines` of `Entity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Least

from toa.core.deadlines import stored_in
from toa.core.identity import digest
from toa.core.specs import ComponentSpec, EntitySpec


def moments(component: ComponentSpec) -> list[str]:
    """The properties whose least value is an instance's next moment, in an order that never changes by itself."""
    return moments_of(component.deadlines)


def moments_of(deadlines: Iterable[str]) -> list[str]:
    """The same of a set of deadlines by name."""
    return [*sorted(name for name in deadlines if stored_in(name) == name), "TIMEOUT"]


def due_index_name(component: ComponentSpec, deadlines: Iterable[str] | None = None) -> str:
    """Of the index that finds what is due of a set of deadlines; of those of the manifest where none is given."""
    names = moments_of(component.deadlines if deadlines is None else deadlines)
    return f"{component.label[:15]}_due_{digest(component.label, names)[:8]}"


def held_index_name(component: ComponentSpec) -> str:
    """Of the index that brings back what is held."""
    return f"{component.label[:15]}_held_{digest(component.label)[:8]}"


def schedule_indexes(
    component: ComponentSpec, entity: EntitySpec, kept: Sequence[Sequence[str]] = ()
) -> list[models.Index]:
    """One entry for an instance at its earliest pending deadline, and one while it is held until a moment.

    `kept` are sets of deadlines of earlier releases, each with an index of its own. A set that names something the
    entity does not have is left out: the checks report it.
    """
    known = entity.selectable()
    field = {name: spec.field for name, spec in known.items()}
    sets = [list(component.deadlines)]
    sets += [list(names) for names in kept if moments_of(names) != moments(component)]
    return [
        *(_due_index(component, names, field) for names in sets if set(moments_of(names)) <= known.keys()),
        models.Index(
            fields=[field["HELD"], "id"],
            condition=Q(**{f"{field['HELD']}__isnull": False}),
            name=held_index_name(component),
        ),
    ]


def _due_index(component: ComponentSpec, deadlines: Iterable[str], field: dict[str, str]) -> models.Index:
    running = Q(**{f"{field[name]}__isnull": True for name in ("STATE", "HELD", "DELETED")})
    # LEAST ignores nulls: the earliest of those that are set. TIMEOUT makes it two expressions at the least.
    least: Any = Least(*(F(field[name]) for name in moments_of(deadlines)))
    return models.Index(least, F("id"), condition=running, name=due_index_name(component, deadlines))
