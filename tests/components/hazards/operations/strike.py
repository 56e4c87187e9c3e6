from tests.components.hazards.behaviour import behave


def transition(input, entry, context):
    behave(entry.mode, context.key)
    if entry.mode in ("arm", "name"):
        request = {"query": {"id": entry.id}, "input": {}}
        key = "again" if entry.mode == "name" else None
        context.delay("components.hazards.touch", request, interval="1h", overdue=None, key=key)
    if entry.mode == "label":
        entry.label = "taken"
    entry.count += 1
    entry.moment = None
