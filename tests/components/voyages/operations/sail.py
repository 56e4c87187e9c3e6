"""Does what the test says: `SCRIPTS` maps the name in the input to an async function."""

SCRIPTS = {}


async def workflow(input, context):
    return await SCRIPTS[input.script](input, context)
