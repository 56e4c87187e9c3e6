def observation(input, entries, context):
    return {"count": sum((desk.rank or 0) > input.above for desk in entries)}
