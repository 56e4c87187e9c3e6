"""An effect that does something outside, and then calls back in."""

from tests.components.hazards.behaviour import behave


def effect(input, context):
    behave(input.get("mode"), context.key)
    context.local.touch({}, {"id": input.id})
