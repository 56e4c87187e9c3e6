def created(state, origin):
    return {"query": {"id": state.id}, "input": {"line": f"{state.VERSION} created"}}


def filled(state, origin):
    return {"query": {"id": state.id}, "input": {"line": f"{state.VERSION} filled"}}


def updated(state, origin):
    return {"query": {"id": state.id}, "input": {"line": f"{state.VERSION} updated to {state.count}"}}


def tells(state, origin):
    return state.mode == "tell"


def struck(state, origin):
    return {"query": {"id": state.id}, "input": {"line": f"{state.VERSION} struck {state.count}"}}
