def condition(state, origin):
    return bool(state.log) and state.log[-1] == "landfall" and (origin is None or origin.log != state.log)
