"""The properties that toa keeps for every entity beside those of its manifest."""

from __future__ import annotations

from dataclasses import replace

from toa.core.specs import PropertySpec, PropertyType
from toa.manifests.properties import moment_property


def system_properties(timed: bool) -> dict[str, PropertySpec]:
    """The properties that toa keeps for every entity, and the four more of one with deadlines."""
    version = {"type": "integer", "minimum": 0}
    system = {
        "CREATED": moment_property("CREATED", system=True, field="created_at"),
        "UPDATED": moment_property("UPDATED", system=True, field="updated_at"),
        "DELETED": moment_property("DELETED", system=True, field="deleted_at"),
        "VERSION": PropertySpec(
            name="VERSION",
            type=PropertyType.INTEGER,
            schema=version,
            nullable=False,
            system=True,
            field="version",
            attname="version",
        ),
    }
    for name in ("CREATED", "UPDATED"):
        system[name] = replace(system[name], nullable=False)
    if timed:
        states = ("failed", "draining", "discarded", "closed")
        system |= {
            "TIMEOUT": moment_property("TIMEOUT", system=True, field="timeout_at"),
            "STATE": PropertySpec(
                name="STATE",
                type=PropertyType.STRING,
                schema={"type": "string", "enum": list(states)},
                system=True,
                field="clock_state",
                attname="clock_state",
                enum=states,
            ),
            "HELD": moment_property("HELD", system=True, field="held_at"),
            "CLOCK": PropertySpec(
                name="CLOCK",
                type=PropertyType.OBJECT,
                schema={"type": "object"},
                system=True,
                field="clock",
                attname="clock",
            ),
        }
    return system
