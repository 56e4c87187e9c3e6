"""An effect that each process calls by itself; `CALLS` notes each, and `DURING` is run in the middle of one."""

CALLS = []
DURING = []


def effect(input, context):
    CALLS.append({"due": context.due, "i": input.i, "n": input.n, "key": context.key, "now": context.now()})
    if DURING:
        DURING.pop(0)()
