"""An effect on a pulse; `CALLS` notes each, and `DURING` is run in the middle of one."""

from toa import Error

CALLS = []
DURING = []


def effect(input, context):
    CALLS.append({"due": context.due, "i": input.i, "n": input.n, "key": context.key, "now": context.now()})
    if DURING:
        outcome = DURING.pop(0)()
        if outcome == "tired":
            return Error("TIRED")
