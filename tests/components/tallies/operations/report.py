"""An effect that the tests watch: it notes each of its calls in `CALLS`."""

from toa import Transient

CALLS = []


def effect(input, context):
    CALLS.append({"key": context.key, "due": context.due, "now": context.now()})
    if input.get("fail", 0) >= len(CALLS):
        raise Transient("not yet")
    return {"calls": len(CALLS)}
