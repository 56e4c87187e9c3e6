def transition(input, entry, context):
    for name in input:
        entry[name] = input[name]
