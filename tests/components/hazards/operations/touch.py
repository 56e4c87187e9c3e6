from tests.components.hazards.behaviour import behave


def transition(input, entry, context):
    behave(input.get("mode"), context.key)
    entry.count += 1
