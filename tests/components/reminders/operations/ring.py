from toa import next_occurrence


def transition(input, entry, context):
    entry.rang.append(context.due)
    entry.ring_at = next_occurrence(entry.expression, entry.zone, after=context.due)
