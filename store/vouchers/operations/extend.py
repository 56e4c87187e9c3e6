from store.vouchers.types import Context, Entry, ExtendInput
from toa import Error


def transition(input: ExtendInput, entry: Entry, context: Context) -> Error | None:
    """Move the expiry later. There is no timer to move with it."""
    if input.expires <= entry.expires:
        return Error("NOT_LATER", expires=entry.expires)
    entry.expires = input.expires
    return None
