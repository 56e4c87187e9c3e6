from toa import Error, Transient


def effect(input, context):
    """Go wrong in the way that is asked for."""
    match input.over:
        case "error":
            return Error("DECLARED", depth=3)
        case "undeclared":
            return Error("UNDECLARED")
        case "exception":
            raise RuntimeError("the password is hunter2")
        case "transient":
            raise Transient("away")
        case "unfit":
            context.local.double({"n": "two"})
        case "no json":
            return {"when": object()}
    return None
