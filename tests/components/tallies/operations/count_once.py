def transition(input, entry, context):
    entry.count += context.configuration.step
