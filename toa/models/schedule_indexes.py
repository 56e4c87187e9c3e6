"""The two indexes that are the whole schedule of a component's deadlines."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Least

from toa.core.deadlines import stored_in
from toa.core.identity import digest
from toa.core.specs import ComponentSpec, EntitySpec


def moments(component: ComponentSpec) -> list[str]:
    """The properties whose least value is an instance's next moment, in an order that never changes by itself."""
    return [*sorted(name for name in component.deadlines if stored_in(name) == name), "TIMEOUT"]


def due_index_name(component: ComponentSpec) -> str:
    """Follows from the deadlines: another set of them is another index, so that two releases each have theirs."""
    return f"{component.label[:15]}_due_{digest(component.label, moments(component))[:8]}"


def held_index_name(component: ComponentSpec) -> str:
    return f"{component.label[:15]}_held_{digest(component.label)[:8]}"


def schedule_indexes(component: ComponentSpec, entity: EntitySpec) -> list[models.Index]:
    """One entry for an instance at its earliest pending deadline, and one while it is held until a moment."""
    known = entity.selectable()
    field = {name: known[name].field for name in (*moments(component), "STATE", "HELD", "DELETED")}
    running = Q(**{f"{field[name]}__isnull": True for name in ("STATE", "HELD", "DELETED")})
    # LEAST ignores nulls: the earliest of those that are set. TIMEOUT makes it two expressions at the least.
    least: Any = Least(*(F(field[name]) for name in moments(component)))
    return [
        models.Index(least, F("id"), condition=running, name=due_index_name(component)),
        models.Index(
            fields=[field["HELD"], "id"],
            condition=Q(**{f"{field['HELD']}__isnull": False}),
            name=held_index_name(component),
        ),
    ]
