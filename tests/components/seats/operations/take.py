"""Notes a mark, and does what `mode` says once the draft is changed."""

import time

from toa import Error, Transient


def transition(input, entry, context):
    entry.count += 1
    entry.marks.append(input.get("mark"))
    if "label" in input:
        entry.label = input.label
    if "tally" in input:
        entry.tally = input.tally
    if "arm" in input:
        request = {"query": {"id": entry.id}, "input": {"mark": 1000 + input.get("mark", 0)}}
        context.delay("components.seats.take", request, interval="1h", overdue=None, key=input.arm)
    match input.get("mode"):
        case "raise":
            raise ValueError("not this one")
        case "transient":
            raise Transient("not yet")
        case "unfit":
            entry.count = "many"
        case "error":
            raise Error("TAKEN")
        case "slow":
            began = time.perf_counter()
            while time.perf_counter() - began < 0.005:
                pass
        case "hang":
            while True:
                pass
