def transition(input, entry, context):
    entry.log.append("timeout")
    if entry.mode == "sends":
        context.send("components.tallies.add", {"query": {"id": entry.id}, "input": {"by": 1}})
