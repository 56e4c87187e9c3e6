def created(state, origin):
    return {"query": {"id": state.id}}
