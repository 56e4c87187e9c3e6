"""The `events` of a manifest, joined with the files under `events/` and with the inherited ones."""

from __future__ import annotations

from toa.core.specs import EventSpec
from toa.manifests.contracts import read_schema
from toa.manifests.fields import Fields
from toa.manifests.keys import EVENT as KEYS
from toa.manifests.names import check_name
from toa.manifests.place import Place
from toa.manifests.problems import EVENT, UNCONDITIONAL_EVENT
from toa.manifests.sources import Sources

INHERITED = ("created", "updated", "deleted")


def read_events(place: Place, sources: Sources, package: str, stateless: bool) -> dict[str, EventSpec]:
    """All events of the component by name, the inherited ones first."""
    found = {} if stateless else {name: EventSpec(name=name, inherited=True) for name in INHERITED}
    declared = {entry.name: entry for entry in place.entries() if check_name(entry)}
    for name in [*sources.events, *(name for name in declared if name not in sources.events)]:
        entry = declared.get(name, Place(place.report, (*place.path, name)))
        if stateless:
            entry.error("an event is a change of a row, and the component has no entity", id=EVENT, key=True)
            continue
        fields = Fields(entry, KEYS)
        functions = sources.events.get(name, frozenset())
        if name not in INHERITED and "condition" not in functions:
            entry.warning(
                f"'{name}' is raised by every commit",
                hint=f"write condition(state, origin) in events/{name}.py",
                id=UNCONDITIONAL_EVENT,
                key=True,
            )
        payload = fields.get("payload")
        found[name] = EventSpec(
            name=name,
            description=fields.text("description"),
            payload=None if payload is None else read_schema(payload),
            module=f"{package}.events.{name}" if name in sources.events else None,
            inherited=name in INHERITED,
        )
    return found
