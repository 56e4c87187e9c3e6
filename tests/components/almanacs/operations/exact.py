"""An effect that takes the moment and nothing else."""

CALLS = []


def effect(input, context):
    CALLS.append(dict(input))
