from store.vouchers.types import Context, CreateInput, CreateOutput, Entry


def transition(input: CreateInput, entry: Entry, context: Context) -> CreateOutput:
    """Issue a voucher; replies with its id."""
    entry.discount = input.discount
    entry.left = input.left
    entry.expires = input.expires
    return {"id": entry.id}
