def computation(input, context):
    return 2 * input.n
