"""What `add` does, and delays that do it again in an hour: one, or many."""


def transition(input, entry, context):
    entry.count += input.by
    request = {"query": {"id": entry.id}, "input": {"by": input.by}}
    for _ in range(input.get("many", 1)):
        context.delay("components.meters.add", request, interval="1h", overdue=None, key=input.get("key"))
