from typing import Any

from store.reports.calendar import day_before
from store.reports.figures import report
from store.reports.types import DayInput, EffectContext


def effect(input: DayInput, context: EffectContext) -> dict[str, Any]:
    """Report on the day before `at`, the moment the report was due, however late it is made.

    A second report on the same day, after a crash or by hand, takes the place of the first.
    """
    return report(context, *day_before(input.at))
