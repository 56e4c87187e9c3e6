from store.lifecycle.types import BeginInput, Context, Entry


def transition(input: BeginInput, entry: Entry, context: Context) -> None:
    """Both moments count from when the order was placed, however late this runs."""
    entry.reference = input.reference
    entry.payment_deadline = context.after(context.configuration.payment)
    entry.reminder = context.after(context.configuration.every)
