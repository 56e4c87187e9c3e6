from toa import Error


def transition(input, entry, context):
    entry.count += 1
    identity = context.delay(
        "components.tallies.add",
        {"query": {"id": entry.id}, "input": {"by": input.by}},
        interval=input.interval,
        overdue=input.get("overdue"),
        key=input.get("key"),
    )
    if input.outcome == "error":
        raise Error("NEVER")
    if input.outcome == "raise":
        raise RuntimeError("after arming")
    return {"delay": identity}
