from store.lifecycle.types import Context, Entry


def transition(input: None, entry: Entry, context: Context) -> None:
    """Count the reminder, and have the next one follow this one's own moment: the chain does not drift."""
    entry.reminders += 1
    entry.reminder = context.after(context.configuration.every)
