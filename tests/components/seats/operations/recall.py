"""Takes a delay back in the transition that notes the mark."""


def transition(input, entry, context):
    entry.marks.append(input.get("mark"))
    context.delay.cancel(input.delay)
