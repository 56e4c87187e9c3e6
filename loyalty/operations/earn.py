from loyalty.types import Context, EarnInput, Entry


def transition(input: EarnInput, entry: Entry, context: Context) -> None:
    """Add a point for each whole unit of money, and raise the tier where they reach it."""
    entry.points += int(input.total)
    configuration = context.configuration
    if entry.points >= configuration.gold:
        entry.tier = "gold"
    elif entry.points >= configuration.silver:
        entry.tier = "silver"
