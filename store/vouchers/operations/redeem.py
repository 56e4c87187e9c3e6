from store.vouchers.types import Context, Entry, RedeemOutput
from toa import Error


def transition(input: None, entry: Entry, context: Context) -> RedeemOutput | Error:
    """Use the voucher once. Expiry is compared when it is used: nothing has to run at that moment."""
    if entry.expires < context.now():
        return Error("EXPIRED", expires=entry.expires)
    if entry.left < 1:
        return Error("EXHAUSTED")
    entry.left -= 1
    return {"discount": entry.discount}
