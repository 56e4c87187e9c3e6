"""Books a courier outside, once for each order. The tests put into `DURING` what happens while the lock is held."""

BOOKED = []
DURING = []


def effect(input, context):
    with context.lock(f"courier-{input.order}", wait=input.wait) as lock:
        if input.order in BOOKED:
            return {"booked": False}
        if DURING:
            DURING.pop(0)(lock)
        BOOKED.append(input.order)
    return {"booked": True}
