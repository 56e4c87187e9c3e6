"""Cancels a delay, or moves it, in the transition that changes the row."""


def transition(input, entry, context):
    entry.count += 1
    if "at" in input:
        context.delay.move(input.delay, at=input.at)
    else:
        context.delay.cancel(input.delay)
