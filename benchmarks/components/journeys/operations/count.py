"""One transition."""


async def workflow(input, context):
    await context.remote.components.meters.add({"by": 1}, {"id": input.id})
