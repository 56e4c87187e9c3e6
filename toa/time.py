"""Time for workflows: `from toa import time`.

::

    async def workflow(input, context):
        await time.sleep("3d")
        await time.watch(time.cron("0 9 * * *", "Asia/Tokyo"), deliver)
"""

from toa.workflow.combining import now, sleep, sleep_until, watch, with_deadline
from toa.workflow.rhythms import cron, interval

__all__ = ["cron", "interval", "now", "sleep", "sleep_until", "watch", "with_deadline"]
