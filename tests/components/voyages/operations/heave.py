def transition(input, entry, context):
    context.delay("components.voyages.sail", {"input": {"script": "heaved"}}, interval=input.interval, overdue=None)
