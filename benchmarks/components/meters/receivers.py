def counted(state, origin):
    return {"query": {"id": state.id}, "input": {"by": 1}}
