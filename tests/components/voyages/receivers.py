def landed(state, origin):
    return {"input": {"script": "landed", "voyage": state.id}}
