"""A workflow for pulses: it does what `SCRIPT` holds."""

SCRIPT = []


async def workflow(input, context):
    for script in SCRIPT:
        await script(input, context)
