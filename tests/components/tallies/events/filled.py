def condition(state, origin):
    return state.count >= 10 and (origin is None or origin.count < 10)
