from loyalty.types import Context, Entry, JoinInput
from toa import Error


def transition(input: JoinInput, entry: Entry, context: Context) -> Error | None:
    """Note the address, and have the welcome begin with this commit: nobody joins without it, nobody gets it twice."""
    if entry.email is not None:
        return Error("MEMBER")
    entry.email = input.email
    context.send("loyalty.welcome", {"input": {"customer": entry.id}})
    return None
