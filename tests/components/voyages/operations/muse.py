def computation(input, context):
    return {"of": input.get("value")}
