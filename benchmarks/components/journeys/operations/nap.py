"""One step, and then sleep until a moment."""

from toa import time


async def workflow(input, context):
    await context.local.think({"n": 1})
    await time.sleep_until(input.until)
