def created(state, origin):
    return {"query": {"id": state.id}, "input": {"text": f"created {state.name}"}}


def updated(state, origin):
    return {"query": {"id": state.id}, "input": {"text": f"updated {state.count}"}}
