from tests.components.hazards.behaviour import behave


def transition(input, entry, context):
    behave(entry.mode, context.key)
    entry.count += 1
    entry.moment = None
