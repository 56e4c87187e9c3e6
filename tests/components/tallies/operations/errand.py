"""An effect that adds to a tally. `DURING` is run in the middle of one; `CALLS` notes how each went on from there."""

from toa import Transient

CALLS = []
DURING = []


def effect(input, context):
    note = {"key": context.key, "now": context.now(), "added": False}
    CALLS.append(note)
    if DURING:
        DURING.pop(0)(context)
    context.local.add({"by": 1}, {"id": input.tally})
    note["added"] = True
    if input.fail >= len(CALLS):
        raise Transient("not yet")
