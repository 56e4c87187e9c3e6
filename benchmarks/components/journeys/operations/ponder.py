"""So many steps that do nothing, and then a day's sleep; one alone ends at once."""

from toa import time


async def workflow(input, context):
    for number in range(input.n):
        await context.local.think({"n": number})
    if input.n > 1:
        await time.sleep("1d")
