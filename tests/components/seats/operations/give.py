"""Notes a mark at once."""


def transition(input, entry, context):
    entry.marks.append(input.mark)
