def computation(input, context):
    return input.n
