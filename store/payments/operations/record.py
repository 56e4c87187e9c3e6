from store.payments.types import Context, Entry, RecordInput
from toa import Error


def transition(input: RecordInput, entry: Entry, context: Context) -> Error | None:
    """Keep the provider's name for the refund. Another name than before would mean that it paid twice."""
    if entry.amount is None:
        return Error("NOT_OWED")
    if entry.reference is not None and entry.reference != input.reference:
        return Error("RECORDED", reference=entry.reference)
    entry.reference = input.reference
    return None
