from toa import time


async def workflow(input, context):
    await time.sleep(input.seconds * 1000)
