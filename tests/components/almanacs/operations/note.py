"""An effect on a schedule; `CALLS` notes each, and `DURING` is run in the middle of one."""

from toa import Error

CALLS = []
DURING = []


def effect(input, context):
    CALLS.append(
        {
            "at": input.at,
            "last": input.last,
            "missed": input.missed,
            "due": context.due,
            "after": context.after(0),
            "key": context.key,
            "now": context.now(),
        }
    )
    if DURING:
        outcome = DURING.pop(0)()
        if outcome == "tired":
            return Error("TIRED")
