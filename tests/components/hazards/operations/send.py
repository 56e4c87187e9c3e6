def transition(input, entry, context):
    entry.count += 1
    context.send("components.hazards.touch", {"query": {"id": input.to}, "input": {}})
