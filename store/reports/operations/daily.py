from store.reports.calendar import ZONE
from store.reports.types import DailyInput, WorkflowContext
from toa import retry, time


async def workflow(input: DailyInput, context: WorkflowContext) -> None:
    """Report on each day the next morning. Mornings that were missed give one report, for the first of them.

    A report that fails is tried again, at longer and longer intervals, and the mornings after it wait.
    """

    async def deliver(morning: int) -> None:
        await context.local.day({"at": morning})

    async def watch() -> None:
        await time.watch(time.cron(context.configuration.morning, ZONE), deliver, key="mornings")

    await retry.forever(watch)
