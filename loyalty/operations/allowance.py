from loyalty.months import current
from loyalty.types import AllowanceOutput, ObservationContext, State


def observation(input: None, entry: State | None, context: ObservationContext) -> AllowanceOutput:
    """The free deliveries of the month it is. Nothing is written: the row is brought up to date when one is used."""
    if entry is None:
        return None
    month, free = current(entry, context.now(), context.configuration)
    return {"month": month, "free": free}
