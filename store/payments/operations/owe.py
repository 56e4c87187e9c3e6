from store.payments.types import Context, Entry, OweInput


def transition(input: OweInput, entry: Entry, context: Context) -> None:
    """Write down what is owed, and have it paid after this commit. A second time changes nothing."""
    if entry.amount is not None:
        return
    entry.amount = input.amount
    context.send("store.payments.refund", {"input": {"order": entry.id}})
