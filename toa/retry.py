"""Trying again, for workflows: `from toa import retry`.

::

    async def workflow(input, context):
        await retry.forever(lambda: time.watch(time.interval("1m"), deliver))
"""

from toa.workflow.combining import exponential, forever

__all__ = ["exponential", "forever"]
